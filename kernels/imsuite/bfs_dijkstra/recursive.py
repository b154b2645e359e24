"""Breadth-first search layer by layer with echo, recursive (IMSuite bfsDijkstra, recursive).

The message from the root goes down the tree as a recursion, and so does the echo: a node answers its
parent when all its children have answered. The invitations between them are rounds, as in the iterative
form.
"""

from __future__ import annotations

from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.imsuite.bfs_dijkstra.textbook import Dijkstra, State


class RecursiveDijkstra(Dijkstra):
    """A breadth-first tree; see `Dijkstra`.

    Parameters
    ----------
    faithful
        Search for one more layer when all nodes are in the tree, and end the echo at the root, as in
        IMSuite.
    """

    obeys = bsp.Model("edges", None, "data")

    form = "recursive"
    varies = ()  # a node runs each task once a finish

    def program(self, net: bsp.Net) -> bsp.Program:
        reached = 1
        while self.goes_on(reached, net.n):
            yield bsp.Finish(self.start_layer)
            found = yield bsp.Round(self.join, self.accept, self.refuse)
            if not found.sum:
                return
            reached += found.sum
            yield bsp.Finish(self.start_echo)
            yield bsp.Round(self.reset)

    def start_layer(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Spawn:
        return self.pass_on(s, s.layers[0])

    def tell(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Spawn:
        return self.pass_on(s, inbox.node)

    def pass_on(self, s: State, nodes: NDArray) -> bsp.Spawn:
        at, children = s.children.of(nodes)
        return bsp.spawn(self.tell, children, by=nodes, at=at)

    def start_echo(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Spawn:
        return self.descend(s, s.layers[0])

    def ask(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Spawn:
        return self.descend(s, inbox.node)

    def descend(self, s: State, nodes: NDArray) -> bsp.Spawn:
        """Ask the children, down to the layer that invited; nodes that have just joined are not asked."""
        last = len(s.layers) - 2
        at, children = s.children.of(nodes)
        inner = s.distance[nodes[at]] < last
        return bsp.spawn(self.ask, children[inner], by=nodes, at=at[inner], then=self.answer)

    def answer(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Spawn:
        nodes = inbox.node[s.parent[inbox.node] >= 0]
        return bsp.spawn(self.hear, s.parent[nodes], by=nodes)

    def hear(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        """A child's answer, which carries no data."""
