"""Dense parts of a graph: trusses, and the densest set.

Trusses (Cohen 2008) by bounds that sink (Sariyuce, Seshadhri and Pinar 2018, "Local algorithms for
hierarchical dense subgraph discovery").

An edge can be in so many triangles as b of a set only if b of its triangles have two other edges that can be
in as many. Both ends of an edge keep a bound of it, and lower it by the bounds of their neighbours' edges
until none is too high.

A dense subgraph by peeling in rounds (Bahmani, Kumar and Vassilvitskii, Densest subgraph in streaming and
MapReduce, PVLDB 5, 2012, algorithm 1; one node at a time, Charikar 2000).

In each round all nodes leave that have at most 1 + epsilon times the mean number of live neighbours. The best
of the sets on the way is the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import analytics, bsp
from dgsuite.kernels.analytics.triangles import SharesNeighbours
from dgsuite.partition.arrays.segments import ranges

HIGH = np.iinfo(np.int32).max
"""A bound before any is known."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    bound: NDArray[np.int32] = bsp.initial(lambda c: np.full(len(c.indices), HIGH, np.int32))
    truss: NDArray[np.int32] = bsp.per_node(0, np.int32)
    fresh: NDArray[np.int64] = bsp.no_nodes()  # nodes of whose edges a bound has changed
    lists: bsp.Shared = bsp.later()  # the neighbours of neighbours
    theirs: NDArray[np.int32] = bsp.later()  # bounds of the edges to them


class KTruss(SharesNeighbours):
    """The largest k such that the node is in the k-truss.

    The k-truss is the largest set of edges of which each is in k - 2 triangles or more of the set.
    Outputs ``truss``: 2 where the node is in no triangle, 0 where it has no edge. Nodes with k or more are
    those of the k-truss, though not every edge between two of them is in it.

    Notes
    -----
    Rounds: at most ``m + 1``; mostly far fewer.

    Exchanges: at most ``rounds``.

    Messages: at most ``rounds * 2 * m``: nodes with a lower bound send their bounds to each neighbour.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("ktruss", graph).truss.values
    array([3, 3, 3, 2], dtype=int32)
    """

    name = "ktruss"
    obeys = bsp.Model("edges", None, "control")
    outputs = {"truss": bsp.Output("largest k of whose k-truss the node is part")}
    fields = {"neighbour": np.int32, "bound": np.int32}
    ranges = {"neighbour": bsp.nodes, "bound": bsp.nodes}
    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        count = bsp.Round(self.introduce, self.count)
        yield from bsp.until_quiet(self.tell, self.sink, after=count)

    def count(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        s.lists = inbox.shared("neighbour")
        s.theirs = np.full(len(s.lists.values), HIGH, np.int32)
        return self.lower(c, s, np.full(c.n, -1), np.full(c.n, HIGH))

    def tell(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Share:
        _, entries = ranges(c.indptr[s.fresh], c.degree[s.fresh])
        return bsp.share(s.fresh, c.degree[s.fresh], bound=s.bound[entries])

    def sink(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        starts, ends, bounds = inbox.shared("bound")
        nodes = np.flatnonzero(ends > starts)
        lengths = ends[nodes] - starts[nodes]
        heads = np.cumsum(lengths) - lengths
        at = ranges(s.lists.starts[nodes], lengths)[1]
        new = bounds[ranges(starts[nodes], lengths)[1]]
        old, s.theirs[at] = s.theirs[at], new
        low, high = np.full((2, c.n), -1)
        if len(nodes):
            low[nodes] = np.minimum.reduceat(np.where(new < old, new, HIGH), heads)
            high[nodes] = np.maximum.reduceat(np.where(new < old, old, -1), heads)
        return self.lower(c, s, low, high)

    def lower(self, c: bsp.Cluster, s: State, low: NDArray, high: NDArray) -> bsp.Vote:
        """Lower the bounds of edges, where those from `low` to `high` of an end's edges have changed."""
        changed = np.zeros(c.size, bool)
        rows = c.indptr, c.indices, c.ids
        analytics._ktruss.sink(*rows, *s.lists, s.theirs, s.bound, low, high, changed)
        s.fresh = np.flatnonzero(changed)
        edges = np.flatnonzero(c.degree)
        if len(edges):
            s.truss[edges] = np.maximum.reduceat(s.bound, c.indptr[edges]) + 2
        return bsp.vote(any=len(s.fresh) > 0)


@dataclass(eq=False)
class DensestState(bsp.ClusterState):
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

    Exchanges: at most ``rounds``.

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
    obeys = bsp.Model("edges", reduces="data")
    streams = True
    outputs = {"densest": bsp.Output("whether the node is in the dense set")}
    notes = {
        "nodes_left": "nodes of the set that the round began with",
        "degrees_left": "their degrees within the set, together",
    }
    state = DensestState

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

    def count(self, c: bsp.Cluster, s: DensestState, inbox: bsp.Inbox) -> bsp.Sent:
        """Nodes take off the neighbours that left; live ones vote how many they have."""
        nodes, gone, _ = inbox.count()
        s.neighbours[nodes] -= gone.astype(np.int32)
        degrees = int(s.neighbours[s.live].sum())
        return bsp.vote(sum=degrees), bsp.Note({"nodes_left": len(s.live), "degrees_left": degrees})

    def peel(self, c: bsp.Cluster, s: DensestState, inbox: bsp.Inbox, most: int) -> bsp.Sent:
        goes = s.neighbours[s.live] <= most
        due, s.live = s.live[goes], s.live[~goes]
        s.stays[s.live] += 1
        return bsp.broadcast(due), bsp.vote(sum=len(due))

    def keep(self, c: bsp.Cluster, s: DensestState, inbox: bsp.Inbox, best_round: int) -> None:
        s.densest = s.stays >= best_round
