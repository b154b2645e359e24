"""Byzantine agreement with a common coin, recursive (IMSuite byzantine, recursive).

As in the iterative form, but each vote floods the graph on its own: a node that learns of a source for
the first time tells its neighbours at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.imsuite.byzantine import textbook
from dgsuite.kernels.tools import bitmaps

NEVER = np.iinfo(np.int32).max


@dataclass(eq=False)
class State(textbook.State):
    """What the nodes of a cluster know."""

    liars: NDArray[np.int64] = bsp.rows()  # node ids of the traitors
    hops: NDArray[np.int32] = bsp.later()  # (size, liars): hops that the believed vote has come


class RecursiveByzantine(textbook.Byzantine):
    """Agreement on one of two values; see `Byzantine`.

    Parameters
    ----------
    faithful
        Do as IMSuite: n // 8 + 1 iterations, the coin always the same; and of a traitor, which
        may tell one neighbour 0 and another 1, believe the vote that comes first, whichever that is. By
        default the vote that has come the shorter way is believed, 1 of ways as short, and corrected where
        the longer was faster: so the result does not depend on the order of arrival.
    """

    form = "recursive"
    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        iteration, undecided = 0, True
        while undecided:
            yield bsp.Finish(self.say)
            left = yield bsp.Round(self.decide, iteration=iteration)
            iteration, undecided = iteration + 1, left.any

    def start(self, c: bsp.Cluster) -> State:
        s: State = super().start(c)  # type: ignore[assignment]
        s.liars = np.array(self.betrayers(c.n), np.int64)
        return s

    def say(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Spawn:
        at, ends, votes = self.ballots(c, s)
        s.hops = np.where(c.ids[:, None] == s.liars, 0, NEVER).astype(np.int32)
        nodes, news = np.arange(c.size), s.own[at]
        ones = news * (votes[:, None] == 1)
        return bsp.spawn(self.relay, ends, by=nodes, at=at, news=news, ones=ones)

    def relay(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Spawn:
        nodes, news = inbox.reduce("or", "news")
        _, ones = inbox.reduce("or", "ones")
        fresh = news & ~s.known[nodes]
        fresh |= self.corrections(s, nodes, news, ones, inbox.round)
        s.known[nodes] |= fresh
        s.ones[nodes] = (s.ones[nodes] & ~fresh) | (ones & fresh)
        times = bitmaps.sizes(fresh)
        on = times > 0
        nodes, fresh, times = nodes[on], fresh[on], times[on]
        at, ends = c.edges(nodes)
        news, ones = fresh[at], (s.ones[nodes] & fresh)[at]
        return bsp.spawn(self.relay, ends, by=nodes, at=at, repeat=times, news=news, ones=ones)

    def corrections(
        self, s: State, nodes: NDArray, news: NDArray, ones: NDArray, hops: int
    ) -> NDArray[np.uint64]:
        """Traitors whose votes have come a shorter way than the votes that are believed, as a bitmap."""
        bitmap = np.zeros_like(news)
        if not len(s.liars):
            return bitmap
        word, bit = s.liars // bitmaps.WORD, bitmaps.bit_of(s.liars)
        said, one = ((words[:, word] & bit) != 0 for words in (news, ones))
        believed = (s.ones[nodes][:, word] & bit) != 0
        known = s.hops[nodes]
        better = said & ((hops < known) | ((hops == known) & one & ~believed))
        s.hops[nodes] = np.where(better, hops, known)
        row, liar = np.nonzero(better)
        bitmaps.add(bitmap, row, s.liars[liar])
        return bitmap
