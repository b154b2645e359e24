"""Minimum spanning tree by fragments (Gallager, Humblet and Spira 1983, in synchronous rounds; Peleg
2000, section 5.5; IMSuite mst).

Each fragment is a rooted tree. In each phase its nodes report their lightest edge that leaves it to
the root, which selects the lightest of all. The path to that edge is reversed, so that its end becomes the
root. Fragments join along their edges; of two that chose the same edge the end with the smaller id
becomes the root of the whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kernels.base as bsp
from kernels.lightest import NONE, lightest_of_rows, ordered, take_lighter
from kernels.tree import Children


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know. The lightest edge known that leaves a node's fragment has the key
    `best` and leads from node `inner` to node `outer`.
    """

    row: NDArray[np.int64]  # per entry of the adjacency, its node
    key: NDArray[np.int64]  # per entry, its weight, as an integer in the same order
    leaving: NDArray[np.int64]  # entries that lead to other fragments
    is_child: NDArray[np.bool_]  # per entry, whether it leads to a child
    parent: NDArray[np.int32] = bsp.per_node(-1, np.int32)
    fragment: NDArray[np.int32] = bsp.initial(lambda c: c.ids.astype(np.int32))  # id of the root
    roots: NDArray[np.int64] = bsp.initial(lambda c: np.arange(c.size))
    children: Children = bsp.initial(lambda c: Children(c.size))
    best: NDArray[np.int64] = bsp.per_node(NONE)
    inner: NDArray[np.int32] = bsp.per_node(-1, np.int32)
    outer: NDArray[np.int32] = bsp.per_node(-1, np.int32)
    pending: NDArray[np.int64] = bsp.per_node()  # children that have not reported
    undone: int = 0  # roots that have not selected an edge
    joining: NDArray[np.int64] = bsp.no_nodes()  # new roots, from which an edge leaves
    partner: NDArray[np.int32] = bsp.per_node(-1, np.int32)  # other end of a new root's edge


