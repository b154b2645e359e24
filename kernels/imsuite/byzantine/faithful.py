"""What IMSuite's byzantine does otherwise than the textbook.

Its coin always shows the same side, it runs n // 8 + 1 iterations, and it computes beforehand how many
rounds of votes it needs. It counts the first g = n - t nodes alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.imsuite.byzantine import recursive, textbook
from dgsuite.kernels.tools import bitmaps


@dataclass(eq=False)
class State(textbook.State):
    """What the nodes of a cluster know."""

    counted: NDArray[np.bool_] = bsp.per_node(False)  # whether the node is one of the first g
    first: NDArray[np.uint64] = bsp.later()  # the first g nodes, as a bitmap
    radius: NDArray[np.int64] = bsp.per_node()  # hops to the farthest of the first g nodes


class FaithfulByzantine(textbook.Byzantine, faithful_to=textbook.Byzantine):
    """Agreement on one of two values; see `Byzantine`."""

    obeys = bsp.Model("edges", None, "data")
    state = State

    def coin(self, iteration: int) -> bool:
        return False

    def first(self, n: int) -> int:
        """How many nodes IMSuite counts."""
        return n - len(self.betrayers(n))

    def program(self, net: bsp.Net) -> bsp.Program:
        hops = 1
        fresh = yield bsp.Round(self.announce_self, self.listen, opening=True, hops=hops)
        while fresh.any:
            hops += 1
            fresh = yield bsp.Round(self.pass_on, self.listen, opening=True, hops=hops)
        radius = yield bsp.Round(self.measure, opening=True)
        for iteration in range(net.n // 8 + 1):
            yield bsp.Round(self.say, self.hear)
            for _ in range(1, radius.min or 0):
                yield bsp.Round(self.forward, self.hear_more)
            yield bsp.Round(self.decide, closing=True, iteration=iteration)

    def start(self, c: bsp.Cluster) -> State:
        s: State = super().start(c)  # type: ignore[assignment]
        first = np.zeros(s.own.shape[1] * 64, bool)
        first[: self.first(c.n)] = True
        s.first = np.packbits(first, bitorder="little").view(np.uint64)
        s.counted = c.ids < self.first(c.n)
        return s

    def announce_self(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(news=s.own)

    def listen(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, hops: int) -> bsp.Vote:
        textbook.take_news(s, inbox)
        s.radius[(s.news & s.first).any(axis=1)] = hops
        return bsp.vote(any=s.news.any())

    def pass_on(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        nodes = np.flatnonzero(s.news.any(axis=1))
        return bsp.broadcast(nodes, news=s.news[nodes])

    def measure(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        found = s.radius[s.counted]
        return bsp.vote(min=found.min() if len(found) else None)

    def hear(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> tuple[bsp.Vote, bsp.Extra]:
        received = np.count_nonzero(s.counted[inbox.node])
        return super().hear(c, s, inbox), bsp.extra(received, received)

    def forward(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return self.pass_news(s, np.maximum(bitmaps.sizes(s.news), 1))

    def hear_more(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> tuple[bsp.Vote, bsp.Extra]:
        nodes, times = inbox.sum("times")
        received = times[s.counted[nodes]].sum()
        return super().hear_more(c, s, inbox), bsp.extra(received, received)


class FaithfulRecursiveByzantine(
    recursive.RecursiveByzantine, faithful_to=recursive.RecursiveByzantine
):
    """Agreement on one of two values; see `RecursiveByzantine`."""

    varies = (*bsp.COUNTS, "decision")

    def coin(self, iteration: int) -> bool:
        return False

    def program(self, net: bsp.Net) -> bsp.Program:
        for iteration in range(net.n // 8 + 1):
            yield bsp.Finish(self.say)
            yield bsp.Round(self.decide, iteration=iteration)

    def start(self, c: bsp.Cluster) -> recursive.State:
        s = super().start(c)
        s.liars = s.liars[:0]  # the first vote of a traitor to arrive is believed
        return s
