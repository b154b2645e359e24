"""Core numbers by peeling (Seidman 1983; Batagelj and Zaversnik 2003), all nodes of a level at once.

Nodes with the fewest live neighbours leave, and then those that have no more than that left. It takes as
many rounds as there are layers to peel, and one a level: some hundreds on a Kronecker graph, half its nodes
on a path.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import kernels.base as bsp


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    core: NDArray[np.int32] = bsp.per_node(0, np.int32)
    degree: NDArray[np.int64] = bsp.initial(lambda c: c.degree.astype(np.int64))  # live neighbours
    live: bsp.Subset = bsp.node_set()
    due: NDArray[np.int64] = bsp.no_nodes()  # live nodes with the fewest live neighbours


@dataclass(frozen=True)
class CoreNumber(bsp.Kernel):
    """The largest k such that the node is in the k-core.

    The k-core is the largest set of nodes of which each has k neighbours or more in the set.
    Outputs ``core``. Each node sends one message to each neighbour, when it leaves.
    """

    name = "core_number"
    outputs = {"core": bsp.Output("largest k of whose k-core the node is part")}
    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        left = yield bsp.Round(self.rest, opening=True)
        while left.min is not None:
            left = yield bsp.Round(self.peel, k=left.min)

    def peel(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, k: int
    ) -> bsp.Vote | tuple[bsp.Broadcast, bsp.Vote]:
        nodes, gone, _ = inbox.count(among=s.live)
        s.degree[nodes] -= gone
        due = nodes if len(nodes) else s.due  # within a level, or where one begins
        due = due[s.degree[due] <= k]
        if not len(due):
            return self.rest(c, s, inbox)
        s.core[due], s.due = k, due[:0]
        s.live.remove(due)
        return bsp.broadcast(due), bsp.vote(min=k)

    def rest(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        """Of the live nodes, those with the fewest live neighbours."""
        live = s.live.members
        degree = s.degree[live]
        least = degree.min(initial=c.n)
        s.due = live[degree == least]
        return bsp.vote(min=least if len(live) else None)
