"""The root above each node of a forest, by pointer jumping (JaJa 1992, An Introduction to Parallel
Algorithms, section 2.2): a node asks the ancestor that it knows for that one's, so its way doubles each time.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dgsuite.kernels import bsp

Climb = Generator[bsp.Round | bsp.Finish, bsp.Reply, bool]
"""Rounds of a climb; it returns whether there are nodes that no root is above."""


@dataclass(frozen=True)
class Climbing(bsp.Kernel):
    """A kernel whose nodes have a ``parent``, -1 for none, and look for their roots, which are their own.

    Its state has an array ``top`` as well, int64: an ancestor, or -1 - root where the root is known. So has a
    message: a field ``top``.
    """

    def climb(self, n: int) -> Climb:
        """Find the roots; after so many rounds that nodes have none whose ancestors are on a cycle."""
        reply = yield bsp.Round(self.stand, opening=True)
        for _ in range(n.bit_length()):
            if not reply.any:
                return False
            reply = yield bsp.Round(self.ask, self.answer, self.take)
        return bool(reply.any)

    def stand(self, c: bsp.Cluster, s: Any, inbox: bsp.Inbox) -> bsp.Vote:
        s.top = np.where(s.parent == c.ids, -1 - c.ids, s.parent)
        return bsp.vote(any=s.top >= 0)

    def ask(self, c: bsp.Cluster, s: Any, inbox: bsp.Inbox) -> bsp.Unicast:
        nodes = np.flatnonzero(s.top >= 0)
        return bsp.unicast(s.top[nodes], nodes)

    def answer(self, c: bsp.Cluster, s: Any, inbox: bsp.Inbox) -> bsp.Unicast:
        return bsp.unicast(inbox.src, inbox.node, top=s.top[inbox.node])

    def take(self, c: bsp.Cluster, s: Any, inbox: bsp.Inbox) -> bsp.Vote:
        s.top[inbox.node] = inbox["top"]
        return bsp.vote(any=s.top >= 0)
