"""Searches by blocks: within each cluster to their ends, also on from an earlier result.

Breadth-first search by blocks: within a cluster to its end, and only what crosses the border is sent.

"Think like a block" (Tian et al. 2013, Giraph++; Yan, Cheng, Lu and Ng 2014, Blogel): each cluster searches
its own nodes in one go, from all nodes whose levels have fallen. A deep graph takes as many rounds as its
shortest paths cross the border, not one for each level.

Breadth-first search of a graph that has grown: on from the ends of new edges, as far as levels fall.

Shortest paths by blocks: each cluster finds its own, and only what crosses the border is sent.

As GRAPE has it (Fan et al. 2017): a cluster goes on from the nodes that have come nearer, in the order of
their distances, as far as others come nearer, too.

Shortest paths of a graph that has grown: on from the ends of new edges, as far as nodes come nearer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import analytics, bsp
from dgsuite.kernels.analytics import sssp
from dgsuite.kernels.analytics.bfs import BreadthFirst
from dgsuite.kernels.tools import blocks, sources
from dgsuite.partition.arrays.segments import lent
from dgsuite.partition.graph.graph import Graph


class BlockForm(bsp.Kernel):
    """A search within each cluster to its end, on from a root and then from what comes over the border.

    Phases of subclasses: ``wake`` begins, at the root or at the ends of new edges; ``search`` takes the
    offers that are nearer, and goes on from there.
    """

    obeys = bsp.Model("edges", reduces="control")
    form = "block"
    undirected = False
    broadcasts = False

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from bsp.until_quiet("search", after=bsp.Round("wake"))


def grown(c: bsp.Cluster, known: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray]:
    """Rows of new edges from nodes that an earlier run has reached, and their ends."""
    assert c.earlier is not None
    reached = known[c.earlier.rows]
    return c.earlier.rows[reached], c.earlier.ends[reached]


@dataclass(eq=False)
class SearchState(bsp.ClusterState):
    """What the nodes of a cluster know."""

    level: NDArray[np.int32]
    parent: bsp.NodeIds


@dataclass(frozen=True)
class BlockSearch(BlockForm):
    """Breadth-first search within each cluster to its end; see `BreadthFirst` for the outputs.

    Parameters
    ----------
    root
        Node to start from.

    Notes
    -----
    Rounds: ``k + 1`` or ``k + 2``. Take for each node the shortest path that crosses the border least often;
    k is how often one of these paths does, at most. After ``k + 1`` rounds no node comes nearer; one more
    reads what the last ones have told across the border, if they have.

    Messages: at most ``rounds * arcs``.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> ds = dgsuite.run("bfs", graph, form="block", root=1)
    >>> ds.level.values, ds.parent.values
    (array([1, 0, 1, 2], dtype=int32), array([1, 1, 1, 2], dtype=int32))
    """

    root: bsp.Node = bsp.FIRST

    name = "bfs"
    outputs = BreadthFirst.outputs
    fields = {"offer": np.int64}

    def start(self, c: bsp.Cluster) -> SearchState:
        return SearchState.of(c, level=c.full(-1, np.int32), parent=c.full(-1, bsp.node_dtype(c)))

    def wake(self, c: bsp.Cluster, s: SearchState, inbox: bsp.Inbox) -> bsp.Sent:
        root = c.local(self.root)
        s.level[root], s.parent[root] = 0, self.root
        return self.spread(c, s, root)

    def search(self, c: bsp.Cluster, s: SearchState, inbox: bsp.Inbox) -> bsp.Sent:
        nodes, offer = inbox.min("offer")
        level, parent = offer // c.n, offer % c.n
        known = s.level[nodes]
        equal = (known == level) & (parent < s.parent[nodes])
        s.parent[nodes[equal]] = parent[equal]
        nearer = (known < 0) | (level < known)
        nodes = nodes[nearer]
        s.level[nodes], s.parent[nodes] = level[nearer], parent[nearer]
        return self.spread(c, s, nodes)

    def spread(self, c: bsp.Cluster, s: SearchState, seeds: NDArray) -> bsp.Sent:
        """Go on from nodes that have come nearer, and tell the ends of edges that cross the border."""
        if not len(seeds):
            return bsp.vote(any=False)
        seeds = seeds[np.argsort(s.level[seeds], kind="stable")]
        queue, reached = (np.empty(c.size, np.int64) for _ in range(2))
        count = analytics._blocks.search(
            *(c.indptr, c.positions, c.first, c.ids, s.level, s.parent),
            *(seeds, s.level[seeds], queue, reached),
        )
        nodes, _, ends = blocks.crossing(c, reached[:count])
        offer = (s.level[nodes] + 1) * np.int64(c.n) + c.ids[nodes]
        return bsp.unicast(ends, nodes, combine="min", offer=offer), bsp.vote(any=len(ends) > 0)


class SearchSince(BlockSearch):
    """Breadth-first search, from that of the graph before it grew; see `BreadthFirst` for the outputs.

    With more edges no level rises, and a parent's level falls no further than its children's do. So a node
    whose level stays keeps its parent, unless it gets a smaller neighbour on the level before.

    Parameters
    ----------
    root
        Node that the earlier run started from.

    Notes
    -----
    Rounds: ``k + 2`` or ``k + 3``, with the k of `BlockSearch` for the nodes that change; of a path only what
    follows its first new edge counts. 2 if none changes; 1 if no new edge begins where the search was.

    Messages: at most ``rounds * arcs``; none from a node whose level stays, but along its new edges.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> before = dgsuite.run("bfs", graph)
    >>> ds = dgsuite.run("bfs", graph.with_edges([0], [3]), since=before)
    >>> ds.level.values, ds.parent.values
    (array([0, 1, 2, 1], dtype=int32), array([0, 0, 1, 0], dtype=int32))
    """

    obeys = bsp.Model("edges", None, "control")
    same = ("root", "cutoff")

    def wake(self, c: bsp.Cluster, s: SearchState, inbox: bsp.Inbox) -> bsp.Sent:
        rows, ends = grown(c, s.level >= 0)
        offer = (s.level[rows] + 1) * np.int64(c.n) + c.ids[rows]
        return bsp.unicast(ends, rows, combine="min", offer=offer), bsp.vote(any=len(ends) > 0)


PARTS = 8
"""Buckets to a mean weight: with fewer of them nodes are looked at more often; with more, more are empty."""

MAX_BUCKETS = 1 << 16
"""Buckets in a ring."""

MIN_SEARCHED = 1 << 14
"""Nodes that a cluster searches in a round before it hears of the others, or more in a large one."""

PARTS_SEARCHED = 16
"""Parts of a large cluster, of which it searches one in a round: with fewer of them others wait longer, and
more nodes are searched again; with more there are more rounds."""


def buckets(weights: NDArray | None) -> tuple[float, int]:
    """The width of a cluster's buckets, and the length of a ring, a power of two; neither changes results."""
    if weights is None or not len(weights):
        return 1.0, 4
    least, mean, most = (float(x) for x in (weights.min(), weights.mean(), weights.max()))
    width = max(least, mean / PARTS, most / MAX_BUCKETS) or 1.0
    return width, 1 << int(most / width + 1).bit_length()


