"""Breadth-first search, level by level (Graph500 kernel 2).

Whoever is reached tells its neighbours; whoever hears for the first time takes the sender with the
smallest id as its parent. The engine looks at a round's messages from the side that costs less: from
the frontier (top-down), or from those not reached yet, who stop at the first neighbour that is in it
(bottom-up; Beamer, Asanovic and Patterson 2012).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from kernels.base import (
    FIRST,
    Broadcast,
    Inbox,
    Kernel,
    Known,
    Net,
    Node,
    Note,
    Output,
    Program,
    Round,
    State,
    Vote,
    broadcast,
    known,
    no_node,
    vote,
)
from partition.cluster import Cluster, NodeSet
from partition.segments import put


@dataclass(frozen=True)
class BreadthFirst(Kernel):
    """A breadth-first tree.

    Outputs ``level`` and ``parent``, both -1 where there is no way; the root is its own parent.

    Parameters
    ----------
    root
        Node to start from.
    direction
        "optimising", or "top-down" in every round.
    """

    root: Node = FIRST
    direction: Literal["optimising", "top-down"] = "optimising"

    name = "bfs"
    outputs = {
        "level": Output("hops from the root, -1 where unreached"),
        "parent": Output("parent in the tree, {none} where unreached", nodes=True),
    }

    looks_for_first = True
    notes = {
        "examined": "adjacency entries looked at",
        "bottom_up": "nodes that looked for a neighbour in the frontier themselves",
    }

    def check(self, c: Cluster) -> str | None:
        return no_node("root", self.root, c.n)

    def program(self, net: Net) -> Program:
        reply = yield Round(self.wake, self.visit)
        while reply.any:
            reply = yield Round(self.visit)

    def start(self, c: Cluster) -> State:
        root = c.local(self.root)
        unseen = np.diff(c.indptr) > 0
        unseen[root] = False
        level, parent = c.full(-1, np.int32), c.full(-1, np.int32)
        level[root], parent[root] = 0, self.root
        return State(level=level, parent=parent, unseen=NodeSet(unseen), depth=0)

    def wake(self, c: Cluster, s: State, inbox: Inbox) -> Known:
        return known(self.root)

    def visit(self, c: Cluster, s: State, inbox: Inbox) -> tuple[Broadcast, Vote, Note]:
        top_down = self.direction == "top-down"
        nodes, parent, note = inbox.first(among=s.unseen, top_down=top_down)
        s.depth += 1
        put(s.level, nodes, s.depth)
        put(s.parent, nodes, parent)
        s.unseen.remove(nodes)
        # who has one neighbour was reached from there, and has nobody else to tell
        return broadcast(nodes), vote(any=not c.leaves(nodes)), note
