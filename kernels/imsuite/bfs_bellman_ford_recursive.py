"""Breadth-first search after Bellman and Ford, recursive (IMSuite bfsBellmanFord, recursive).

Whoever is told of a shorter way takes it and tells its neighbours at once, without waiting for
anyone. Where words overtake each other a node may be told of a long way first, and speaks again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernels.base import Finish, Inbox, Net, Program, State
from kernels.imsuite.bfs_bellman_ford import UNREACHED, BellmanFord
from kernels.recursion import Spawn, spawn
from partition.cluster import Cluster


@dataclass(frozen=True)
class RecursiveBellmanFord(BellmanFord):
    """Hop distances from a root; see `BellmanFord`."""

    form = "recursive"

    def program(self, net: Net) -> Program:
        yield Finish(self.wake)

    def start(self, c: Cluster) -> State:
        return State(distance=c.full(UNREACHED, np.int32))

    def wake(self, c: Cluster, s: State, inbox: Inbox) -> Spawn:  # type: ignore[override]
        root = c.local(self.root)
        return self.expand(c, s, root, np.zeros(len(root), np.int32))

    def arrive(self, c: Cluster, s: State, inbox: Inbox) -> Spawn:
        nodes, distance = inbox.min("distance")
        known = s.distance[nodes]
        shorter = (known == UNREACHED) | (distance < known)
        return self.expand(c, s, nodes[shorter], distance[shorter])

    def expand(self, c: Cluster, s: State, nodes: NDArray, distance: NDArray) -> Spawn:
        s.distance[nodes] = distance
        at, ends = c.edges(nodes)
        return spawn(self.arrive, ends, by=nodes, at=at, combine="min", distance=distance[at] + 1)
