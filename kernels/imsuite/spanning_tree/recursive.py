"""Minimum spanning tree by fragments, recursive (IMSuite mst, recursive).

As in the iterative form, but what goes down or up a fragment does so as a recursion. The lightest edge is
found by a request that goes down to the leaves, and answers that come back up. A search for the end of that
edge goes down the fragment, and from there the path is reversed. The fragment's name goes down at the end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.imsuite.spanning_tree.state import NONE, State
from dgsuite.kernels.imsuite.spanning_tree.textbook import SpanningTree


class RecursiveSpanningTree(SpanningTree):
    """Minimum spanning tree, or forest; see `SpanningTree`.

    Parameters
    ----------
    faithful
        Count as IMSuite does, where every node reads the fragments of all nodes, leaves those of their
        neighbours before; and look at the end of a phase for a node in another fragment than node 0.
    """

    obeys = bsp.Model("edges", None, "data")

    form = "recursive"
    varies = ()  # a node runs each task once a finish

    def program(self, net: bsp.Net) -> bsp.Program:
        fragments = net.n
        while fragments > 1:
            yield bsp.Round(self.tell_fragment, self.look)
            yield bsp.Finish(self.start_find)
            yield bsp.Finish(self.start_search)
            yield bsp.Finish(self.start_turn)
            roots = yield bsp.Round(self.connect, self.attach)
            yield bsp.Finish(self.start_transmit)
            yield from self.end_phase()
            if roots.sum == fragments:
                return  # each is the tree of a component
            fragments = roots.sum

    def end_phase(self) -> bsp.Program:
        """What happens once the fragments have joined."""
        yield from ()

    # The lightest edge that leaves a fragment.

    def start_find(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Spawn:
        at, children = s.children.of(s.roots)
        return bsp.spawn(self.find, children, by=s.roots, at=at)

    def find(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Spawn:
        at, children = s.children.of(inbox.node)
        return bsp.spawn(self.find, children, by=inbox.node, at=at, then=self.answer)

    def answer(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Spawn:
        nodes = inbox.node
        return bsp.spawn(self.compare, s.parent[nodes], by=nodes, **s.edge_of(nodes))

    def compare(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        s.take_lighter(c, inbox)

    # The search for the edge's inner end, from which the path is reversed.

    def start_search(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Spawn:
        s.partner[:] = -1
        s.joining = np.empty(0, np.int64)
        roots = s.roots[s.best[s.roots] < NONE]
        return self.look_for(c, s, roots, s.inner[roots], s.outer[roots])

    def search(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Spawn:
        return self.look_for(c, s, inbox.node, inbox["inner"], inbox["outer"])

    def look_for(
        self, c: bsp.Cluster, s: State, nodes: NDArray, inner: NDArray, outer: NDArray
    ) -> bsp.Spawn:
        """Nodes that are the inner end join; others search on among their children."""
        here = c.ids[nodes] == inner
        s.joining = np.concatenate([s.joining, nodes[here]])
        s.partner[nodes[here]] = outer[here]
        nodes, inner, outer = nodes[~here], inner[~here], outer[~here]
        at, children = s.children.of(nodes)
        return bsp.spawn(self.search, children, by=nodes, at=at, inner=inner[at], outer=outer[at])

    def start_turn(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Spawn:
        return self.turn_up(c, s, s.joining, np.full(len(s.joining), -1))

    def turn(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Spawn:
        return self.turn_up(c, s, inbox.node, inbox.src)

    def turn_up(self, c: bsp.Cluster, s: State, nodes: NDArray, below: NDArray) -> bsp.Spawn:
        above = s.reverse(c, nodes, below)
        on = above >= 0
        return bsp.spawn(self.turn, above[on], by=nodes[on])

    # The fragment's name goes down.

    def start_transmit(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Spawn:
        return self.proclaim(s, s.roots)

    def transmit(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Spawn:
        s.fragment[inbox.node] = inbox["fragment"]
        return self.proclaim(s, inbox.node)

    def proclaim(self, s: State, nodes: NDArray) -> bsp.Spawn:
        at, children = s.children.of(nodes)
        return bsp.spawn(self.transmit, children, by=nodes, at=at, fragment=s.fragment[nodes[at]])
