"""Three colours for a rooted tree (Cole and Vishkin 1986; Goldberg, Plotkin and Shannon 1988;
IMSuite vertexColoring).

Everyone starts with its id as colour and keeps, of its colour, the position and value of the lowest
bit in which it differs from its parent's: in some log* n rounds six colours are left. Then thrice:
all take their parent's colour, so that siblings are alike, and those of the highest colour take one
that is free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernels.base import (
    FIRST,
    Broadcast,
    Extra,
    Inbox,
    Kernel,
    Net,
    Node,
    NodeOrNone,
    Output,
    Program,
    Round,
    State,
    Vote,
    broadcast,
    extra,
    no_node,
    vote,
)
from partition.cluster import Cluster


@dataclass(frozen=True)
class VertexColouring(Kernel):
    """Three-colouring of a rooted tree.

    Outputs ``colour``, 0 to 2.

    Parameters
    ----------
    root
        The root.
    parents
        Parent of each node, shape (n,); what it says of the root is ignored. By default a node's
        parent is its neighbour with a smaller id, as in all generated trees.
    """

    root: Node = FIRST
    parents: Sequence[NodeOrNone] | NDArray | None = None

    name = "vc"
    outputs = {"colour": Output("colour")}
    fields = {"colour": np.int32}
    needs = ("tree",)

    def check(self, c: Cluster) -> str | None:
        if wrong := no_node("root", self.root, c.n):
            return wrong
        if self.parents is not None and len(self.parents) != c.n:
            return f"{len(self.parents)} parents for {c.n} nodes"
        rows, entry = self._up(c)
        if (lost := entry < 0).any():
            return f"node {c.ids[rows[lost][0]]} has no edge to its parent"
        if self.parents is not None:
            # in a tree all parents lead to the root unless two nodes are each other's
            nodes, above = c.ids[rows], c.indices[entry]
            mutual = (above != self.root) & (np.asarray(self.parents)[above] == nodes)
            if mutual.any():
                return f"nodes {nodes[mutual][0]} and {above[mutual][0]} are each other's parents"
        else:
            at, ends = c.edges(np.arange(c.size))
            smaller = np.bincount(at[ends < c.ids[at]], minlength=c.size)
            if (smaller > 1).any():
                node = c.ids[smaller > 1][0]
                return f"node {node} has several neighbours with smaller ids: pass parents="
        return None

    def _up(self, c: Cluster) -> tuple[NDArray, NDArray]:
        """Nodes with a parent, and where in the adjacency their parent stands."""
        rows = np.flatnonzero(c.ids != self.root)
        if self.parents is not None:
            return rows, c.entries(rows, np.asarray(self.parents)[c.ids[rows]])
        # rows ascend, so a smaller neighbour comes first
        first = c.indptr[rows]
        some = c.degree[rows] > 0
        some[some] = c.indices[first[some]] < c.ids[rows[some]]
        return rows, np.where(some, first, -1)

    def program(self, net: Net) -> Program:
        large = yield Round(self.tell, self.recolour)
        while large.min is not None:
            large = yield Round(self.tell, self.recolour)
        for highest in (self.drop_five, self.drop_four, self.drop_three):
            yield Round(self.tell, self.shift_down, highest, closing=True)

    def start(self, c: Cluster) -> State:
        rows, up = self._up(c)
        children, remote = c.degree.copy(), c.remote_degree.copy()
        children[rows] -= 1
        remote[rows] -= c.partition.owner(c.indices[up]) != c.index
        inner = np.flatnonzero(children)
        return State(
            colour=c.ids.astype(np.int32),
            before=c.zeros(np.int32),
            rows=rows,
            up=up,
            inner=inner,
            children=(children[inner], remote[inner]),
            leaf=children == 0,
        )

    def tell(self, c: Cluster, s: State, inbox: Inbox) -> Broadcast:
        return self.speak(c, s)

    def speak(self, c: Cluster, s: State) -> Broadcast:
        """All parents tell their children their colour."""
        return broadcast(
            s.inner,
            to=s.children,
            edges=lambda: np.delete(np.arange(len(c.indices)), s.up),
            colour=s.colour[s.inner],
        )

    def recolour(self, c: Cluster, s: State, inbox: Inbox) -> Vote:
        _, above = inbox.along("colour", s.up)
        old = s.colour.copy()
        s.colour &= 1  # the root, as if its parent differed in the lowest bit
        own = old[s.rows]
        differ = own ^ above
        place = np.bitwise_count((differ & -differ) - 1)
        s.colour[s.rows] = 2 * place + ((own >> place) & 1)
        large = s.rows[s.colour[s.rows] >= 6]
        return vote(min=c.ids[large[0]] if len(large) else None)

    def shift_down(self, c: Cluster, s: State, inbox: Inbox) -> Broadcast:
        _, above = inbox.along("colour", s.up)
        s.before = s.colour.copy()
        s.colour = (s.colour + 1) % 3  # the root, whose colour is 0, 1 or 2
        s.colour[s.rows] = above
        return self.speak(c, s)

    def drop_five(self, c: Cluster, s: State, inbox: Inbox) -> Extra:
        return self.drop(5, s, inbox)

    def drop_four(self, c: Cluster, s: State, inbox: Inbox) -> Extra:
        return self.drop(4, s, inbox)

    def drop_three(self, c: Cluster, s: State, inbox: Inbox) -> Extra:
        return self.drop(3, s, inbox)

    def drop(self, colour: int, s: State, inbox: Inbox) -> Extra:
        """Nodes of a colour take the smallest one that is free."""
        which = s.colour[s.rows] == colour
        rows = s.rows[which]
        _, above = inbox.along("colour", s.up[which])
        # all children have what their parent had before
        below = np.where(s.leaf[rows], above, s.before[rows])
        free = np.where((above != 0) & (below != 0), 0, np.where((above != 1) & (below != 1), 1, 2))
        s.colour[rows] = free
        return extra(comm=len(rows) + np.count_nonzero(~s.leaf[rows]))
