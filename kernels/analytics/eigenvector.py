"""Eigenvector centrality (Bonacich 1972), by power iteration.

A node's centrality is in proportion to the sum of the centralities of the nodes with an edge to it. Each
iteration adds that sum to the node's own value, and scales all values so that their squares add up to 1. To
add the own value changes no eigenvector, and makes the iteration converge on bipartite graphs, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.iterated import Iterated, Step


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    centrality: NDArray[np.float64] = bsp.initial(lambda c: c.full(1 / c.n))
    sums: NDArray[np.float64] = bsp.later()  # before they are scaled


@dataclass(frozen=True)
class Eigenvector(Iterated):
    """Eigenvector centrality, of directed and undirected graphs, as in networkx.

    Output ``centrality``, float64; the squares of all add up to 1.

    Notes
    -----
    Rounds: at most `iterations`, or 1000 where only a tolerance is given.

    Messages: exactly ``rounds * arcs``: a node sends its value to each neighbour.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("eigenvector", graph).centrality.round(3).values
    array([0.523, 0.523, 0.612, 0.282])
    """

    name = "eigenvector"
    outputs = {"centrality": bsp.Output("eigenvector centrality")}
    state = State

    def step(self, power: int) -> Step:
        squares = yield bsp.Round(self.spread, self.gather, power=power, opening=True)
        return (yield bsp.Round(self.scale, length=sqrt(squares.sum)))

    def spread(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(value=s.centrality)

    def gather(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, power: int) -> bsp.Vote:
        s.sums = s.centrality + self.sums(c, inbox, power, s.centrality)
        return bsp.vote(sum=s.sums**2)

    def scale(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, length: float) -> bsp.Vote | None:
        old, s.centrality = s.centrality, s.sums / length
        return self.moved(s.centrality, old)
