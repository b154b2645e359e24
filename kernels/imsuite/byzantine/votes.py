"""The exchange of votes in Byzantine agreement, on any connected graph.

Each node sends its vote to its neighbours. All votes then flood the graph, until no node learns of
another one. Traitors send each neighbour a vote of its own, but pass on what they receive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.pairs import pair_key
from dgsuite.kernels import bsp
from dgsuite.kernels.tools import bitmaps
from dgsuite.kernels.tools.rng import uniform

VOTES, TRAITORS, LIES, COIN = range(4)
"""What random numbers are for."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know. Sets of nodes are bitmaps (`dgsuite.kernels.tools.bitmaps`), shape
    (size, words): where a traitor votes 0 to one node and 1 to another, 1 wins.
    """

    vote: NDArray[np.int8]  # first vote
    opinion: NDArray[np.int8]  # present vote
    traitor: NDArray[np.bool_]
    lies: tuple[NDArray, NDArray]  # entries of the adjacency of traitors, and what they vote there
    own: NDArray[np.uint64]  # the node itself
    known: NDArray[np.uint64]  # nodes of which the vote is known
    ones: NDArray[np.uint64]  # those of them that vote 1
    news: NDArray[np.uint64]  # nodes of which the vote became known in this round


@dataclass(frozen=True)
class VoteExchange(bsp.Kernel):
    """Rounds in which each node learns the votes of all others; `Byzantine` describes the parameters."""

    votes: Sequence[int] | None = None
    traitors: Sequence[bsp.Node] | None = None

    fields = {"vote": np.int8, "news": np.uint64, "ones": np.uint64, "times": np.int64}
    # a message tells the vote of one node; `news` and `ones` hold those of several, sent one by one
    ranges = {
        "vote": bsp.values(2),
        "news": bsp.nodes,
        "ones": bsp.values(2),
        "times": bsp.values(1),
    }
    bounds = {"news": None, "ones": None, "times": None}  # sets of nodes, a bit each

    def widths(self, n: int) -> dict[str, int]:
        return dict.fromkeys(("news", "ones"), bitmaps.words(n))

    def check(self, c: bsp.Cluster) -> str | None:
        votes, traitors, most = self.votes, self.betrayers(c.n), max(c.n // 8 - 1, 0)
        if votes is not None and (len(votes) != c.n or not np.isin(votes, (0, 1)).all()):
            return f"votes must be 0 or 1 for each of {c.n} nodes"
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

    def start(self, c: bsp.Cluster) -> State:
        if self.votes is None:
            votes = (uniform("counter", self.seed, c.ids, VOTES) < 0.5).astype(np.int8)
        else:
            votes = np.asarray(self.votes)[c.ids].astype(np.int8)
        own = bitmaps.singletons(c.ids, c.n)
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
        pair = pair_key(c.ids[at[entry]], ends[entry], c.n)
        return entry, (uniform("counter", self.seed, pair, LIES) < 0.5).astype(np.int8)

    def exchange_votes(self) -> bsp.Program:
        """Every node learns the votes of all nodes."""
        fresh = yield bsp.Round(self.say, self.hear)
        if fresh.any:
            yield from bsp.until_quiet(self.forward, self.hear_more)

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
        node, source, one = inbox.node, inbox.src, inbox["vote"] == 1
        s.news, ones = np.zeros_like(s.own), np.zeros_like(s.own)
        bitmaps.add(s.news, node, source)
        bitmaps.add(ones, node[one], source[one])
        s.known |= s.news
        s.ones |= ones
        return bsp.vote(any=s.news.any())

    def forward(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return self.pass_news(s, bitmaps.sizes(s.news))

    def pass_news(self, s: State, times: NDArray) -> bsp.Broadcast:
        """Nodes send their news, which counts as `times` messages."""
        nodes = np.flatnonzero(times)
        news, times = s.news[nodes], times[nodes]
        return bsp.broadcast(nodes, repeat=times, news=news, ones=s.ones[nodes] & news, times=times)

    def hear_more(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        nodes = take_news(s, inbox)
        _, ones = inbox.reduce("or", "ones")
        s.ones[nodes] |= ones & s.news[nodes]
        return bsp.vote(any=s.news.any())


def take_news(s: State, inbox: bsp.Inbox) -> NDArray:
    """Take in sets of nodes: those that were not known become `news`. Returns the receivers."""
    nodes, news = inbox.reduce("or", "news")
    s.news = np.zeros_like(s.own)
    s.news[nodes] = news & ~s.known[nodes]
    s.known |= s.news
    return nodes
