"""Betweenness centrality of edges (Girvan and Newman 2002) by Brandes' algorithm (U. Brandes, On variants of
shortest-path betweenness centrality, Social Networks 30, 2008, section 3.5).

The searches are those of `dgsuite.kernels.analytics.betweenness`; what they find is summed up for each edge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.betweenness import Brandes
from dgsuite.kernels.analytics.betweenness_rounds import State, centrality
from dgsuite.kernels.tools.exact import Sums, added


@dataclass(eq=False)
class Over(State):
    """What a cluster knows, and how many paths lead over the edges that its nodes are sources of."""

    start: NDArray[np.bool_] = bsp.per_node(False)  # whether paths start at the node
    source: bsp.NodeIds = bsp.later()
    target: bsp.NodeIds = bsp.later()
    betweenness: NDArray[np.float64] = bsp.later()


@dataclass(frozen=True)
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
        return Over.of(c, start=self._starts(c.n, c.ids))

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
