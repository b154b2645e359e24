"""A dense subgraph by peeling in rounds (Bahmani, Kumar and Vassilvitskii, Densest subgraph in streaming and
MapReduce, PVLDB 5, 2012, algorithm 1; one node at a time, Charikar 2000).

In each round all nodes leave that have at most 1 + epsilon times the mean number of live neighbours. The best
of the sets on the way is the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    neighbours: NDArray[np.int32] = bsp.initial(lambda c: c.degree.astype(np.int32))  # live ones
    live: NDArray[np.int64] = bsp.every_node()
    stays: NDArray[np.int32] = bsp.per_node(0, np.int32)  # rounds that the node has stayed for
    densest: NDArray[np.bool_] = bsp.per_node(True)


@dataclass(frozen=True)
class Densest(bsp.Kernel):
    """A set of nodes with many edges between them for its size.

    Output ``densest``. The edges between its nodes over their number, the density, are at least those of any
    set over ``2 + 2 * epsilon``. Of sets on the way that are equally dense it is the largest. ``nodes_left``
    counts the set that each round began with, and ``degrees_left`` adds up its degrees, twice its edges: so
    the density of the result is half of the largest ``degrees_left / nodes_left``. Weights do not count.

    Parameters
    ----------
    epsilon
        From 0 on: more takes fewer rounds, and may find a set that is less dense.

    Notes
    -----
    Rounds: at most ``n``, and for an epsilon above 0 about ``log(n) / log(1 + epsilon)``.

    Messages: exactly ``2 * m``: a node sends once to each neighbour, when it leaves.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 0, 0, 1, 1, 2, 3, 4], [1, 2, 3, 2, 3, 3, 4, 5])
    >>> ds = dgsuite.run("densest", graph)
    >>> ds.densest.values
    array([ True,  True,  True,  True, False, False])
    >>> float((ds.degrees_left / ds.nodes_left).max() / 2)
    1.5
    """

    epsilon: float = 0.1

    name = "densest"
    streams = True
    outputs = {"densest": bsp.Output("whether the node is in the dense set")}
    notes = {
        "nodes_left": "nodes of the set that the round began with",
        "degrees_left": "their degrees within the set, together",
    }
    state = State

    def check(self, c: bsp.Cluster) -> str | None:
        if 0 <= self.epsilon < np.inf:
            return None
        return f"epsilon must be from 0 on and finite, got {self.epsilon}"

    def program(self, net: bsp.Net) -> bsp.Program:
        nodes, best, best_round, number = net.n, Fraction(-1), 0, 0
        while nodes:
            degrees = yield bsp.Round(self.count, opening=True)
            mean = Fraction(int(degrees.sum), nodes)
            if mean > best:
                best, best_round = mean, number
            most = int((1 + Fraction(self.epsilon)) * mean)
            gone = yield bsp.Round(self.peel, most=most)
            nodes, number = nodes - int(gone.sum), number + 1
        yield bsp.Round(self.keep, best_round=best_round, closing=True)

    def count(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> tuple[bsp.Vote, bsp.Note]:
        """Nodes take off the neighbours that left; live ones vote how many they have."""
        nodes, gone, _ = inbox.count()
        s.neighbours[nodes] -= gone.astype(np.int32)
        degrees = int(s.neighbours[s.live].sum())
        left = {"nodes_left": len(s.live), "degrees_left": degrees}
        return bsp.vote(sum=degrees), bsp.Note(left)

    def peel(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, most: int
    ) -> tuple[bsp.Broadcast, bsp.Vote]:
        goes = s.neighbours[s.live] <= most
        due, s.live = s.live[goes], s.live[~goes]
        s.stays[s.live] += 1
        return bsp.broadcast(due), bsp.vote(sum=len(due))

    def keep(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, best_round: int) -> None:
        s.densest = s.stays >= best_round
