"""Trusses (Cohen 2008) by bounds that sink (Sariyuce, Seshadhri and Pinar 2018, "Local algorithms for
hierarchical dense subgraph discovery").

An edge can be in so many triangles as b of a set only if b of its triangles have two other edges that can be
in as many. Both ends of an edge keep a bound of it, and lower it by the bounds of their neighbours' edges
until none is too high.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
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


@dataclass(frozen=True)
class KTruss(bsp.Kernel):
    """The largest k such that the node is in the k-truss.

    The k-truss is the largest set of edges of which each is in k - 2 triangles or more of the set.
    Outputs ``truss``: 2 where the node is in no triangle, 0 where it has no edge. Nodes with k or more are
    those of the k-truss, though not every edge between two of them is in it.

    Notes
    -----
    Rounds: at most ``m + 1``; mostly far fewer.

    Messages: at most ``rounds * 2 * m``: nodes with a lower bound send their bounds to each neighbour.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("ktruss", graph).truss.values
    array([3, 3, 3, 2], dtype=int32)
    """

    name = "ktruss"
    short_ids = True
    outputs = {"truss": bsp.Output("largest k of whose k-truss the node is part")}
    fields = {"neighbour": np.int32, "bound": np.int32}
    ranges = {"neighbour": bsp.nodes, "bound": bsp.nodes}
    refuses = bsp.no_faults(bsp.SHARES_LISTS)
    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        left = yield bsp.Round(self.introduce, self.count)
        if left.any:
            yield from bsp.until_quiet(self.tell, self.sink)

    def introduce(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Share:
        nodes = np.flatnonzero(c.degree)
        return bsp.share(nodes, c.degree[nodes], neighbour=c.indices)

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
        at, new = (
            ranges(s.lists.starts[nodes], lengths)[1],
            bounds[ranges(starts[nodes], lengths)[1]],
        )
        old, s.theirs[at] = s.theirs[at], new
        low, high = np.full((2, c.n), -1)
        if len(nodes):
            low[nodes] = np.minimum.reduceat(np.where(new < old, new, HIGH), heads)
            high[nodes] = np.maximum.reduceat(np.where(new < old, old, -1), heads)
        return self.lower(c, s, low, high)

    def lower(self, c: bsp.Cluster, s: State, low: NDArray, high: NDArray) -> bsp.Vote:
        """Lower the bounds of edges, where those from `low` to `high` of an end's edges have changed."""
        from dgsuite.kernels.analytics import _ktruss

        changed = np.zeros(c.size, bool)
        _ktruss.sink(
            c.indptr, c.indices, c.ids, *s.lists, s.theirs, s.bound, low, high, changed
        )  # fmt: skip
        s.fresh = np.flatnonzero(changed)
        edges = np.flatnonzero(c.degree)
        if len(edges):
            s.truss[edges] = np.maximum.reduceat(s.bound, c.indptr[edges]) + 2
        return bsp.vote(any=len(s.fresh) > 0)
