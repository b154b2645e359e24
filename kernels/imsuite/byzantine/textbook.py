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

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.imsuite.byzantine import votes as byzantine_votes
from dgsuite.kernels.imsuite.byzantine.votes import COIN, VoteExchange
from dgsuite.kernels.tools import bitmaps
from dgsuite.kernels.tools.rng import uniform


@dataclass(eq=False)
class State(byzantine_votes.State):
    """What the nodes of a cluster know."""

    decision: NDArray[np.int8] = bsp.per_node(0, np.int8)
    decided: NDArray[np.bool_] = bsp.per_node(False)


@dataclass(frozen=True)
class Byzantine(VoteExchange):
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

    name = "by"
    obeys = bsp.Model("edges", None, "control")
    outputs = {
        "decision": bsp.Output("what the node decided"),
        "vote": bsp.Output("what the node voted for at first"),
        "traitor": bsp.Output("whether the node is a traitor"),
    }
    needs = ("connected",)
    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        iteration, undecided = 0, True
        while undecided:
            yield from self.exchange_votes()
            left = yield bsp.Round(self.decide, closing=True, iteration=iteration)
            iteration, undecided = iteration + 1, left.any

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
