"""Minimum spanning tree by fragments, recursive (IMSuite mst, recursive).

As in the iterative form, but what goes down or up a fragment does so as a recursion: the lightest
edge is found by asking the children, and theirs, until all have answered; the word to the end of
that edge is passed down until it is there, and from there the path is turned round; the fragment's
name is passed down at the end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernels.base import (
    Announcement,
    Extra,
    Finish,
    Inbox,
    Net,
    Program,
    Round,
    State,
    Vote,
    announce,
    extra,
    vote,
)
from kernels.imsuite.spanning_tree import NONE, SpanningTree
from kernels.recursion import Spawn, spawn
from partition.cluster import Cluster


@dataclass(frozen=True)
class RecursiveSpanningTree(SpanningTree):
    """Minimum spanning tree, or forest; see `SpanningTree`.

    Parameters
    ----------
    faithful
        Count as the original does, where every node reads the fragments of all nodes, leaves those of
        their neighbours before; and look at the end of a phase for a node in another fragment than node 0.
    """

    form = "recursive"
    varies = ()  # a node runs each task once a finish

    def program(self, net: Net) -> Program:
        fragments = net.n
        while fragments > 1:
            yield Round(self.tell_fragment, self.look)
            yield Finish(self.start_find)
            yield Finish(self.start_search)
            yield Finish(self.start_turn)
            roots = yield Round(self.connect, self.attach)
            yield Finish(self.start_transmit)
            if self.faithful:
                yield Round(self.name_first, self.compare_first)
            if roots.sum == fragments:
                return  # each is the tree of a component
            fragments = roots.sum

    # The lightest edge that leaves a fragment.

    def look(self, c: Cluster, s: State, inbox: Inbox) -> Extra:
        super().look(c, s, inbox)
        leaves = s.children.count == 0
        # a leaf goes to itself to look around, and the search for the edge's end to the root that it is at
        besides = int(np.sum(1 + c.degree[leaves])) + len(s.roots)
        return extra(comm=c.size * (c.n - 1) + besides if self.faithful else 0)

    def start_find(self, c: Cluster, s: State, inbox: Inbox) -> Spawn:
        at, children = s.children.of(s.roots)
        return spawn(self.find, children, by=s.roots, at=at)

    def find(self, c: Cluster, s: State, inbox: Inbox) -> Spawn:
        at, children = s.children.of(inbox.node)
        return spawn(self.find, children, by=inbox.node, at=at, then=self.answer)

    def answer(self, c: Cluster, s: State, inbox: Inbox) -> Spawn:
        nodes = inbox.node
        best = {"key": s.best[nodes], "inner": s.inner[nodes], "outer": s.outer[nodes]}
        return spawn(self.compare, s.parent[nodes], by=nodes, **best)

    def compare(self, c: Cluster, s: State, inbox: Inbox) -> None:
        self.take_lighter(c, s, inbox)

    # The word to the edge's inner end, and the turn of the path from there.

    def start_search(self, c: Cluster, s: State, inbox: Inbox) -> Spawn:
        s.partner[:] = -1
        s.joining = np.empty(0, np.int64)
        roots = s.roots[s.best[s.roots] < NONE]
        return self.look_for(c, s, roots, s.inner[roots], s.outer[roots])

    def search(self, c: Cluster, s: State, inbox: Inbox) -> Spawn:
        return self.look_for(c, s, inbox.node, inbox["inner"], inbox["outer"])

    def look_for(
        self, c: Cluster, s: State, nodes: NDArray, inner: NDArray, outer: NDArray
    ) -> Spawn:
        here = c.ids[nodes] == inner
        s.joining = np.concatenate([s.joining, nodes[here]])
        s.partner[nodes[here]] = outer[here]
        nodes, inner, outer = nodes[~here], inner[~here], outer[~here]
        at, children = s.children.of(nodes)
        return spawn(self.search, children, by=nodes, at=at, inner=inner[at], outer=outer[at])

    def start_turn(self, c: Cluster, s: State, inbox: Inbox) -> Spawn:
        return self.turn_up(c, s, s.joining, np.full(len(s.joining), -1))

    def turn(self, c: Cluster, s: State, inbox: Inbox) -> Spawn:  # type: ignore[override]
        return self.turn_up(c, s, inbox.node, inbox.src)

    def turn_up(self, c: Cluster, s: State, nodes: NDArray, below: NDArray) -> Spawn:
        above = self.turn_round(c, s, nodes, below)
        on = above >= 0
        return spawn(self.turn, above[on], by=nodes[on])

    def attach(self, c: Cluster, s: State, inbox: Inbox) -> tuple[Vote, Extra]:
        counted, work = super().attach(c, s, inbox)
        going = len(s.joining) if self.faithful else 0  # to oneself, to join
        return counted, extra(work.comm + going, work.mutexes)

    # Telling all whose fragment they now are.

    def start_transmit(self, c: Cluster, s: State, inbox: Inbox) -> Spawn:
        return self.proclaim(s, s.roots)

    def transmit(self, c: Cluster, s: State, inbox: Inbox) -> Spawn:  # type: ignore[override]
        s.fragment[inbox.node] = inbox["fragment"]
        return self.proclaim(s, inbox.node)

    def proclaim(self, s: State, nodes: NDArray) -> Spawn:
        at, children = s.children.of(nodes)
        return spawn(self.transmit, children, by=nodes, at=at, fragment=s.fragment[nodes[at]])

    # The driver's look at one node after another, until one is in another fragment than node 0.

    def name_first(self, c: Cluster, s: State, inbox: Inbox) -> Announcement:
        first = c.local(0)
        return announce(first, fragment=s.fragment[first])

    def compare_first(self, c: Cluster, s: State, inbox: Inbox) -> Vote:
        others = c.ids[s.fragment != inbox.board("fragment")[0]]
        return vote(min=others[0] if len(others) else None)
