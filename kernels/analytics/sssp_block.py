"""Shortest paths by blocks: each cluster finds its own, and only what crosses the border is sent.

As GRAPE has it (Fan et al. 2017): a cluster goes on from the nodes that have come nearer, in the order of
their distances, as far as others come nearer, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.sssp import ShortestPaths, begun, check_distances, started
from dgsuite.kernels.tools import blocks, sources
from dgsuite.partition.arrays.segments import lent

if TYPE_CHECKING:
    from dgsuite.partition.graph.graph import Graph

PARTS = 8
"""Buckets to a mean weight: with fewer of them nodes are looked at more often; with more, more are empty."""

MAX_BUCKETS = 1 << 16
"""Buckets in a ring."""


def buckets(weights: NDArray | None) -> tuple[float, int]:
    """Width of a bucket of a cluster's, and how many a ring has: whatever they are, results are the same."""
    if weights is None or not len(weights):
        return 1.0, 3
    least, mean, most = (float(x) for x in (weights.min(), weights.mean(), weights.max()))
    width = max(least, mean / PARTS, most / MAX_BUCKETS) or 1.0
    return width, int(most / width) + 2


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    distance: NDArray[np.float64]
    parent: bsp.NodeIds
    starts: NDArray[np.int64]  # where paths start
    buckets: tuple[float, int]  # width of one, and how many there are
    top: NDArray[np.int64] = bsp.later()  # of several sources: see `Climbing`
    source: bsp.NodeIds = bsp.later()
    hop: NDArray[np.int64] = bsp.per_node(0)  # edges of the path
    due: NDArray[np.bool_] = bsp.per_node(False)  # nodes that wait in a bucket


@dataclass(frozen=True)
class BlockPaths(bsp.Kernel):
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
    Rounds: one more than the times that a shortest path crosses the border, and a few more where a cluster
    first takes a longer way for the shortest.

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
    form = "block"
    outputs = ShortestPaths.outputs
    fields = {"distance": np.float64, "hops": np.int64}
    needs = ShortestPaths.needs
    weighs = True
    undirected = False
    along_edges = True

    def check(self, c: bsp.Cluster) -> str | None:
        return sources.wrong(self.sources, c.n, some=True)

    def suited(self, graph: Graph) -> BlockPaths:  # type: ignore[override]
        """The kernel for several sources, where there are some."""
        if self.sources is None:
            return self
        from dgsuite.kernels.analytics.sssp_nearest import BlockNearest

        return BlockNearest(**started(self))

    def program(self, net: bsp.Net) -> bsp.Program:
        reply = yield bsp.Round(self.wake)
        if reply.any:
            yield from bsp.until_quiet(self.search)
        yield bsp.Round(self.verify, closing=True)

    def start(self, c: bsp.Cluster) -> State:
        given = [self.root] if self.sources is None else self.sources
        distance, parent, starts = begun(c, sources.chosen(given, c.n, self.seed))
        more = {"starts": starts, "buckets": buckets(c.weights)}
        return State.of(c, distance=distance, parent=parent, **more)

    def wake(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox
    ) -> bsp.Vote | tuple[bsp.Unicast, bsp.Vote]:
        return self.spread(c, s, s.starts)

    def search(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox
    ) -> bsp.Vote | tuple[bsp.Unicast, bsp.Vote]:
        from dgsuite.kernels.analytics import _blocks

        seeds = np.empty(c.size, np.int64)
        offers = inbox.node, inbox.src, inbox["distance"], inbox["hops"]
        count = _blocks.take(*offers, s.distance, s.hop, s.parent, s.due, seeds)
        return self.spread(c, s, seeds[:count])

    def spread(
        self, c: bsp.Cluster, s: State, seeds: NDArray
    ) -> bsp.Vote | tuple[bsp.Unicast, bsp.Vote]:
        """Go on from nodes that have come nearer, and tell the ends of edges that cross the border."""
        from dgsuite.kernels.analytics import _blocks

        if not len(seeds):
            return bsp.vote(any=False)
        seeds = seeds[np.argsort(s.distance[seeds], kind="stable")]
        reached = np.empty(c.size, np.int64)
        weights = lent(np.empty(0)) if c.weights is None else c.weights
        width, places = s.buckets
        count = _blocks.shortest(
            *(c.indptr, c.positions, c.first, c.ids, weights, width, np.full(places, -1)),
            *(s.distance, s.hop, s.parent, seeds, s.due, reached),
        )
        nodes, entry, ends = blocks.crossing(c, reached[:count])
        told = s.distance[nodes] + (1 if c.weights is None else c.weights[entry])
        sent = bsp.unicast(ends, nodes, distance=told, hops=s.hop[nodes] + 1)
        return sent, bsp.vote(any=len(ends) > 0)

    def verify(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        check_distances(c, s.distance)
