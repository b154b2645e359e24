"""Betweenness centrality (Freeman 1977) by Brandes' algorithm (J. Math. Sociology 25, 2001).

The benchmark of Chapman, Hussein and Hosking, X10 on the Single-Chip Cloud Computer (2011): every place holds
the graph and takes a share of the sources; sums are added up at the end. Graphs that are too large for
that stay in their clusters: see `dgsuite.kernels.analytics.betweenness_rounds`.

Betweenness centrality of edges (Girvan and Newman 2002) by the same searches, whose dependencies are summed
up for each edge (U. Brandes, On variants of shortest-path betweenness centrality, Social Networks 30, 2008,
section 3.5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.analytics import replicated
from dgsuite.kernels.analytics.betweenness_rounds import Partitioned, State, centrality
from dgsuite.kernels.tools import sources
from dgsuite.kernels.tools.exact import Sums, added


@dataclass(frozen=True)
class Brandes(Partitioned):
    """Searches from sources, and sums of their dependencies, where the graph is replicated or partitioned."""

    graph_form: Literal["replicated", "partitioned"] = "replicated"

    obeys = bsp.Model("clusters", None, "control")
    fields = {
        **dict.fromkeys(("degree", "end"), np.uint32),
        **dict.fromkeys(("whole", "part", "key", "other"), np.int64),
        **dict.fromkeys(("weight", "reach", "paths"), np.float64),
    }
    allowed = {"batch": (1, np.inf)}
    notes = {"scanned": "edges that searches looked at"}
    undirected = False

    def check(self, c: bsp.Cluster) -> str | None:
        if self.weighted and c.weights is not None and not (c.weights > 0).all():
            entry = int(np.argmin(c.weights > 0))
            row = int(np.searchsorted(c.indptr, entry, side="right")) - 1
            return (
                f"weights must be above 0, got {c.weights[entry]} "
                f"from node {c.ids[row]} to node {c.indices[entry]}"
            )
        return super().check(c) or sources.wrong(self.sources, c.n)

    def dealt(self, degree: NDArray, place: int, places: int) -> NDArray[np.int64]:
        """A place's share of the sources: by default cyclically, those with most out-edges first.

        Parameters
        ----------
        degree
            Out-edges of each source, in the order of `chosen`.

        Returns
        -------
        Indices into `chosen`.
        """
        return replicated.falling(degree)[place::places]

    def introduce(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Announcement:
        return bsp.announce(np.arange(c.size), degree=c.degree)

    def share(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Announcement:
        s.indptr = replicated.pointers(inbox.board("degree"))
        return bsp.announce(np.arange(c.size), **replicated.edges_of(c, bool(self.weighted)))

    def search(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Sent:
        names = ("end", "weight") if self.weighted else ("end",)
        graph = replicated.adjacency(c, s.indptr, {name: inbox.board(name) for name in names})
        sources = c.partition.position(self.chosen(c.n))
        mine = sources[self.dealt(graph.degree[sources], c.index, c.partition.clusters)]
        search = replicated.Searcher(graph, bool(self.weighted), self.by_edge)
        scanned = search(mine)
        ends = c.partition.offsets
        if self.by_edge:
            ends = s.indptr[ends].astype(np.int64)
        owner = np.repeat(np.arange(c.partition.clusters), np.diff(ends))
        return bsp.ship(owner, **search.sums._asdict()), bsp.Note({"scanned": scanned})

    def collect(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        columns = (inbox.shipped(name).reshape(c.partition.clusters, -1) for name in Sums._fields)
        s.sums = added(Sums(*pair) for pair in zip(*columns, strict=True))


@dataclass(eq=False)
class Through(State):
    """What a cluster knows, and how many paths lead through its nodes."""

    betweenness: NDArray[np.float64] = bsp.per_node(0.0)
    source: NDArray[np.bool_] = bsp.per_node(False)  # whether paths start at the node


@dataclass(frozen=True)
class Betweenness(Brandes):
    """Betweenness centrality, of directed and undirected graphs.

    Outputs ``betweenness``: of each node the sum, over pairs of others, of the share of shortest paths that
    lead through it. Not normalised; ends do not count. On an undirected graph a pair counts
    once; with `sources`, half for each of its two nodes that is a source.

    Parameters
    ----------
    weighted
        Whether weights, above 0, are lengths; edges are 1 long without. By default where the graph has
        weights. Paths are equally long where sums of their lengths from the source are equal as
        float64; where an edge makes a path no longer, as 1 after 1e20, that is an error, and so are
        distances that are too large for a float64, or whole numbers from 2^53 on.
    sources
        Nodes that paths start from: a list, or how many to draw; by default all. With some of the nodes of
        an undirected graph a path counts half for each end that is a source, as in networkx's
        `betweenness_centrality_subset`.
    deal
        Which cluster takes which sources, replicated: "block" (the original's) or "cyclic" (by falling
        out-degree).
    graph_form
        "replicated" (every cluster holds the graph) or "partitioned" (its own nodes alone).
    batch
        Sources that are searched from side by side when partitioned; by default so many that a
        cluster has a million cells at most, and one source.

    Notes
    -----
    Rounds: 1 where the graph is replicated; partitioned, two for each level of each batch of searches. With
    weights, rounds that find the distances come first, and level k has the nodes whose shortest paths have k
    edges.

    Messages: where the graph is replicated, 2 n (n - 1) that hand it round and n from each cluster;
    partitioned, a few along each edge between clusters for each source. They depend on the clusters,
    since a cluster adds up what it sends to another.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("bc", graph).betweenness.values
    array([0., 0., 2., 0.])
    """

    deal: Literal["block", "cyclic"] = "block"

    name = "bc"
    outputs = {
        "betweenness": bsp.Output("betweenness centrality"),
        "source": bsp.Output("whether paths start here"),
    }

    def dealt(self, degree: NDArray, place: int, places: int) -> NDArray[np.int64]:
        """A place's share of the sources."""
        if self.deal == "block":
            count = len(degree)
            size = count // places
            return np.arange(place * size, count if place == places - 1 else (place + 1) * size)
        return super().dealt(degree, place, places)

    def program(self, net: bsp.Net) -> bsp.Program:
        if self.graph_form == "partitioned":
            yield from self.in_rounds(net)
            yield bsp.Round(self.finish, closing=True)
        else:
            yield bsp.Round(self.introduce, self.share, self.search, self.collect)

    def start(self, c: bsp.Cluster) -> Through:
        return Through.of(c, source=np.isin(c.ids, self.chosen(c.n)))

    def collect(self, c: bsp.Cluster, s: Through, inbox: bsp.Inbox) -> None:  # type: ignore[override]
        super().collect(c, s, inbox)
        self.finish(c, s, inbox)

    def finish(self, c: bsp.Cluster, s: Through, inbox: bsp.Inbox) -> None:
        s.betweenness = centrality(s.sums, c.directed)