@dataclass(eq=False)
class PathsState(sssp.Paths):
    """What the nodes of a cluster know."""

    buckets: tuple[float, int]  # width of one, and how many there are
    top: NDArray[np.int64] = bsp.later()  # of several sources: see `Climbing`
    source: bsp.NodeIds = bsp.later()
    hop: NDArray[np.int64] = bsp.per_node(0)  # edges of the path
    due: NDArray[np.bool_] = bsp.per_node(False)  # nodes that have come nearer, and not gone on


@dataclass(frozen=True)
class BlockPaths(BlockForm):
    """Shortest paths within each cluster to their ends; see `ShortestPaths` for the outputs.

    Of several shortest paths, a node is on one with the fewest edges, and of these on the one over the
    smallest neighbour. So ``parent`` may be another than that of the iterative form.

    Parameters
    ----------
    root
        Node to start from.
    sources
        Different nodes to start from, as in `ShortestPaths`.

    Notes
    -----
    Rounds: ``k + 1`` or ``k + 2``, as in `BlockSearch`, where paths are the shortest ones of fewest edges.
    Several clusters of more than 16,384 nodes may take more rounds: they search a part of these in each.
    So may nodes that come nearer very often, for which there is no room in the buckets.

    Messages: at most ``rounds * arcs``.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 0], [1, 2, 2], weights=[1, 1, 5])
    >>> ds = dgsuite.run("sssp", graph, form="block")
    >>> ds.distance.values, ds.parent.values
    (array([0., 1., 2.]), array([0, 0, 1], dtype=int32))
    """

    root: bsp.Node = bsp.FIRST
    sources: Sequence[bsp.Node] | None = None

    name = "sssp"
    outputs = sssp.ShortestPaths.outputs
    fields = {"distance": np.float64, "hops": np.int64}
    needs = sssp.ShortestPaths.needs
    weighs = True

    def check(self, c: bsp.Cluster) -> str | None:
        return sources.wrong(self.sources, c.n, some=True)

    def suited(self, graph: Graph) -> BlockPaths:  # type: ignore[override]
        """The kernel for several sources, where there are some."""
        return self if self.sources is None else BlockNearest(**sssp.started(self))

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from super().program(net)
        yield bsp.Round(self.verify, closing=True)

    def start(self, c: bsp.Cluster) -> PathsState:
        distance, parent, _ = sssp.begun(self, c)
        return PathsState.of(c, distance=distance, parent=parent, buckets=buckets(c.weights))

    def wake(self, c: bsp.Cluster, s: PathsState, inbox: bsp.Inbox) -> bsp.Sent:
        s.due = s.distance < np.inf
        return self.spread(c, s)

    def search(self, c: bsp.Cluster, s: PathsState, inbox: bsp.Inbox) -> bsp.Sent:
        offers = inbox.node, inbox.src, inbox["distance"], inbox["hops"]
        analytics._blocks.take(*offers, s.distance, s.hop, s.parent, s.due)
        return self.spread(c, s)

    def spread(self, c: bsp.Cluster, s: PathsState) -> bsp.Sent:
        """Go on from nodes that have come nearer, and tell the ends of edges that cross the border."""
        seeds = np.flatnonzero(s.due)
        if not len(seeds):
            return bsp.vote(any=False)
        seeds = seeds[np.argsort(s.distance[seeds], kind="stable")]
        most = c.size if c.partition.clusters == 1 else max(MIN_SEARCHED, c.size // PARTS_SEARCHED)
        weights = lent(np.empty(0)) if c.weights is None else c.weights
        width, places = s.buckets
        border = analytics._blocks.shortest(
            *(c.indptr, c.positions, c.first, c.ids, weights, width, np.full(places, -1)),
            *(s.distance, s.hop, s.parent, seeds, s.due, most),
        )
        nodes, entry, ends = blocks.crossing(c, border)
        told = s.distance[nodes] + (1 if c.weights is None else c.weights[entry])
        sent = bsp.unicast(ends, nodes, distance=told, hops=s.hop[nodes] + 1)
        return sent, bsp.vote(any=len(ends) > 0 or s.due.any())

    def verify(self, c: bsp.Cluster, s: PathsState, inbox: bsp.Inbox) -> None:
        sssp.check_distances(c, s.distance)


class PathsSince(BlockPaths):
    """Shortest paths, from those of the graph before it grew; see `ShortestPaths` for the outputs.

    Edges may be new, or shorter than before. A node that comes no nearer keeps its path; `parent` may be
    another than that of a run from the start where there are several shortest paths.

    Parameters
    ----------
    root
        Node that the earlier run started from.

    Notes
    -----
    Rounds: ``k + 2`` or ``k + 3``, with the k of `BlockPaths` for the nodes that change; of a path only what
    follows its first new edge counts. 2 if none changes; 1 if no new edge begins where the search was.

    Messages: at most ``rounds * arcs``; none from a node that comes no nearer, but along its new edges.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 0], [1, 2, 2], weights=[1, 1, 5])
    >>> before = dgsuite.run("sssp", graph)
    >>> ds = dgsuite.run("sssp", graph.with_edges([0], [2], weights=[1]), since=before)
    >>> ds.distance.values, ds.parent.values
    (array([0., 1., 1.]), array([0, 0, 0], dtype=int32))
    """

    obeys = bsp.Model("edges", None, "control")
    same = ("root",)

    def spoils(self, before: NDArray, after: NDArray) -> NDArray[np.bool_]:
        """Paths over edges that weigh more are longer."""
        return after > before

    def wake(self, c: bsp.Cluster, s: PathsState, inbox: bsp.Inbox) -> bsp.Sent:
        rows, ends = grown(c, s.distance < np.inf)
        length = 1 if c.weights is None else c.weights[c.entries(rows, ends)]
        # of equally long ways an earlier one stays, since it has no hops
        sent = bsp.unicast(ends, rows, distance=s.distance[rows] + length, hops=s.hop[rows] + 1)
        return sent, bsp.vote(any=len(ends) > 0)


@dataclass(frozen=True)
class BlockNearest(sssp.Nearest, BlockPaths):
    """The same by blocks; see `BlockPaths`."""

    obeys = bsp.Model("nodes", reduces="control")
    outputs = sssp.NearestSource.outputs
    fields = {**BlockPaths.fields, "top": np.int64}
