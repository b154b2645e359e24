"""What IMSuite's kcommittee does otherwise: it floods polls and invitations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.imsuite.kcommittee import textbook as kcommittee
from dgsuite.kernels.imsuite.kcommittee.textbook import NONE, KCommittee
from dgsuite.kernels.tools import words


@dataclass(eq=False)
class State(kcommittee.State):
    """What the nodes of a cluster know. Invitations are to the node with identifier `guest`."""

    guest: NDArray[np.int64] = bsp.rows()


class FaithfulKCommittee(KCommittee, faithful_to=KCommittee):
    """Committees of at most K nodes; see `KCommittee`."""

    obeys = bsp.Model("edges", None)
    state = State

    def forward(self) -> bsp.Round:
        return bsp.Round(self.flood, self.collect)

    def tell(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(word=np.where(s.best < NONE, words.pair(s.best, c.ids), NONE))

    def invite(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        s.offer = c.full(NONE)
        leaders = np.flatnonzero(s.leading == c.uid)
        s.at = np.concatenate([s.at, leaders])
        s.word = np.concatenate([s.word, words.pair(c.uid[leaders], c.ids[leaders])])
        s.guest = np.concatenate([s.guest, s.best[leaders]])

    def flood(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        which, ends = c.edges(s.at)
        return bsp.unicast(ends, s.at[which], word=s.word[which], guest=s.guest[which])

    def collect(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        invitations = np.stack([inbox.node, inbox["word"], inbox["guest"]])
        s.at, s.word, s.guest = np.unique(invitations, axis=1)
        s.offer[s.at] = NONE
        mine = s.guest == c.uid[s.at]
        np.minimum.at(s.offer, s.at[mine], s.word[mine])
        s.at, s.word, s.guest = s.at[~mine], s.word[~mine], s.guest[~mine]

    def accept(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        self.join(s)
