"""Minimum spanning tree by fragments (Gallager, Humblet and Spira 1983, in synchronous rounds; Peleg
2000, section 5.5; IMSuite mst).

Each fragment is a rooted tree. In each phase its nodes report their lightest edge that leaves it to
the root, which picks the lightest of all; the path to that edge is turned round, so that the
fragment is rooted there; fragments join along their edges, and of two that chose the same edge the
end with the smaller id becomes the root of all that hang together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.base import (
    Broadcast,
    Extra,
    Inbox,
    Kernel,
    Net,
    Output,
    Program,
    Round,
    State,
    Unicast,
    Vote,
    broadcast,
    extra,
    unicast,
    vote,
)
from kernels.tree import Children
from partition.cluster import Cluster

NONE = np.iinfo(np.int64).max
"""Heavier than any edge."""


@dataclass(frozen=True)
class SpanningTree(Kernel):
    """Minimum spanning tree, or forest where the graph is not connected: a tree for each component.

    Of edges that weigh the same the one with the smaller node comes first, then the one whose other node
    is smaller; so the forest is the same for every cut. Edges weigh 1 where the graph has no weights.
    Outputs ``parent``, -1 at each root.

    Parameters
    ----------
    faithful
        Begin each phase with a word from the roots down to the leaves, and count as the original
        does, which reads all neighbours' fragments anew in each phase.
    """

    name = "mst"
    outputs = {"parent": Output("parent in the tree, {none} at a root", nodes=True)}
    fields = {"fragment": np.int32, "key": np.int64, "inner": np.int32, "outer": np.int32}

    def check(self, c: Cluster) -> str | None:
        if c.weights is not None and (ordered(c.weights) == NONE).any():
            return f"weights must be below {c.weights.max()}"
        return None

    def program(self, net: Net) -> Program:
        fragments = net.n
        while fragments > 1:
            yield Round(self.tell_fragment, self.look)
            if self.faithful:
                yield from self.until_quiet(self.wake)
            yield from self.until_quiet(self.report)
            yield Round(self.pick, closing=True)
            yield from self.until_quiet(self.turn)
            roots = yield Round(self.connect, self.attach, closing=True)
            yield from self.until_quiet(self.transmit)
            yield Round(self.settle, closing=True)
            if roots.sum == fragments:
                return  # each is the tree of a component
            fragments = roots.sum

    def until_quiet(self, phase: Any) -> Program:
        """Repeat a phase until nobody has anything left to do."""
        busy = yield Round(phase, closing=True)
        while busy.any:
            busy = yield Round(phase, closing=True)

    def start(self, c: Cluster) -> State:
        entries = len(c.indices)
        return State(
            parent=c.full(-1, np.int32),
            fragment=c.ids.astype(np.int32),
            row=np.repeat(np.arange(c.size), c.degree),
            key=np.ones(entries, np.int64) if c.weights is None else ordered(c.weights),
            leaving=np.arange(entries),
            is_child=np.zeros(entries, bool),
            children=Children(c.size),
            best=c.full(NONE),
            inner=c.full(-1, np.int32),
            outer=c.full(-1, np.int32),
            partner=c.full(-1, np.int32),
            roots=np.arange(c.size),
        )

    # The lightest edge that leaves: `best` is its key, from node `inner` to node `outer`.

    def tell_fragment(self, c: Cluster, s: State, inbox: Inbox) -> Broadcast:
        return broadcast(fragment=s.fragment)

    def look(self, c: Cluster, s: State, inbox: Inbox) -> Extra:
        _, theirs = inbox.along("fragment", s.leaving)
        # an edge within a fragment stays so
        s.leaving = s.leaving[theirs != s.fragment[s.row[s.leaving]]]
        row, key = s.row[s.leaving], s.key[s.leaving]
        s.best[:] = NONE
        heads = np.flatnonzero(np.diff(row, prepend=-1))
        if len(heads):
            s.best[row[heads]] = np.minimum.reduceat(key, heads)
        # an edge's name ascends along a row, and of several values for one place the last one stays
        chosen = np.flatnonzero(key == s.best[row])[::-1]
        s.inner[row[chosen]] = c.ids[row[chosen]]
        s.outer[row[chosen]] = c.indices[s.leaving[chosen]]
        s.pending = s.children.count.copy()
        s.ready = np.flatnonzero(s.pending == 0)
        s.undone = len(s.roots)
        s.front = s.roots
        return extra(comm=len(c.indices) if self.faithful else 0)

    def wake(self, c: Cluster, s: State, inbox: Inbox) -> tuple[Unicast, Vote]:
        nodes = inbox.receivers() if s.front is None else s.front
        s.front = None
        at, children = s.children.of(nodes)
        return unicast(children, nodes[at]), vote(any=len(at))

    def report(self, c: Cluster, s: State, inbox: Inbox) -> tuple[Unicast, Vote]:
        nodes = self.take_lighter(c, s, inbox)
        _, reports, _ = inbox.count()
        s.pending[nodes] -= reports
        ready = np.concatenate([s.ready, nodes[s.pending[nodes] == 0]])
        s.ready = s.ready[:0]
        child = s.parent[ready] >= 0
        s.undone -= np.count_nonzero(~child)
        up = ready[child]
        message = unicast(s.parent[up], up, key=s.best[up], inner=s.inner[up], outer=s.outer[up])
        return message, vote(any=s.undone)

    def take_lighter(self, c: Cluster, s: State, inbox: Inbox) -> NDArray:
        """What children report, where it comes before; returns who got any."""
        nodes, key = inbox.min("key")
        lighter = key < s.best[nodes]
        s.best[nodes[lighter]] = key[lighter]
        s.inner[nodes[lighter]] = -1
        node, key = inbox.node, inbox["key"]
        least = np.flatnonzero((key == s.best[node]) & (key < NONE))
        node, inner, outer = node[least], inbox["inner"][least], inbox["outer"][least]
        # the first of all that weigh the least, the last to be put in place
        mine = s.inner[node]
        first = (mine < 0) | (self.names(c, inner, outer) < self.names(c, mine, s.outer[node]))
        node, inner, outer = node[first], inner[first], outer[first]
        order = np.argsort(-self.names(c, inner, outer), kind="stable")
        s.inner[node[order]] = inner[order]
        s.outer[node[order]] = outer[order]
        return nodes

    def names(self, c: Cluster, inner: NDArray, outer: NDArray) -> NDArray[np.int64]:
        """A number for each of some edges, ascending by the smaller of its nodes, then the larger."""
        return np.minimum(inner, outer).astype(np.int64) * c.n + np.maximum(inner, outer)

    # Turning the path from the chosen edge's inner end to the root round.

    def pick(self, c: Cluster, s: State, inbox: Inbox) -> Unicast:
        roots = s.roots[s.best[s.roots] < NONE]
        here = s.inner[roots] == c.ids[roots]
        s.joining = roots[here]
        s.partner[:] = -1
        s.partner[s.joining] = s.outer[s.joining]
        far = roots[~here]
        s.front = far
        return unicast(s.inner[far], far, outer=s.outer[far])

    def turn(self, c: Cluster, s: State, inbox: Inbox) -> tuple[Unicast, Vote]:
        node, below = inbox.node, inbox.src
        if s.front is not None:  # the roots' word to those who become roots
            s.joining = np.concatenate([s.joining, node])
            s.partner[node] = inbox["outer"]
            below = np.full(len(node), -1)
            s.front = None
        above = self.turn_round(c, s, node, below)
        on = above >= 0
        return unicast(above[on], node[on]), vote(any=on.any())

    def turn_round(self, c: Cluster, s: State, node: NDArray, below: NDArray) -> NDArray:
        """Make the nodes below some, if any, their parents; returns who was parent before."""
        above = s.parent[node]
        s.parent[node] = below
        inner = below >= 0
        s.is_child[c.entries(node[inner], below[inner])] = False
        on = above >= 0
        s.is_child[c.entries(node[on], above[on])] = True
        return above

    # Joining along the chosen edges, and telling all whose fragment they now are.

    def connect(self, c: Cluster, s: State, inbox: Inbox) -> Unicast:
        s.joining.sort()
        return unicast(s.partner[s.joining], s.joining)

    def attach(self, c: Cluster, s: State, inbox: Inbox) -> tuple[Vote, Extra]:
        node, other = inbox.node, inbox.src
        mutual = s.partner[node] == other
        above = ~mutual | (c.ids[node] < other)
        s.is_child[c.entries(node[above], other[above])] = True
        s.parent[s.joining] = s.partner[s.joining]
        leaders = node[mutual & above]
        s.parent[leaders] = -1
        s.roots = np.flatnonzero(s.parent < 0)
        s.fragment[s.roots] = c.ids[s.roots]
        s.children = Children(c.size)
        entry = np.flatnonzero(s.is_child)
        s.children.add(s.row[entry], c.indices[entry])
        s.front = s.roots
        # each looks at its partner's fragment; the leader sets two things at its partner, the other
        # of a pair none, and all the rest enter themselves in their partner's list
        alone = len(s.joining) - np.count_nonzero(mutual)
        comm = len(s.joining) + 2 * len(leaders) + alone
        work = extra(comm, len(leaders) + alone) if self.faithful else extra()
        return vote(sum=len(s.roots)), work

    def transmit(self, c: Cluster, s: State, inbox: Inbox) -> tuple[Unicast, Vote]:
        if s.front is None:
            nodes = inbox.node
            s.fragment[nodes] = inbox["fragment"]
        else:
            nodes = s.front
            s.front = None
        at, children = s.children.of(nodes)
        message = unicast(children, nodes[at], fragment=s.fragment[nodes[at]])
        return message, vote(any=len(at))

    def settle(self, c: Cluster, s: State, inbox: Inbox) -> None:
        s.fragment[inbox.node] = inbox["fragment"]


def ordered(weights: NDArray) -> NDArray[np.int64]:
    """Weights as integers in the same order."""
    if weights.dtype.kind == "u":
        return (weights.astype(np.uint64) ^ np.uint64(1 << 63)).view(np.int64)
    if weights.dtype.kind != "f":
        return weights.astype(np.int64)
    bits = (weights.astype(np.float64) + 0.0).view(np.int64)  # -0.0 is 0.0
    return np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)
