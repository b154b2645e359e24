"""Byzantine agreement with a common coin (Rabin 1983; Motwani and Raghavan 1995, section 12.6; IMSuite
byzantine), on any connected graph.

In each iteration each node learns the votes of all others. It takes the vote of the majority if more than
a threshold, which the coin selects, agree; if almost all agree it decides. Traitors send each neighbour
another vote; fewer than an eighth of the nodes cannot stop the others from deciding alike.

On a graph that is not complete votes are relayed, and traitors relay what they receive, unchanged. So any
connected graph will do. If t traitors lie about the votes of others, or relay nothing, agreement needs
2 t + 1 disjoint paths between any two nodes (Dolev 1982, "The Byzantine generals strike again").
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


def alone(c: bsp.Cluster) -> NDArray[np.uint64]:
    """For each node the set that holds it alone."""
    return bitmaps.singletons(c.ids, c.n)


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know. Sets of nodes are bitmaps (`dgsuite.kernels.tools.bitmaps`), shape
    (size, words): where a traitor votes 0 to one node and 1 to another, 1 wins.
    """

    vote: NDArray[np.int8]  # first vote
    opinion: NDArray[np.int8]  # present vote
    traitor: NDArray[np.bool_]
    lies: tuple[NDArray, NDArray]  # entries of the adjacency of traitors, and what they vote there
    own: NDArray[np.uint64] = bsp.initial(alone)  # the node itself
    known: NDArray[np.uint64] = bsp.initial(alone)  # nodes of which the vote is known
    ones: NDArray[np.uint64] = bsp.initial(lambda c: np.zeros_like(alone(c)))  # that vote 1
    news: NDArray[np.uint64] = bsp.initial(alone)  # of which it became known in this round
    decision: NDArray[np.int8] = bsp.per_node(0, np.int8)
    decided: NDArray[np.bool_] = bsp.per_node(False)


@dataclass(frozen=True)
class Byzantine(bsp.Kernel):
    """Agreement on one of two values, although some nodes lie about their own vote.

    A traitor tells each neighbour another vote, drawn once: a neighbour hears the same lie in all iterations.
    What traitors receive they relay unchanged, so a connected graph will do. If t of them lied about the
    votes of others, agreement would need a graph of connectivity 2 t + 1 (Dolev 1982).

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

    Notes
    -----
    Rounds: ``diameter + 1`` in each iteration at most; a constant number of iterations is expected.

    Exchanges: at most ``rounds``.

    Messages: ``2 * m * n`` in each iteration at most: every node passes every vote on once.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("by", graph, votes=[1, 1, 1, 1]).decision.values
    array([1, 1, 1, 1], dtype=int8)
    """

    votes: Sequence[int] | None = None
    traitors: Sequence[bsp.Node] | None = None

    name = "by"
    obeys = bsp.Model("edges", None, "control")
    outputs = {
        "decision": bsp.Output("what the node decided"),
        "vote": bsp.Output("what the node voted for at first"),
        "traitor": bsp.Output("whether the node is a traitor"),
    }
    fields = {"vote": np.int8, "news": np.uint64, "ones": np.uint64, "times": np.int64}
    # a message tells the vote of one node; `news` and `ones` hold those of several, sent one by one
    ranges = {"news": bsp.nodes, "times": bsp.values(1)}
    ranges |= dict.fromkeys(("vote", "ones"), bsp.values(2))
    bounds = {"news": None, "ones": None, "times": None}  # sets of nodes, a bit each
    needs = ("connected",)
    state = State

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
        traitor, lies = np.isin(c.ids, self.betrayers(c.n)), self.lies(c)
        given = {"vote": votes, "opinion": votes.copy(), "traitor": traitor, "lies": lies}
        return self.state.of(c, **given)  # type: ignore[return-value]

    def lies(self, c: bsp.Cluster) -> tuple[NDArray, NDArray]:
        """Votes of each traitor for each neighbour: entries of the adjacency, and votes."""
        at, ends = c.edges(np.arange(c.size))
        entry = np.flatnonzero(np.isin(c.ids, self.betrayers(c.n))[at])
        pair = pair_key(c.ids[at[entry]], ends[entry], c.n)
        return entry, (uniform("counter", self.seed, pair, LIES) < 0.5).astype(np.int8)

    def program(self, net: bsp.Net) -> bsp.Program:
        iteration, undecided = 0, True
        while undecided:
            yield from self.exchange_votes()
            left = yield bsp.Round(self.decide, closing=True, iteration=iteration)
            iteration, undecided = iteration + 1, left.any

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

    def coin(self, iteration: int) -> bool:
        """The common coin, which all nodes see alike."""
        return bool(uniform("counter", self.seed, np.array([iteration]), COIN)[0] < 0.5)

    def decide(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, iteration: int) -> bsp.Vote:
        low, high, sure = 5 * c.n // 8 + 1, 3 * c.n // 4 + 1, 7 * c.n // 8
        threshold = high if self.coin(iteration) else low
        ones = bitmaps.sizes(s.ones) + s.opinion
        zeros = bitmaps.sizes(s.known) - ones
        majority, tally = (ones > zeros).astype(np.int8), np.maximum(ones, zeros)
        s.opinion = np.where(tally > threshold, majority, 0).astype(np.int8)
        now = (tally > sure) & ~s.decided
        s.decision[now] = majority[now]
        s.decided |= now
        return bsp.vote(any=(~s.decided & ~s.traitor).any())


def take_news(s: State, inbox: bsp.Inbox) -> NDArray:
    """Take in sets of nodes: those that were not known become `news`. Returns the receivers."""
    nodes, news = inbox.reduce("or", "news")
    s.news = np.zeros_like(s.own)
    s.news[nodes] = news & ~s.known[nodes]
    s.known |= s.news
    return nodes
