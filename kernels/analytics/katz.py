"""Katz centrality (Katz 1953): the walks that end at a node, each counted less the longer it is.

x(v) = alpha (sum of x(u) over edges u -> v) + beta
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.iterated import Iterated, Step

HUGE = 1e150
"""Values above it show that the sum over all walks is infinite; their squares still add up."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    centrality: NDArray[np.float64] = bsp.per_node(0.0)


@dataclass(frozen=True)
class Katz(Iterated):
    """Katz centrality, of directed and undirected graphs, as in networkx.

    Output ``centrality``, float64.

    Parameters
    ----------
    alpha
        What an edge more multiplies a walk by. Above 0, and less than 1 over the largest eigenvalue of the
        adjacency: else values grow without limit, and the run is an error.
    beta
        What every node has of its own.
    normalised
        Whether to scale the values so that their squares add up to 1.

    Notes
    -----
    Rounds: at most `iterations`, or 1000 where only a tolerance is given.

    Messages: exactly ``rounds * arcs``: a node sends its value to each neighbour.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("katz", graph, alpha=0.1).centrality.round(3).values
    array([0.501, 0.501, 0.542, 0.451])
    """

    alpha: float = 0.1
    beta: float = 1.0
    normalised: bool = True

    name = "katz"
    outputs = {"centrality": bsp.Output("Katz centrality")}
    state = State

    def check(self, c: bsp.Cluster) -> str | None:
        if not 0 < self.alpha < HUGE:
            return f"alpha must be above 0 and less than {HUGE}, got {self.alpha!r}"
        if not 0 < self.beta < HUGE:
            return f"beta must be above 0 and less than {HUGE}, got {self.beta!r}"
        return super().check(c)

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from super().program(net)
        if self.normalised:
            squares = yield bsp.Round(self.square, closing=True)
            yield bsp.Round(self.scale, closing=True, length=sqrt(squares.sum))

    def step(self, power: int) -> Step:
        return (yield bsp.Round(self.spread, self.gather, power=power))

    def spread(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(value=s.centrality)

    def gather(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, power: int) -> bsp.Vote | None:
        half = power // 2  # 2 to the whole power may be no float64
        alpha = self.alpha * 2.0**half * 2.0 ** (power - half)
        old, sums = s.centrality, self.sums(c, inbox, power, s.centrality)
        if alpha < inf:
            s.centrality = alpha * sums + self.beta
        if not alpha < inf or s.centrality.max(initial=0) > HUGE:
            raise OverflowError(
                f"alpha={self.alpha} must be less than 1 over the largest eigenvalue of the adjacency"
            )
        return self.moved(s.centrality, old)

    def square(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        return bsp.vote(sum=s.centrality**2)

    def scale(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, length: float) -> None:
        s.centrality = s.centrality / length
