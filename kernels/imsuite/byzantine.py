"""Byzantine agreement with a common coin (Rabin 1983; Motwani and Raghavan 1995, section 12.6; IMSuite
byzantine), on any connected graph.

In each iteration all votes flood the graph. A node takes the vote of the majority if more than a
threshold, which the coin selects, agree; if almost all agree it decides. Traitors send each neighbour
another vote, but pass on what they receive; fewer than an eighth of the nodes cannot stop the others
from deciding alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

import kernels.base as bsp
from kernels.rng import uniform

VOTES, TRAITORS, LIES, COIN = range(4)
"""What random numbers are for."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know. Sets of sources are bitmaps, shape (size, words): where traitors
    vote 0 to one node and 1 to another, 1 wins.
    """

    vote: NDArray[np.int8]  # first vote
    opinion: NDArray[np.int8]  # present vote
    traitor: NDArray[np.bool_]
    lies: tuple[NDArray, NDArray]  # entries of the adjacency of traitors, and what they vote there
    own: NDArray[np.uint64]  # the node itself
    known: NDArray[np.uint64]  # sources whose votes the node knows
    ones: NDArray[np.uint64]  # those of them that vote 1
    news: NDArray[np.uint64]  # sources that are new in this round
    decision: NDArray[np.int8] = bsp.per_node(0, np.int8)
    decided: NDArray[np.bool_] = bsp.per_node(False)


@dataclass(frozen=True)
class Byzantine(bsp.Kernel):
    """Agreement on one of two values.

    Outputs ``decision`` (0 or 1), and the input: ``vote`` and ``traitor``.

    Parameters
    ----------
    votes
        0 or 1 for each node; by default at random.
    traitors
        Node ids, at most n // 8 - 1; by default as many as that, at random.
    faithful
        Do as IMSuite: n // 8 + 1 iterations, the coin always the same, as many rounds of votes as the
        smallest eccentricity among the first g = n - t nodes (a node without news repeats its own
        vote), and counts for these g only.
    """

    votes: Sequence[int] | None = None
    traitors: Sequence[bsp.Node] | None = None

    name = "by"
    outputs = {
        "decision": bsp.Output("what the node decided"),
        "vote": bsp.Output("what the node voted for at first"),
        "traitor": bsp.Output("whether the node is a traitor"),
    }
    fields = {"vote": np.int8, "news": np.uint64, "ones": np.uint64, "times": np.int64}
    needs = ("connected",)
    state = State
    fair_coin: ClassVar[bool] = True
    """Whether the coin has two sides."""

    def widths(self, n: int) -> dict[str, int]:
        return dict.fromkeys(("news", "ones"), -(-n // 64))

    def check(self, c: bsp.Cluster) -> str | None:
        votes, traitors, most = self.votes, self.betrayers(c.n), max(c.n // 8 - 1, 0)
        if votes is not None and (len(votes) != c.n or not np.isin(votes, (0, 1)).all()):
            return f"votes must be 0 or 1 for each of {c.n} nodes"
        for node in traitors:
            if wrong := bsp.no_node("traitor", node, c.n):
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
        return sorted(np.argsort(drawn, kind="stable")[: max(n // 8 - 1, 0)].tolist())

    def program(self, net: bsp.Net) -> bsp.Program:
        iteration, undecided = 0, True
        while undecided:
            fresh = yield bsp.Round(self.say, self.hear)
            if fresh.any:
                yield from bsp.until_quiet(self.forward, self.hear_more)
            left = yield bsp.Round(self.decide, closing=True, iteration=iteration)
            iteration, undecided = iteration + 1, left.any

    def start(self, c: bsp.Cluster) -> State:
        if self.votes is None:
            votes = (uniform("counter", self.seed, c.ids, VOTES) < 0.5).astype(np.int8)
        else:
            votes = np.asarray(self.votes)[c.ids].astype(np.int8)
        own = np.zeros((c.size, self.widths(c.n)["news"]), np.uint64)
        own[np.arange(c.size), c.ids // 64] = bit_of(c.ids)
        return self.state.of(  # type: ignore[return-value]
            c,
            vote=votes,
            opinion=votes.copy(),
            traitor=np.isin(c.ids, self.betrayers(c.n)),
            lies=self.lies(c),
            own=own,
            known=own.copy(),
            ones=np.zeros_like(own),
            news=own,
        )

    def lies(self, c: bsp.Cluster) -> tuple[NDArray, NDArray]:
        """Votes of each traitor for each neighbour: entries of the adjacency, and votes."""
        at, ends = c.edges(np.arange(c.size))
        entry = np.flatnonzero(np.isin(c.ids, self.betrayers(c.n))[at])
        pair = c.ids[at[entry]] * c.n + ends[entry]
        return entry, (uniform("counter", self.seed, pair, LIES) < 0.5).astype(np.int8)

    def say(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        at, ends, votes = self.ballots(c, s)
        return bsp.unicast(ends.astype(np.int64), at, vote=votes)

    def ballots(self, c: bsp.Cluster, s: State) -> tuple[NDArray, NDArray, NDArray]:
        """Begin an iteration: of each edge the sender, the receiver, and the vote."""
        s.known, s.ones = s.own.copy(), np.zeros_like(s.own)
        at, ends = c.edges(np.arange(c.size))
        votes = s.opinion[at]
        entry, lie = s.lies
        votes[entry] = lie
        return at, ends, votes

    def hear(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        node, source = inbox.node, inbox.src
        s.news, new_ones = np.zeros_like(s.own), np.zeros_like(s.own)
        np.bitwise_or.at(s.news, (node, source // 64), bit_of(source))
        one = inbox["vote"] == 1
        np.bitwise_or.at(new_ones, (node[one], source[one] // 64), bit_of(source[one]))
        s.known |= s.news
        s.ones |= new_ones
        return bsp.vote(any=s.news.any())

    def forward(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return self.pass_news(s, np.bitwise_count(s.news).sum(axis=1, dtype=np.int64))

    def pass_news(self, s: State, times: NDArray) -> bsp.Broadcast:
        """Nodes send their news, which counts as `times` messages."""
        nodes = np.flatnonzero(times)
        news, times = s.news[nodes], times[nodes]
        return bsp.broadcast(nodes, repeat=times, news=news, ones=s.ones[nodes] & news, times=times)

    def hear_more(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        nodes = take_news(s, inbox)
        _, ones = inbox.union("ones")
        s.ones[nodes] |= ones & s.news[nodes]
        return bsp.vote(any=s.news.any())

    def decide(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, iteration: int) -> bsp.Vote:
        low, high, sure = 5 * c.n // 8 + 1, 3 * c.n // 4 + 1, 7 * c.n // 8
        coin = uniform("counter", self.seed, np.array([iteration]), COIN)[0] < 0.5
        threshold = high if coin and self.fair_coin else low
        ones = np.bitwise_count(s.ones).sum(axis=1, dtype=np.int64) + s.opinion
        zeros = np.bitwise_count(s.known).sum(axis=1, dtype=np.int64) - ones
        majority = (ones > zeros).astype(np.int8)
        tally = np.maximum(ones, zeros)
        s.opinion = np.where(tally > threshold, majority, 0).astype(np.int8)
        now = (tally > sure) & ~s.decided
        s.decision[now] = majority[now]
        s.decided |= now
        return bsp.vote(any=(~s.decided & ~s.traitor).any())


def bit_of(nodes: NDArray) -> NDArray[np.uint64]:
    """The bit of each node in its word of a bitmap."""
    return np.uint64(1) << (nodes % 64).astype(np.uint64)


def take_news(s: State, inbox: bsp.Inbox) -> NDArray:
    """Take in bitmaps of sources: those that are new become `news`. Returns the receivers."""
    nodes, news = inbox.union("news")
    s.news = np.zeros_like(s.own)
    s.news[nodes] = news & ~s.known[nodes]
    s.known |= s.news
    return nodes
