"""Invitations to committees: each goes back the way on which its leader learned of the invited node.

A node that receives news in a poll keeps the sender, by round. An invitation follows these senders, as many
hops as the news came.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.tools import words

NONE = np.iinfo(np.int64).max
"""Larger than any identifier or word."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know. A word is an identifier and a node id (see `kernels.tools.words`).
    Invitations on their way are `at` a node, carry the leader's `word`, and have `hops` to go.
    """

    committee: NDArray[np.int32] = bsp.per_node(-1, np.int32)
    via: list[NDArray[np.int32]] = field(default_factory=list)  # per round, sender of the news
    heard: NDArray[np.int32] = bsp.per_node(0, np.int32)  # rounds up to the last news
    offer: NDArray[np.int64] = bsp.per_node()  # best invitation: word of the leader
    at: NDArray[np.int64] = bsp.rows()
    word: NDArray[np.int64] = bsp.rows()
    hops: NDArray[np.int64] = bsp.rows()


@dataclass(frozen=True)
class Invitations(bsp.Kernel):
    """The phases of invitations."""

    def carry(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast | None:
        """Invitations go one hop."""
        self.take_in(s, inbox)
        at, word, hops = s.at, s.word, s.hops
        s.at, s.word, s.hops = at[:0], word[:0], hops[:0]
        if not len(at):
            return None
        back = np.stack(s.via)[hops - 1, at]
        return bsp.unicast(back, at, word=word, hops=hops - 1)

    def take_in(self, s: State, inbox: bsp.Inbox) -> None:
        if len(inbox):
            self.arrive(s, inbox.node, inbox["word"], inbox["hops"])

    def arrive(self, s: State, at: NDArray, word: NDArray, hops: NDArray) -> None:
        """Nodes at the end of an invitation's way are invited; the other invitations go on."""
        there = hops == 0
        np.minimum.at(s.offer, at[there], word[there])
        s.at, s.word, s.hops = at[~there], word[~there], hops[~there]

    def accept(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        self.take_in(s, inbox)
        self.join(s)

    def join(self, s: State) -> None:
        """Nodes join the committee of their best invitation."""
        joining = np.flatnonzero(s.offer < NONE)
        s.committee[joining] = words.second(s.offer[joining])