@dataclass(eq=False)
class Over(State):
    """What a cluster knows, and how many paths lead over the edges that its nodes are sources of."""

    start: NDArray[np.bool_] = bsp.per_node(False)  # whether paths start at the node
    source: bsp.NodeIds = bsp.later()
    target: bsp.NodeIds = bsp.later()
    betweenness: NDArray[np.float64] = bsp.later()


class EdgeBetweenness(Brandes):
    """Betweenness centrality of edges, of directed and undirected graphs.

    Outputs ``source``, ``target`` and ``betweenness``, a table with a row for each edge, ascending; of an
    undirected edge the source is the smaller node. The betweenness is the sum, over pairs of nodes, of the
    share of shortest paths that lead over the edge. Not normalised; on an undirected graph a pair counts
    once. Output ``start`` says of each node whether paths start there.

    Parameters
    ----------
    weighted
        Whether weights, above 0, are lengths; as in `bc`.
    sources
        Nodes that paths start from: a list, or how many to draw; by default all. With some of the nodes of
        an undirected graph a path counts half for each of its ends that is one.
    graph_form
        "replicated" (every cluster holds the graph) or "partitioned" (its own nodes alone).
    batch
        Sources that are searched from side by side when partitioned; as in `bc`.

    Notes
    -----
    Rounds: 1 where the graph is replicated; partitioned, two for each level of each batch of searches. With
    weights, rounds that find the distances come first, and level k has the nodes whose shortest paths have k
    edges.

    Messages: where the graph is replicated, 2 n (n - 1) that hand it round and a sum for each edge from each
    cluster; partitioned, a few along each edge between clusters for each source; then m on an undirected
    graph. They depend on the clusters, since a cluster adds up what it sends to another.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> print(dgsuite.to_dataframe(dgsuite.run("edge_betweenness", graph)).compute())
       source  target  betweenness
    0       0       1          1.0
    1       0       2          2.0
    2       1       2          2.0
    3       2       3          3.0
    """

    name = "edge_betweenness"
    outputs = {
        "source": bsp.Output("node that the edge leaves", dims=("pair",), nodes=True),
        "target": bsp.Output("node that the edge leads to", dims=("pair",), nodes=True),
        "betweenness": bsp.Output("betweenness centrality of the edge", dims=("pair",)),
        "start": bsp.Output("whether paths start here"),
    }
    numbered = ("pair",)
    by_edge = True

    def program(self, net: bsp.Net) -> bsp.Program:
        if self.graph_form == "partitioned":
            yield from self.in_rounds(net)
        else:
            yield bsp.Round(self.introduce, self.share, self.search, self.collect)
        yield bsp.Round(self.give, self.add, closing=True)

    def start(self, c: bsp.Cluster) -> Over:
        return Over.of(c, start=np.isin(c.ids, self.chosen(c.n)))

    def give(self, c: bsp.Cluster, s: Over, inbox: bsp.Inbox) -> bsp.Unicast | None:
        """What was found of undirected edges from their larger ends goes to the smaller ones."""
        if c.directed:
            return None
        back, row = self._larger(c)
        whole, part = (values[back] for values in s.sums)
        return bsp.unicast(c.indices[back], row[back], whole=whole, part=part)

    def add(self, c: bsp.Cluster, s: Over, inbox: bsp.Inbox) -> None:
        back, row = self._larger(c)
        kind = bsp.node_dtype(c)
        s.source, s.target = c.ids[row[~back]].astype(kind), c.indices[~back].astype(kind)
        sums = Sums(*(values[~back] for values in s.sums))
        if not c.directed:
            sums = added([sums, Sums(inbox["whole"], inbox["part"])])
        s.betweenness = centrality(sums, c.directed)

    def _larger(self, c: bsp.Cluster) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Of each entry, whether its row is the larger end of an undirected edge; and its row."""
        row = np.repeat(np.arange(c.size), c.degree)
        return (c.ids[row] > c.indices) & (not c.directed), row
