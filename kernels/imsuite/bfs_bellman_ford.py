"""Breadth-first search after Bellman and Ford (Lynch 1996, section 4.3; IMSuite bfsBellmanFord).

The root tells its neighbours that they are one hop away; whoever learns of a shorter way tells all
its neighbours. In synchronous rounds the first word to arrive is already the best, so round r
settles the nodes r hops away, and each node speaks once. The program stops when everyone has been
reached or nobody new was.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernels.base import (
    FIRST,
    Broadcast,
    Inbox,
    Kernel,
    Net,
    Node,
    Output,
    Program,
    Round,
    State,
    Vote,
    broadcast,
    no_node,
    vote,
)
from partition.cluster import Cluster, NodeSet

UNREACHED = -1


@dataclass(frozen=True)
class BellmanFord(Kernel):
    """Hop distances from a root.

    Outputs ``distance``, -1 where there is no way.

    Parameters
    ----------
    root
        Node to start from.
    """

    root: Node = FIRST

    name = "bf"
    outputs = {"distance": Output("hops from the root, -1 where unreached")}
    fields = {"distance": np.int32}
    undirected = False

    def check(self, c: Cluster) -> str | None:
        return no_node("root", self.root, c.n)

    def program(self, net: Net) -> Program:
        reached = 1
        reply = yield Round(self.wake, self.relax)
        while reply.any and (reached := reached + reply.sum) < net.n:
            reply = yield Round(self.relax)

    def start(self, c: Cluster) -> State:
        return State(distance=c.full(UNREACHED, np.int32), waiting=NodeSet(c.full(True, bool)))

    def wake(self, c: Cluster, s: State, inbox: Inbox) -> Broadcast:
        root = c.local(self.root)
        return self.settle(s, root, np.zeros(len(root), np.int32))

    def relax(self, c: Cluster, s: State, inbox: Inbox) -> tuple[Broadcast, Vote]:
        nodes, distance = inbox.min("distance", among=s.waiting)
        return self.settle(s, nodes, distance), vote(any=len(nodes) > 0, sum=len(nodes))

    def settle(self, s: State, nodes: np.ndarray, distance: np.ndarray) -> Broadcast:
        s.distance[nodes] = distance
        s.waiting.remove(nodes)
        return broadcast(nodes, distance=distance + 1)
