"""Byzantine agreement with a common coin, recursive (IMSuite byzantine, recursive).

As in the iterative form, but each vote floods the graph by itself: whoever hears of a source for the
first time tells its neighbours at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernels.base import COUNTS, Finish, Inbox, Net, Program, Round, State
from kernels.imsuite.byzantine import Byzantine
from kernels.recursion import Spawn, spawn
from partition.cluster import Cluster

NEVER = np.iinfo(np.int32).max


@dataclass(frozen=True)
class RecursiveByzantine(Byzantine):
    """Agreement on one of two values; see `Byzantine`.

    Parameters
    ----------
    faithful
        Do as the original: n // 8 + 1 iterations, the coin always the same; and of a traitor, who
        may tell one neighbour 0 and another 1, believe what comes first, whichever that is. By
        default what has come the shorter way is believed, 1 of ways as short, and corrected where
        the longer was faster: so the result does not depend on who is fast.
    """

    form = "recursive"

    @property
    def varies(self) -> tuple[str, ...]:
        return (*COUNTS, "decision") if self.faithful else COUNTS

    def program(self, net: Net) -> Program:
        iteration = 0
        undecided = True
        while iteration <= net.n // 8 if self.faithful else undecided:
            yield Finish(self.say)
            left = yield Round(self.decide)
            undecided = left.any
            iteration += 1

    def start(self, c: Cluster) -> State:
        s = super().start(c)
        liars = np.array(self.betrayers(c.n), np.int64)
        s.word, s.bit = liars // 64, np.uint64(1) << (liars % 64).astype(np.uint64)
        s.liars = liars
        return s

    def say(self, c: Cluster, s: State, inbox: Inbox) -> Spawn:  # type: ignore[override]
        s.known, s.ones = s.own.copy(), np.zeros_like(s.own)
        # how far what is believed of each traitor has come
        s.hops = np.where(c.ids[:, None] == s.liars, 0, NEVER).astype(np.int32)
        nodes = np.arange(c.size)
        at, ends = c.edges(nodes)
        said = s.opinion[at]
        entry, lie = s.lies
        said[entry] = lie
        news = s.own[at]
        return spawn(self.relay, ends, by=nodes, at=at, news=news, ones=news * (said[:, None] == 1))

    def relay(self, c: Cluster, s: State, inbox: Inbox) -> Spawn:
        nodes, news = inbox.union("news")
        _, ones = inbox.union("ones")
        fresh = news & ~s.known[nodes]
        if not self.faithful and len(s.liars):
            fresh |= self.nearer(s, nodes, news, ones, inbox.round)
        s.known[nodes] |= fresh
        s.ones[nodes] = (s.ones[nodes] & ~fresh) | (ones & fresh)
        times = np.bitwise_count(fresh).sum(axis=1, dtype=np.int64)
        on = times > 0
        nodes, fresh = nodes[on], fresh[on]
        at, ends = c.edges(nodes)
        return spawn(
            self.relay,
            ends,
            by=nodes,
            at=at,
            repeat=times[on],
            news=fresh[at],
            ones=(s.ones[nodes] & fresh)[at],
        )

    def nearer(
        self, s: State, nodes: NDArray, news: NDArray, ones: NDArray, hops: int
    ) -> NDArray[np.uint64]:
        """What is said of traitors that beats what is believed of them, as a bitmap."""
        said, one = ((words[:, s.word] & s.bit) != 0 for words in (news, ones))
        believed = (s.ones[nodes][:, s.word] & s.bit) != 0
        known = s.hops[nodes]
        better = said & ((hops < known) | ((hops == known) & one & ~believed))
        s.hops[nodes] = np.where(better, hops, known)
        bitmap = np.zeros_like(news)
        row, liar = np.nonzero(better)
        np.bitwise_or.at(bitmap, (row, s.word[liar]), s.bit[liar])
        return bitmap
