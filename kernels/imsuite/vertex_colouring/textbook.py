"""Three colours for a rooted tree (Cole and Vishkin 1986; Goldberg, Plotkin and Shannon 1988;
IMSuite vertexColoring).

Each node starts with its id as colour. In a round it compares its colour with its parent's: the position
and value of the lowest bit in which they differ make its next colour. After some log* n rounds six colours
are left. Then three times all take their parent's colour, so that siblings are alike, and those of the
highest colour take one that is free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.tools.tree import Family, wrong_parents


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    tree: Family  # parents and children
    colour: NDArray[np.int32] = bsp.initial(lambda c: c.ids.astype(np.int32))
    before: NDArray[np.int32] = bsp.per_node(0, np.int32)  # colour before the last shift


@dataclass(frozen=True)
class VertexColouring(bsp.Kernel):
    """Three-colouring of a rooted tree.

    Outputs ``colour``, 0 to 2.

    Parameters
    ----------
    root
        The root.
    parents
        Parent of each node, shape (n,); the root's entry is ignored. By default a node's parent is its
        neighbour with a smaller id, as in all generated trees.

    Notes
    -----
    Rounds: at most ``log_star(n) + 1``: how often the logarithm of n is taken until it is 1 or less, and
    one more.

    Exchanges: at most ``rounds + 6``.

    Messages: exactly ``(rounds + 6) * (n - 1)``: each node sends its colour to its children.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 0, 1, 1], [1, 2, 3, 4])
    >>> dgsuite.run("vc", graph).colour.values
    array([0, 2, 2, 1, 1], dtype=int32)
    """

    root: bsp.Node = bsp.FIRST
    parents: Sequence[bsp.NodeOrNone] | NDArray | None = None

    name = "vc"
    obeys = bsp.Model("edges", reduces="data")
    short_ids = True
    outputs = {"colour": bsp.Output("colour")}
    fields = {"colour": np.int32}
    ranges = {"colour": bsp.counts}
    refuses = {"recovery": bsp.KEEPS_LISTS}
    needs = ("tree",)

    def check(self, c: bsp.Cluster) -> str | None:
        return wrong_parents(c, self.root, self.parents)

    def program(self, net: bsp.Net) -> bsp.Program:
        large = yield bsp.Round(self.tell, self.recolour)
        while large.min is not None:
            large = yield bsp.Round(self.tell, self.recolour)
        for highest in (5, 4, 3):
            yield bsp.Round(self.tell, self.shift_down, self.drop, closing=True, highest=highest)

    def start(self, c: bsp.Cluster) -> State:
        return State.of(c, tree=Family(c, self.root, self.parents))

    def tell(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        """All parents tell their children their colour."""
        colour = s.colour[s.tree.inner]
        return bsp.broadcast(s.tree.inner, to=s.tree.children, edges=s.tree.down, colour=colour)

    def recolour(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        _, above = inbox.along("colour", s.tree.up)
        rows = s.tree.rows
        own = s.colour[rows]
        differ = own ^ above
        place = np.bitwise_count((differ & -differ) - 1)
        s.colour &= 1  # the root, as if its parent differed in the lowest bit
        s.colour[rows] = 2 * place + ((own >> place) & 1)
        large = rows[s.colour[rows] >= 6]
        return bsp.vote(min=c.ids[large[0]] if len(large) else None)

    def shift_down(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        _, above = inbox.along("colour", s.tree.up)
        s.before = s.colour.copy()
        s.colour = (s.colour + 1) % 3  # the root, whose colour is 0, 1 or 2
        s.colour[s.tree.rows] = above
        return self.tell(c, s, inbox)

    def drop(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, highest: int) -> bsp.Extra:
        """Nodes of the highest colour take the smallest one that is free."""
        which = s.colour[s.tree.rows] == highest
        rows = s.tree.rows[which]
        _, above = inbox.along("colour", s.tree.up[which])
        # all children have the colour that their parent had before
        below = np.where(s.tree.leaf[rows], above, s.before[rows])
        free = np.where((above != 0) & (below != 0), 0, np.where((above != 1) & (below != 1), 1, 2))
        s.colour[rows] = free
        # IMSuite reads the colours of the parent and of a child
        return bsp.extra(comm=len(rows) + np.count_nonzero(~s.tree.leaf[rows]))
