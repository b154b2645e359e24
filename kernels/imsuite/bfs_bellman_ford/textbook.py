"""Breadth-first search after Bellman and Ford (Lynch 1996, section 4.3; IMSuite bfsBellmanFord).

The root tells its neighbours that they are one hop away; a node that learns of a shorter way tells all
its neighbours. In synchronous rounds the first message to arrive is already the best, so round r
settles the nodes r hops away, and each node sends once. The program stops when all nodes have been
reached, or a round reaches no new node.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp

UNREACHED = -1


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    distance: NDArray[np.int32] = bsp.per_node(UNREACHED, np.int32)  # hops from the root
    waiting: bsp.Subset = bsp.node_set()  # nodes that have not been reached


@dataclass(frozen=True)
class BellmanFord(bsp.Kernel):
    """Hop distances from a root.

    Outputs ``distance``, -1 where there is no way. Weights do not count.

    Parameters
    ----------
    root
        Node to start from.

    Notes
    -----
    Rounds: at most ``hops + 1``: one for each distance, and one that may reach no new node.

    Exchanges: at most ``rounds + 1``.

    Messages: at most ``arcs``: a node sends once to each neighbour.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("bf", graph, root=3).distance.values
    array([2, 2, 1, 0], dtype=int32)
    """

    root: bsp.Node = bsp.FIRST

    name = "bf"
    obeys = bsp.Model("edges", reduces="data")
    streams = True
    outputs = {"distance": bsp.Output("hops from the root, -1 where unreached", from_root=True)}
    fields = {"distance": np.int32}
    ranges = {"distance": bsp.counts}
    undirected = False
    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        reached = 1
        reply = yield bsp.Round(self.wake, self.relax)
        while reply.any and (reached := reached + reply.sum) < net.n:
            reply = yield bsp.Round(self.relax)

    def wake(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        root = c.local(self.root)
        return self.settle(s, root, np.zeros(len(root), np.int32))

    def relax(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> tuple[bsp.Broadcast, bsp.Vote]:
        nodes, distance = inbox.min("distance", among=s.waiting)
        return self.settle(s, nodes, distance), bsp.vote(any=len(nodes) > 0, sum=len(nodes))

    def settle(self, s: State, nodes: NDArray, distance: NDArray) -> bsp.Broadcast:
        """Nodes take their distance and offer their neighbours one more."""
        s.distance[nodes] = distance
        s.waiting.remove(nodes)
        return bsp.broadcast(nodes, distance=distance + 1)