@dataclass(frozen=True)
class SpanningTree(bsp.Kernel):
    """Minimum spanning tree, or forest where the graph is not connected: a tree for each component.

    Of edges that weigh the same the one with the smaller node comes first, then the one whose other node
    is smaller; so the forest is the same for every partition. Edges weigh 1 where the graph has no weights.
    Outputs ``parent``, -1 at each root.

    Parameters
    ----------
    faithful
        Begin each phase with a message from the roots down to the leaves, and count as IMSuite does,
        which reads all neighbours' fragments anew in each phase.
    """

    name = "mst"
    outputs = {"parent": bsp.Output("parent in the tree, {none} at a root", nodes=True)}
    fields = {"fragment": np.int32, "key": np.int64, "inner": np.int32, "outer": np.int32}

    def check(self, c: bsp.Cluster) -> str | None:
        if c.weights is not None and (ordered(c.weights) == NONE).any():
            return f"weights must be below {c.weights.max()}"
        return None

    def program(self, net: bsp.Net) -> bsp.Program:
        fragments = net.n
        while fragments > 1:
            yield bsp.Round(self.tell_fragment, self.look)
            yield from self.find_lightest()
            yield bsp.Round(self.pick, closing=True)
            yield from self.sweep(self.turn)
            roots = yield bsp.Round(self.connect, self.attach, closing=True)
            yield from self.sweep(self.transmit)
            yield bsp.Round(self.settle, closing=True)
            if roots.sum == fragments:
                return  # each is the tree of a component
            fragments = roots.sum

    def find_lightest(self) -> bsp.Program:
        """Report the lightest edges that leave to the roots."""
        yield from self.sweep(self.report)

    def sweep(self, phase: bsp.Phase) -> bsp.Program:
        """Repeat a phase until no cluster has anything left to do."""
        busy = yield bsp.Round(phase, closing=True, first=True)
        if busy.any:
            yield from bsp.until_quiet(phase, closing=True, first=False)

    def start(self, c: bsp.Cluster) -> State:
        entries = len(c.indices)
        return State.of(
            c,
            row=np.repeat(np.arange(c.size), c.degree),
            key=np.ones(entries, np.int64) if c.weights is None else ordered(c.weights),
            leaving=np.arange(entries),
            is_child=np.zeros(entries, bool),
        )

    def tell_fragment(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(fragment=s.fragment)

    def look(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        _, theirs = inbox.along("fragment", s.leaving)
        # an edge within a fragment stays so
        s.leaving = s.leaving[theirs != s.fragment[s.row[s.leaving]]]
        lightest_of_rows(c, s)
        s.pending = s.children.count.copy()
        s.undone = len(s.roots)

    def report(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, first: bool
    ) -> tuple[bsp.Unicast, bsp.Vote]:
        nodes = take_lighter(c, s, inbox)
        _, reports, _ = inbox.count()
        s.pending[nodes] -= reports
        ready = np.flatnonzero(s.pending == 0) if first else nodes[s.pending[nodes] == 0]
        child = s.parent[ready] >= 0
        s.undone -= int(np.count_nonzero(~child))
        up = ready[child]
        edge: dict[str, Any] = {"key": s.best[up], "inner": s.inner[up], "outer": s.outer[up]}
        return bsp.unicast(s.parent[up], up, **edge), bsp.vote(any=s.undone)

    def pick(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        roots = s.roots[s.best[s.roots] < NONE]
        here = s.inner[roots] == c.ids[roots]
        s.joining = roots[here]
        s.partner[:] = -1
        s.partner[s.joining] = s.outer[s.joining]
        far = roots[~here]
        return bsp.unicast(s.inner[far], far, outer=s.outer[far])

    def turn(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, first: bool
    ) -> tuple[bsp.Unicast, bsp.Vote]:
        node, below = inbox.node, inbox.src
        if first:  # messages are those of the old roots to the new ones
            s.joining = np.concatenate([s.joining, node])
            s.partner[node] = inbox["outer"]
            below = np.full(len(node), -1)
        above = self.reverse(c, s, node, below)
        on = above >= 0
        return bsp.unicast(above[on], node[on]), bsp.vote(any=on.any())

    def reverse(self, c: bsp.Cluster, s: State, node: NDArray, below: NDArray) -> NDArray:
        """Give nodes a new parent, or none (-1); returns the old parents, which become children."""
        above = s.parent[node]
        s.parent[node] = below
        inner = below >= 0
        s.is_child[c.entries(node[inner], below[inner])] = False
        on = above >= 0
        s.is_child[c.entries(node[on], above[on])] = True
        return above

    def connect(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        s.joining.sort()
        return bsp.unicast(s.partner[s.joining], s.joining)

    def attach(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        node, other = inbox.node, inbox.src
        mutual = s.partner[node] == other
        above = ~mutual | (c.ids[node] < other)
        s.is_child[c.entries(node[above], other[above])] = True
        s.parent[s.joining] = s.partner[s.joining]
        s.parent[node[mutual & above]] = -1
        s.roots = np.flatnonzero(s.parent < 0)
        s.fragment[s.roots] = c.ids[s.roots]
        s.children = Children(c.size)
        entry = np.flatnonzero(s.is_child)
        s.children.add(s.row[entry], c.indices[entry])
        return bsp.vote(sum=len(s.roots))

    def transmit(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, first: bool
    ) -> tuple[bsp.Unicast, bsp.Vote]:
        if not first:
            s.fragment[inbox.node] = inbox["fragment"]
        nodes = s.roots if first else inbox.node
        at, children = s.children.of(nodes)
        message = bsp.unicast(children, nodes[at], fragment=s.fragment[nodes[at]])
        return message, bsp.vote(any=len(at))

    def settle(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        s.fragment[inbox.node] = inbox["fragment"]
