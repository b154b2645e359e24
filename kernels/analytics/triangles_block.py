"""Triangles by blocks: each cluster finds those of its own edges, and tells third nodes over the border.

A cluster knows all neighbours of its nodes. So it finds each triangle that has an edge of its own: without a
message if all three nodes are its own, else the third node, in another cluster, is told. Only a triangle of
nodes in three clusters needs lists from others: nodes share their neighbours across the border.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import analytics, bsp
from dgsuite.kernels.analytics.triangles import Triangles
from dgsuite.kernels.tools import blocks


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    triangles: NDArray[np.int64] = bsp.per_node(0)
    # of edges to other clusters: the node here, ascending, the one there, and triangles to tell it of
    near: NDArray[np.int64] = bsp.later()
    far: NDArray[np.int64] = bsp.later()
    times: NDArray[np.int64] = bsp.later()

    def higher(self, c: bsp.Cluster) -> tuple[NDArray[np.bool_], tuple[NDArray, NDArray, NDArray]]:
        """Which of these edges lead to a node of higher id; their nodes, how many each has, and the ends."""
        up = self.far > c.ids[self.near]
        return up, (*np.unique(self.near[up], return_counts=True), self.far[up])


class BlockTriangles(bsp.Kernel):
    """How many triangles each node is in, found by clusters; see `Triangles` for the output.

    Notes
    -----
    Rounds: exactly ``1``.

    Messages: at most ``4 * m``: lists go to all neighbours, and numbers of triangles to other clusters.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("triangles", graph, form="block").triangles.values
    array([1, 1, 1, 0])
    """

    name = "triangles"
    obeys = bsp.Model("edges", None)
    form = "block"
    outputs = Triangles.outputs
    fields = {"neighbour": np.int64, "triangles": np.int64}
    broadcasts = False
    state = State

    def extra_bytes(self, n: int, nodes: int, entries: int) -> int:
        return 8 * nodes + 2 * entries  # lists of later neighbours

    def program(self, net: bsp.Net) -> bsp.Program:
        yield bsp.Round(self.find, self.tell, self.add)

    def find(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Share | bsp.Known:
        loops = analytics._triangles
        items = np.empty_like(c.indices, shape=len(c.indices) // 2 + 1)
        later = np.empty(c.size + 1, np.int64), items
        loops.ahead(c.positions, c.first, c.indptr, *later)
        loops.within(*later, s.triangles)
        s.near, _, s.far = blocks.crossing(c, np.flatnonzero(c.remote_degree > 0))
        s.times = np.zeros(len(s.far), np.int64)
        rows, begins, lengths = np.unique(s.near, return_index=True, return_counts=True)
        loops.across(*later, rows, begins, begins + lengths, s.far, s.triangles, s.times)
        if c.partition.clusters < 3:
            return bsp.known()
        _, (rows, lengths, far) = s.higher(c)
        return bsp.share(rows, lengths, neighbour=far)

    def tell(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        if c.partition.clusters > 2:
            up, own = s.higher(c)
            times = np.zeros(np.count_nonzero(up), np.int64)
            analytics._triangles.merged(*own, *inbox.shared("neighbour"), times, s.triangles)
            s.times[up] += times
        told = np.flatnonzero(s.times > 0)
        return bsp.unicast(s.far[told], s.near[told], combine="sum", triangles=s.times[told])

    def add(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        nodes, more = inbox.sum("triangles")
        s.triangles[nodes] += more
