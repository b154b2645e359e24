"""Breadth-first search layer by layer with echo, recursive (IMSuite bfsDijkstra, recursive).

The root's word travels down the tree as a recursion, and so does the echo: a node answers its parent
when all its children have answered. The invitations between them are rounds, as in the iterative
form.
"""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import NDArray

from kernels.base import Finish, Inbox, Net, Program, Round, State
from kernels.imsuite.bfs_dijkstra import Dijkstra
from kernels.recursion import Spawn, spawn
from partition.cluster import Cluster


@dataclass(frozen=True)
class RecursiveDijkstra(Dijkstra):
    """A breadth-first tree; see `Dijkstra`.

    Parameters
    ----------
    faithful
        Search for one more layer when all nodes are in the tree; and end the echo at the root, which
        takes every phase for phase 0, where it was itself discovered.
    """

    form = "recursive"
    varies = ()  # a node runs each task once a finish

    def program(self, net: Net) -> Program:
        reached = 1
        while reached < net.n or self.faithful:
            yield Finish(self.start_layer)
            found = yield Round(self.join, self.accept, self.refuse)
            if not found.sum:
                return
            reached += found.sum
            yield Finish(self.start_echo)
            yield Round(self.reset)

    def start_layer(self, c: Cluster, s: State, inbox: Inbox) -> Spawn:  # type: ignore[override]
        return self.pass_on(s, s.layers[0])

    def tell(self, c: Cluster, s: State, inbox: Inbox) -> Spawn:
        return self.pass_on(s, inbox.node)

    def pass_on(self, s: State, nodes: NDArray) -> Spawn:
        at, children = s.children.of(nodes)
        return spawn(self.tell, children, by=nodes, at=at)

    def start_echo(self, c: Cluster, s: State, inbox: Inbox) -> Spawn:
        root = s.layers[0]
        return self.descend(s, root[:0] if self.faithful else root)

    def ask(self, c: Cluster, s: State, inbox: Inbox) -> Spawn:
        return self.descend(s, inbox.node)

    def descend(self, s: State, nodes: NDArray) -> Spawn:
        """Down to the layer that invited; what it won is not asked yet."""
        last = len(s.layers) - 2
        at, children = s.children.of(nodes)
        inner = s.distance[nodes[at]] < last
        return spawn(self.ask, children[inner], by=nodes, at=at[inner], then=self.answer)

    def answer(self, c: Cluster, s: State, inbox: Inbox) -> Spawn:
        nodes = inbox.node[s.parent[inbox.node] >= 0]
        return spawn(self.hear, s.parent[nodes], by=nodes)

    def hear(self, c: Cluster, s: State, inbox: Inbox) -> None:
        """A child's answer: that it came is all it says."""
