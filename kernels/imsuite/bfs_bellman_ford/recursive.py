"""Breadth-first search after Bellman and Ford, recursive (IMSuite bfsBellmanFord, recursive).

A node that receives a shorter distance takes it and sends to its neighbours at once. Where messages
overtake each other a node may receive a longer distance first, and then sends again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.imsuite.bfs_bellman_ford.textbook import UNREACHED, BellmanFord, State


class RecursiveBellmanFord(BellmanFord):
    """Hop distances from a root; see `BellmanFord`."""

    obeys = bsp.Model("edges", None)

    form = "recursive"

    def program(self, net: bsp.Net) -> bsp.Program:
        yield bsp.Finish(self.wake)

    def wake(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Spawn:
        root = c.local(self.root)
        return self.expand(c, s, root, np.zeros(len(root), np.int32))

    def arrive(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Spawn:
        nodes, distance = inbox.min("distance")
        known = s.distance[nodes]
        shorter = (known == UNREACHED) | (distance < known)
        return self.expand(c, s, nodes[shorter], distance[shorter])

    def expand(self, c: bsp.Cluster, s: State, nodes: NDArray, distance: NDArray) -> bsp.Spawn:
        """Nodes take their distance and spawn a task at each neighbour."""
        s.distance[nodes] = distance
        at, ends = c.edges(nodes)
        offered = distance[at] + 1
        return bsp.spawn(self.arrive, ends, by=nodes, at=at, combine="min", distance=offered)
