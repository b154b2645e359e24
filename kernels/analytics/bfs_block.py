"""Breadth-first search by blocks: within a cluster to its end, and only what crosses the border is sent.

"Think like a block" (Tian et al. 2013, Giraph++; Yan, Cheng, Lu and Ng 2014, Blogel): each cluster searches
its own nodes in one go, from all nodes whose levels have fallen. A deep graph takes as many rounds as its
shortest paths cross the border, not one for each level.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.bfs import BreadthFirst
from dgsuite.kernels.tools import blocks


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    level: NDArray[np.int32]
    parent: bsp.NodeIds


@dataclass(frozen=True)
class BlockSearch(bsp.Kernel):
    """Breadth-first search within each cluster to its end; see `BreadthFirst` for the outputs.

    Parameters
    ----------
    root
        Node to start from.

    Notes
    -----
    Rounds: one more than the times that a shortest path crosses the border, and a few more where a cluster
    first takes a longer way for the shortest.

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
    form = "block"
    outputs = BreadthFirst.outputs
    fields = {"offer": np.int64}
    undirected = False
    along_edges = True

    def program(self, net: bsp.Net) -> bsp.Program:
        reply = yield bsp.Round(self.wake)
        if reply.any:
            yield from bsp.until_quiet(self.search)

    def start(self, c: bsp.Cluster) -> State:
        return State.of(c, level=c.full(-1, np.int32), parent=c.full(-1, bsp.node_dtype(c)))

    def wake(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox
    ) -> bsp.Vote | tuple[bsp.Unicast, bsp.Vote]:
        root = c.local(self.root)
        s.level[root], s.parent[root] = 0, self.root
        return self.spread(c, s, root)

    def search(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox
    ) -> bsp.Vote | tuple[bsp.Unicast, bsp.Vote]:
        nodes, offer = inbox.min("offer")
        level, parent = offer // c.n, offer % c.n
        known = s.level[nodes]
        equal = (known == level) & (parent < s.parent[nodes])
        s.parent[nodes[equal]] = parent[equal]
        nearer = (known < 0) | (level < known)
        nodes = nodes[nearer]
        s.level[nodes], s.parent[nodes] = level[nearer], parent[nearer]
        return self.spread(c, s, nodes)

    def spread(
        self, c: bsp.Cluster, s: State, seeds: NDArray
    ) -> bsp.Vote | tuple[bsp.Unicast, bsp.Vote]:
        """Go on from nodes that have come nearer, and tell the ends of edges that cross the border."""
        from dgsuite.kernels.analytics import _blocks

        if not len(seeds):
            return bsp.vote(any=False)
        seeds = seeds[np.argsort(s.level[seeds], kind="stable")]
        queue, reached = (np.empty(c.size, np.int64) for _ in range(2))
        count = _blocks.search(
            *(c.indptr, c.positions, c.first, c.ids, s.level, s.parent),
            *(seeds, s.level[seeds], queue, reached),
        )
        nodes, _, ends = blocks.crossing(c, reached[:count])
        offer = (s.level[nodes] + 1) * np.int64(c.n) + c.ids[nodes]
        return bsp.unicast(ends, nodes, combine="min", offer=offer), bsp.vote(any=len(ends) > 0)
