"""Byzantine agreement with a common coin (Rabin 1983; Motwani and Raghavan 1995, section 12.6; IMSuite
byzantine), on any connected graph.

In each iteration all votes flood the graph. A node takes the vote of the majority if more than a
threshold, which the coin picks, agree; if almost all agree it decides. Traitors tell each neighbour
what they like, but pass on what they hear; fewer than an eighth of the nodes cannot stop the others
from deciding alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.base import (
    Broadcast,
    Extra,
    Inbox,
    Kernel,
    Net,
    Node,
    Output,
    Program,
    Round,
    State,
    Unicast,
    Vote,
    broadcast,
    extra,
    no_node,
    unicast,
    vote,
)
from kernels.rng import uniform
from partition.cluster import Cluster

VOTES, TRAITORS, LIES, COIN = range(4)
"""What random numbers are for."""


@dataclass(frozen=True)
class Byzantine(Kernel):
    """Agreement on one of two values.

    Outputs ``decision`` (0 or 1), and what it began from: ``vote`` and ``traitor``.

    Parameters
    ----------
    votes
        0 or 1 for each node; by default at random.
    traitors
        Node ids, at most n // 8 - 1; by default as many as that, at random.
    faithful
        Do as the original: n // 8 + 1 iterations, the coin always the same, as many rounds of votes
        as the smallest eccentricity among the first g = n - t nodes (a node without news repeats its
        own vote), and counts for these g only.
    """

    votes: Sequence[int] | None = None
    traitors: Sequence[Node] | None = None

    name = "by"
    outputs = {
        "decision": Output("what the node decided"),
        "vote": Output("what the node voted for at first"),
        "traitor": Output("whether the node is a traitor"),
    }
    fields = {"vote": np.int8, "news": np.uint64, "ones": np.uint64, "times": np.int64}
    needs = ("connected",)

    def widths(self, n: int) -> dict[str, int]:
        words = -(-n // 64)
        return {"news": words, "ones": words}

    def check(self, c: Cluster) -> str | None:
        if self.votes is not None and (
            len(self.votes) != c.n or not np.isin(self.votes, (0, 1)).all()
        ):
            return f"votes must be 0 or 1 for each of {c.n} nodes"
        traitors = self.betrayers(c.n)
        most = max(c.n // 8 - 1, 0)
        for node in traitors:
            if wrong := no_node("traitor", node, c.n):
                return wrong
        if len(set(traitors)) < len(traitors):
            return f"a traitor is named twice: {sorted(traitors)}"
        if len(traitors) > most:
            return f"{len(traitors)} traitors among {c.n} nodes: it tolerates n // 8 - 1 = {most}"
        return None

    def betrayers(self, n: int) -> list[int]:
        """Node ids of the traitors."""
        if self.traitors is not None:
            return list(self.traitors)
        drawn = uniform("counter", self.seed, np.arange(n), TRAITORS)
        most = max(n // 8 - 1, 0)
        return sorted(np.argsort(drawn, kind="stable")[:most].tolist())

    def first(self, n: int) -> int:
        """How many nodes the original counts."""
        return n - len(self.betrayers(n)) if self.faithful else n

    def program(self, net: Net) -> Program:
        rounds = None
        if self.faithful:
            fresh = yield Round(self.announce_self, self.listen, opening=True)
            while fresh.any:
                fresh = yield Round(self.pass_on, self.listen, opening=True)
            radius = yield Round(self.measure, opening=True)
            rounds = radius.min or 0
        iteration = 0
        undecided = True
        while iteration <= net.n // 8 if rounds is not None else undecided:
            fresh = yield Round(self.say, self.hear)
            done = 1
            while done < rounds if rounds is not None else fresh.any:
                fresh = yield Round(self.forward, self.hear_more)
                done += 1
            left = yield Round(self.decide, closing=True)
            undecided = rounds is None and left.any
            iteration += 1

    def start(self, c: Cluster) -> State:
        if self.votes is None:
            votes = uniform("counter", self.seed, c.ids, VOTES) < 0.5
        else:
            votes = np.asarray(self.votes)[c.ids]
        own = np.zeros((c.size, self.widths(c.n)["news"]), np.uint64)
        own[np.arange(c.size), c.ids // 64] = np.uint64(1) << (c.ids % 64).astype(np.uint64)
        first = np.zeros(own.shape[1] * 64, bool)
        first[: self.first(c.n)] = True
        traitor = np.isin(c.ids, self.betrayers(c.n))
        return State(
            vote=votes.astype(np.int8),
            opinion=votes.astype(np.int8),
            traitor=traitor,
            lies=self.lies(c),
            own=own,
            known=own.copy(),
            ones=np.zeros_like(own),
            news=own,
            decision=c.zeros(np.int8),
            decided=c.zeros(bool),
            iteration=0,
            round=0,
            radius=c.zeros(),
            first=np.packbits(first, bitorder="little").view(np.uint64),
            counted=c.ids < self.first(c.n),
        )

    def lies(self, c: Cluster) -> tuple[NDArray, NDArray]:
        """What each traitor tells each neighbour: entries of the adjacency, and votes."""
        at, ends = c.edges(np.arange(c.size))
        entry = np.flatnonzero(np.isin(c.ids, self.betrayers(c.n))[at])
        pair = c.ids[at[entry]] * c.n + ends[entry]
        return entry, (uniform("counter", self.seed, pair, LIES) < 0.5).astype(np.int8)

    # Votes. A vote round takes in bitmaps of sources: `news` of those heard of, `ones` of those of
    # them that vote 1. Where traitors told one node 0 and another 1, 1 wins.

    def say(self, c: Cluster, s: State, inbox: Inbox) -> Unicast:
        s.known, s.ones = s.own.copy(), np.zeros_like(s.own)
        at, ends = c.edges(np.arange(c.size))
        said = s.opinion[at]
        entry, lie = s.lies
        said[entry] = lie
        return unicast(ends.astype(np.int64), at, vote=said)

    def hear(self, c: Cluster, s: State, inbox: Inbox) -> tuple[Vote, Extra | None]:
        node, source = inbox.node, inbox.src
        bit = np.uint64(1) << (source % 64).astype(np.uint64)
        s.news, new_ones = np.zeros_like(s.own), np.zeros_like(s.own)
        np.bitwise_or.at(s.news, (node, source // 64), bit)
        one = inbox["vote"] == 1
        np.bitwise_or.at(new_ones, (node[one], source[one] // 64), bit[one])
        s.known |= s.news
        s.ones |= new_ones
        received = np.count_nonzero(s.counted[node])
        return vote(any=s.news.any()), extra(received, received) if self.faithful else None

    def forward(self, c: Cluster, s: State, inbox: Inbox) -> Broadcast:
        times = np.bitwise_count(s.news).sum(axis=1, dtype=np.int64)
        if self.faithful:
            times = np.maximum(times, 1)
        nodes = np.flatnonzero(times)
        news, times = s.news[nodes], times[nodes]
        return broadcast(nodes, repeat=times, news=news, ones=s.ones[nodes] & news, times=times)

    def hear_more(self, c: Cluster, s: State, inbox: Inbox) -> tuple[Vote, Extra | None]:
        nodes, news = inbox.union("news")
        _, ones = inbox.union("ones")
        s.news = np.zeros_like(s.own)
        s.news[nodes] = news & ~s.known[nodes]
        s.known |= s.news
        s.ones[nodes] |= ones & s.news[nodes]
        count = None
        if self.faithful:
            nodes, times = inbox.sum("times")
            received = times[s.counted[nodes]].sum()
            count = extra(received, received)
        return vote(any=s.news.any()), count

    def decide(self, c: Cluster, s: State, inbox: Inbox) -> Vote:
        low, high, sure = 5 * c.n // 8 + 1, 3 * c.n // 4 + 1, 7 * c.n // 8
        coin = uniform("counter", self.seed, np.array([s.iteration]), COIN)[0] < 0.5
        threshold = high if coin and not self.faithful else low
        s.iteration += 1
        ones = np.bitwise_count(s.ones).sum(axis=1, dtype=np.int64) + s.opinion
        zeros = np.bitwise_count(s.known).sum(axis=1, dtype=np.int64) - ones
        majority = (ones > zeros).astype(np.int8)
        tally = np.maximum(ones, zeros)
        s.opinion = np.where(tally > threshold, majority, 0).astype(np.int8)
        now = (tally > sure) & ~s.decided
        s.decision[now] = majority[now]
        s.decided |= now
        return vote(any=(~s.decided & ~s.traitor).any())

    # The original works out beforehand how many rounds of votes it needs.

    def announce_self(self, c: Cluster, s: State, inbox: Inbox) -> Broadcast:
        return broadcast(news=s.own)

    def listen(self, c: Cluster, s: State, inbox: Inbox) -> Vote:
        nodes, news = inbox.union("news")
        s.round += 1
        s.news = np.zeros_like(s.own)
        s.news[nodes] = news & ~s.known[nodes]
        s.known |= s.news
        s.radius[(s.news & s.first).any(axis=1)] = s.round
        return vote(any=s.news.any())

    def pass_on(self, c: Cluster, s: State, inbox: Inbox) -> Any:
        nodes = np.flatnonzero(s.news.any(axis=1))
        return broadcast(nodes, news=s.news[nodes])

    def measure(self, c: Cluster, s: State, inbox: Inbox) -> Vote:
        found = s.radius[s.counted]
        return vote(min=found.min() if len(found) else None)
