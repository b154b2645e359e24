"""Sweeps over fragments: what goes up or down a tree, a level per round.

Leaves report first, then each node whose children have all reported (convergecast); a new root turns the
edges on its way to the old one; the name of a fragment goes from the root down to the leaves (broadcast).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.imsuite.spanning_tree.edges import LightestEdges


@dataclass(eq=False)
class State(LightestEdges):
    """What the nodes of a cluster know."""

    pending: NDArray[np.int64] = bsp.per_node()  # children that have not reported
    undone: int = 0  # roots that have not selected an edge
    joining: NDArray[np.int64] = bsp.no_nodes()  # new roots, from which an edge leaves
    partner: NDArray[np.int32] = bsp.per_node(-1, np.int32)  # other end of a new root's edge


@dataclass(frozen=True)
class Sweeps(bsp.Kernel):
    """Phases that repeat until all levels of all trees have had their turn."""

    def sweep(self, phase: bsp.Phase) -> bsp.Program:
        """Repeat a phase until no cluster has anything left to do."""
        busy = yield bsp.Round(phase, closing=True, first=True)
        if busy.any:
            yield from bsp.until_quiet(phase, closing=True, first=False)

    def report(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, first: bool
    ) -> tuple[bsp.Unicast, bsp.Vote]:
        """Nodes send their lightest edge up, when they have those of all children."""
        nodes = s.take_lighter(c, inbox)
        _, reports, _ = inbox.count()
        s.pending[nodes] -= reports
        ready = np.flatnonzero(s.pending == 0) if first else nodes[s.pending[nodes] == 0]
        child = s.parent[ready] >= 0
        s.undone -= int(np.count_nonzero(~child))
        up = ready[child]
        return bsp.unicast(s.parent[up], up, **s.edge_of(up)), bsp.vote(any=s.undone)

    def turn(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, first: bool
    ) -> tuple[bsp.Unicast, bsp.Vote]:
        """Nodes on the way from a new root to the old one make their parent a child."""
        node, below = inbox.node, inbox.src
        if first:  # messages are those of the old roots to the new ones
            s.joining = np.concatenate([s.joining, node])
            s.partner[node] = inbox["outer"]
            below = np.full(len(node), -1)
        above = s.reverse(c, node, below)
        on = above >= 0
        return bsp.unicast(above[on], node[on]), bsp.vote(any=on.any())

    def transmit(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, first: bool
    ) -> tuple[bsp.Unicast, bsp.Vote]:
        """Nodes take the name of their fragment from their parent, and pass it to their children."""
        if not first:
            self.settle(c, s, inbox)
        nodes = s.roots if first else inbox.node
        at, children = s.children.of(nodes)
        message = bsp.unicast(children, nodes[at], fragment=s.fragment[nodes[at]])
        return message, bsp.vote(any=len(at))

    def settle(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        s.fragment[inbox.node] = inbox["fragment"]
