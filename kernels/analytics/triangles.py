"""Triangles and squares of a node's neighbours.

Triangles and clustering coefficients, by lists of neighbours of higher rank.

Nodes are ranked by degree, then id, and each shares with its neighbours the list of its neighbours of higher
rank (Chiba and Nishizeki 1985; Latapy 2008): hubs have short lists. The node of lowest rank of a triangle
finds it: an edge between two nodes of its list is in the list of one of them. It then shares in how many of
its triangles each node of its list is. Where degrees are skewed, most of these edges join nodes of high rank.
So each cluster keeps the lists of those of highest rank, its *core*, as rows of bits, of which a processor
compares 64 and more at a time. Where all nodes have few neighbours, there is no core: two lists are read side
by side.

Local clustering coefficients (Watts and Strogatz 1998), as LDBC Graphalytics defines them.

Clustering by squares: cycles of four nodes, by lists of neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import analytics, bsp
from dgsuite.partition.clusters.cluster import IN, OUT

CORE = 1 << 14
"""Nodes in the core at most: their lists as bits take 32 MiB."""


class SharesNeighbours(bsp.Kernel):
    """A kernel whose nodes share lists of neighbours."""

    obeys = bsp.Model("edges", None)
    short_ids = True
    refuses = bsp.no_faults(bsp.SHARES_LISTS)

    def introduce(self, c: bsp.Cluster, s: bsp.ClusterState, inbox: bsp.Inbox) -> bsp.Share:
        """Each node shares all its neighbours."""
        nodes = np.flatnonzero(c.degree)
        return bsp.share(nodes, c.degree[nodes], neighbour=c.indices)


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    triangles: NDArray[np.int64] = bsp.per_node(0)
    # nodes of highest rank that it has as neighbours, by falling rank
    core: NDArray[np.int64] = bsp.later()
    # nodes that have a list, its length, and the items of all, list by list
    own: tuple[NDArray[np.int64], NDArray[np.int64], NDArray] = bsp.later()
    lists: bsp.Shared = bsp.later()  # the neighbours' lists
    coefficient: NDArray[np.float64] = bsp.later()
    mutual: NDArray[np.int64] = bsp.later()  # pairs of neighbours with an edge each way


class Triangles(SharesNeighbours):
    """How many triangles each node is in; the sum is three times their number.

    Outputs ``triangles``.

    Notes
    -----
    Rounds: exactly ``1``.

    Exchanges: at most ``3``.

    Messages: at most ``6 * m``: a node sends its degree, then two lists, to each neighbour.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("triangles", graph).triangles.values
    array([1, 1, 1, 0])
    """

    name = "triangles"
    outputs = {"triangles": bsp.Output("triangles that the node is in")}
    fields = {"degree": np.int32, "neighbour": np.int32, "triangles": np.int32}
    ranges = {"degree": bsp.nodes, "neighbour": bsp.nodes, "triangles": lambda n: n * n}
    state = State

    def extra_bytes(self, n: int, nodes: int, entries: int) -> int:
        return 4 * entries  # lists of neighbours, its own and those that come

    def program(self, net: bsp.Net) -> bsp.Program:
        yield bsp.Round(self.weigh, self.point, self.close, self.add)

    def weigh(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(degree=c.degree)

    def point(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Share:
        most = min(CORE, isqrt(16 * len(c.indices)))
        nodes, lengths, items, higher, s.core = ranked(c, inbox, most)
        s.own = nodes, lengths, items
        return bsp.share(nodes, lengths, neighbour=items, **self.more(c, higher))

    def more(self, c: bsp.Cluster, higher: NDArray[np.bool_]) -> dict[str, NDArray]:
        """What lists say besides, of the neighbours at some entries of the adjacency."""
        return {}

    def close(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Share | None:
        s.lists, loops = inbox.shared("neighbour"), analytics._triangles
        nodes, lengths, items = s.own
        times = np.zeros(len(items), np.int32)
        how = *s.own, *s.lists, times, s.triangles
        if len(s.core):
            place = places(c, s.core)
            loops.counted(*how, place, loops.rows_of(s.core, *s.lists, place, True))
        else:
            loops.merged(*how)
        if not s.triangles.any():
            return None
        some = s.triangles[nodes] > 0
        times = times[np.repeat(some, lengths)]
        return bsp.share(nodes[some], lengths[some], triangles=times)

    def add(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        if len((theirs := inbox.shared("triangles")).values):
            s.triangles += analytics._triangles.added(*s.lists, *theirs)[c.ids]


def ranked(c: bsp.Cluster, inbox: bsp.Inbox, most: int = 0) -> tuple[NDArray, ...]:
    """Neighbours of a cluster's nodes by rank, where all nodes have sent their ``degree``.

    Parameters
    ----------
    most
        Size of the core, at most.

    Returns
    -------
    nodes, lengths, items
        Nodes that have neighbours of higher rank, how many each has, and these, node by node.
    higher
        Which entries of the adjacency lead there.
    core
        Neighbours of highest rank, the highest first; none where all nodes have few neighbours.
    """
    nodes, lengths = np.empty((2, c.size), np.int64)
    items, higher = np.empty_like(c.indices), np.empty(len(c.indices), bool)
    if not len(items):
        return nodes[:0], lengths[:0], items, higher, nodes[:0]
    indptr, slots, degrees = inbox.latest("degree")
    loops, slots = analytics._triangles, slots[indptr[0] : indptr[-1]]
    most = min(most, len(degrees)) if degrees.max() >= loops.MAX_TESTED else 0
    rank = int(np.partition(degrees, -most)[-most]) if most else np.iinfo(degrees.dtype).max
    least, hubs = max(rank, loops.MAX_TESTED), np.zeros(c.n if most else 0, degrees.dtype)
    how = c.indptr, c.indices, slots, degrees, c.ids, least, hubs
    rows, count = loops.above(*how, nodes, lengths, items, higher)
    core = np.flatnonzero(hubs)
    core = core[np.lexsort((core, hubs[core]))[::-1][:most]]
    return nodes[:rows], lengths[:rows], items[:count], higher, core


def places(c: bsp.Cluster, core: NDArray) -> NDArray[np.int32]:
    """By node id, the place in the core, or -1."""
    place = np.full(c.n, -1, np.int32)
    place[core] = np.arange(len(core))
    return place


class ClusteringCoefficient(Triangles):
    """Local clustering coefficients, as LDBC Graphalytics defines them; of directed graphs, too.

    Outputs ``coefficient``: of the pairs of neighbours of each node, the share that an edge joins; 0 where
    there is no pair. On a directed graph neighbours are those along edges in any direction, and a pair with
    an edge each way counts twice as much as one with an edge one way. Weights do not count.

    Notes
    -----
    Rounds: exactly ``1``.

    Exchanges: at most ``3``.

    Messages: at most ``6 * m``: a node sends its degree, then two lists, to each neighbour.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("lcc", graph).coefficient.round(3).values
    array([1.   , 1.   , 0.333, 0.   ])
    """

    name = "lcc"
    outputs = {"coefficient": bsp.Output("local clustering coefficient")}
    fields = {**Triangles.fields, "mutual": np.bool_}
    both_ways = True

    def more(self, c: bsp.Cluster, higher: NDArray[np.bool_]) -> dict[str, NDArray]:
        return {} if c.directions is None else {"mutual": c.directions[higher] == IN | OUT}

    def close(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Share | None:
        if c.directions is not None:
            starts, ends, nodes = inbox.shared("neighbour")
            mutual = inbox.shared("mutual").values
            before = np.concatenate([[0], np.cumsum(mutual)])
            lists = bsp.Shared(before[starts], before[ends], nodes[mutual])
            place, loops = places(c, s.core), analytics._triangles
            rows = loops.rows_of(s.core, *lists, place, False)
            s.mutual = loops.closed(c.indptr, c.indices, *lists, place, rows)
        return super().close(c, s, inbox)

    def add(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        super().add(c, s, inbox)
        joined = s.triangles + (s.triangles if c.directions is None else s.mutual)  # ordered pairs
        s.coefficient = joined / np.maximum(c.degree * (c.degree.astype(np.int64) - 1), 1)


@dataclass(eq=False)
class SquareState(bsp.ClusterState):
    """What the nodes of a cluster know."""

    coefficient: NDArray[np.float64] = bsp.per_node(0.0)


class SquareClustering(SharesNeighbours):
    """The share of possible squares at each node that are there.

    Outputs ``coefficient`` (Zhang et al. 2008, "Clustering coefficient and community structure of bipartite
    networks"). A pair of neighbours u and w of a node has q squares with it, one for each other
    node that both have as neighbour; it could have ``q + (k(u) - 1 - q - t) + (k(w) - 1 - q - t)``, where k
    is the number of neighbours, and t is 1 if an edge joins u and w. The coefficient is the sum of the former
    over that of the latter; 0 where that is 0. Weights do not count.

    A worker holds the lists of its nodes and of their neighbours. Time grows with the sum of squares of
    degrees.

    Notes
    -----
    Rounds: exactly ``1``.

    Exchanges: at most ``rounds``.

    Messages: at most ``2 * m``: a node sends its list to each neighbour.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 3, 3], [1, 2, 3, 0, 4])
    >>> dgsuite.run("square_clustering", graph).coefficient.round(3).values
    array([0.5  , 1.   , 0.5  , 0.333, 0.   ])
    """

    name = "square_clustering"
    outputs = {"coefficient": bsp.Output("clustering coefficient of squares")}
    fields = {"neighbour": np.int32}
    ranges = {"neighbour": bsp.nodes}
    state = SquareState

    def program(self, net: bsp.Net) -> bsp.Program:
        yield bsp.Round(self.introduce, self.close)

    def close(self, c: bsp.Cluster, s: SquareState, inbox: bsp.Inbox) -> None:
        lists, degree = inbox.shared("neighbour"), c.degree.astype(np.int64)
        joint, squares = two_hops(c, lists)
        near = sums(c, (lists.ends - lists.starts)[c.indices])
        possible = (degree - 1) * (near - degree) - sums(c, joint) - squares
        np.divide(squares, possible, out=s.coefficient, where=possible > 0)


def two_hops(c: bsp.Cluster, lists: bsp.Shared) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """By entry of the adjacency the triangles that the edge is in; by node its cycles of four nodes."""
    joint, squares = np.zeros(len(c.indices), np.int64), np.zeros(c.size, np.int64)
    analytics._motifs.two_hops(c.indptr, c.indices, c.ids, *lists, joint, squares)
    return joint, squares


def sums(c: bsp.Cluster, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sums of whole numbers over the entries of each node."""
    before = np.concatenate([[0], np.cumsum(values)])
    found: NDArray[np.int64] = before[c.indptr[1:]] - before[c.indptr[:-1]]
    return found
