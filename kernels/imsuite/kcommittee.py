"""Committees of at most K members (Gupta and Nandivada, IMSuite kcommittee).

K times: in K - 1 rounds all learn the smallest identifier within K - 1 hops among nodes that are in
no committee yet. Whoever has found no smaller one than its own leads, and invites the node it has
found. Who is invited joins; who never was is a committee of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
    broadcast,
    extra,
    unicast,
)
from partition.cluster import Cluster

NODE = 31
"""Bits for a node id; above them stands an identifier."""

NOBODY = np.iinfo(np.int64).max
"""Larger than any identifier."""


@dataclass(frozen=True)
class KCommittee(Kernel):
    """Committees of at most K nodes, each within K - 1 hops of its leader.

    Outputs ``committee``, the node id of the leader.

    Parameters
    ----------
    k
        Largest size of a committee.
    faithful
        Flood polls and invitations as the original does, in which invitations go on through all
        iterations, and one to someone else that passes by cancels one's own. Otherwise only news is
        passed on, and an invitation travels back the way on which the leader heard of the node.
    """

    k: int = 3

    name = "kc"
    outputs = {"committee": Output("node id of the committee's leader", nodes=True)}
    fields = {"word": np.int64, "guest": np.int64, "hops": np.int32}

    def check(self, c: Cluster) -> str | None:
        if self.k < 1:
            return f"k must be at least 1, got {self.k}"
        wrong = np.flatnonzero((c.uid < 0) | (c.uid >= 1 << 32))
        if len(wrong):
            return f"identifier {c.uid[wrong[0]]} of node {c.ids[wrong[0]]} is not 0 to 2^32 - 1"
        return None

    def program(self, net: Net) -> Program:
        for _ in range(self.k):
            yield Round(self.open_poll)
            for _ in range(self.k - 1):
                yield Round(self.tell, self.hear)
            yield Round(self.choose_leader, self.invite)
            for _ in range(self.k - 1):
                yield Round(self.flood, self.collect) if self.faithful else Round(self.carry)
            yield Round(self.accept)
        yield Round(self.be_alone, closing=True)

    def start(self, c: Cluster) -> State:
        none = np.empty(0, np.int64)
        return State(
            committee=c.full(-1, np.int32),
            leading=c.uid.copy(),
            at=none,
            word=none,
            guest=none,
            hops=none,
        )

    # Poll. `best` is the smallest identifier heard of; `via[r]` whom node i heard it from in round r.

    def open_poll(self, c: Cluster, s: State, inbox: Inbox) -> None:
        s.best = np.where(s.committee < 0, c.uid, NOBODY)
        s.fresh = np.flatnonzero(s.committee < 0)
        s.via = []
        s.heard = c.zeros(np.int32)

    def tell(self, c: Cluster, s: State, inbox: Inbox) -> Broadcast:
        nodes = np.arange(c.size) if self.faithful else s.fresh
        best = s.best[nodes]
        return broadcast(nodes, word=np.where(best < NOBODY, best << NODE | c.ids[nodes], NOBODY))

    def hear(self, c: Cluster, s: State, inbox: Inbox) -> None:
        nodes, word = inbox.min("word")
        news = (word < NOBODY) & (word >> NODE < s.best[nodes])
        s.fresh, word = nodes[news], word[news]
        s.best[s.fresh] = word >> NODE
        s.via.append(c.zeros(np.int32))
        s.via[-1][s.fresh] = word & ((1 << NODE) - 1)
        s.heard[s.fresh] = len(s.via)

    def choose_leader(self, c: Cluster, s: State, inbox: Inbox) -> Extra:
        others = np.count_nonzero(s.leading != c.uid)
        s.leading = np.minimum(s.leading, s.best)
        return extra(comm=others)

    # Selection. `offer` is the best invitation: the leader's identifier and node id. Invitations on
    # their way are `at` a node, carry the leader's `word`, and know their `guest` or the `hops` to go.

    def invite(self, c: Cluster, s: State, inbox: Inbox) -> None:
        s.offer = c.full(NOBODY)
        leaders = np.flatnonzero(s.leading == c.uid)
        if self.faithful:
            s.at = np.concatenate([s.at, leaders])
            s.word = np.concatenate([s.word, c.uid[leaders] << NODE | c.ids[leaders]])
            s.guest = np.concatenate([s.guest, s.best[leaders]])
        else:
            s.at = leaders[s.best[leaders] < NOBODY]
            s.word, s.hops = c.uid[s.at] << NODE | c.ids[s.at], s.heard[s.at]
            self.receive(s)

    def carry(self, c: Cluster, s: State, inbox: Inbox) -> Unicast | None:
        self.take_in(s, inbox)
        at, word, hops = s.at, s.word, s.hops
        s.at, s.word, s.hops = at[:0], word[:0], hops[:0]
        if not len(at):
            return None
        back = np.stack(s.via)[hops - 1, at]
        return unicast(back, at, word=word, hops=hops - 1)

    def take_in(self, s: State, inbox: Inbox) -> None:
        if len(inbox):
            s.at, s.word, s.hops = inbox.node, inbox["word"], inbox["hops"]
            self.receive(s)

    def receive(self, s: State) -> None:
        """Those at the end of their way are invited; the others go on."""
        there = s.hops == 0
        np.minimum.at(s.offer, s.at[there], s.word[there])
        s.at, s.word, s.hops = s.at[~there], s.word[~there], s.hops[~there]

    def flood(self, c: Cluster, s: State, inbox: Inbox) -> Unicast:
        which, ends = c.edges(s.at)
        return unicast(ends, s.at[which], word=s.word[which], guest=s.guest[which])

    def collect(self, c: Cluster, s: State, inbox: Inbox) -> None:
        invitations = np.stack([inbox.node, inbox["word"], inbox["guest"]])
        s.at, s.word, s.guest = np.unique(invitations, axis=1)
        s.offer[s.at] = NOBODY
        mine = s.guest == c.uid[s.at]
        np.minimum.at(s.offer, s.at[mine], s.word[mine])
        s.at, s.word, s.guest = s.at[~mine], s.word[~mine], s.guest[~mine]

    def accept(self, c: Cluster, s: State, inbox: Inbox) -> None:
        if not self.faithful:
            self.take_in(s, inbox)
        joining = np.flatnonzero(s.offer < NOBODY)
        s.committee[joining] = s.offer[joining] & ((1 << NODE) - 1)

    def be_alone(self, c: Cluster, s: State, inbox: Inbox) -> None:
        alone = s.committee < 0
        s.committee[alone] = c.ids[alone]
