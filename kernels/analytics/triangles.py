"""Triangles and clustering coefficients, by lists of neighbours of higher rank.

Nodes are ranked by degree, then id, and each shares with its neighbours the list of its neighbours of higher
rank (Chiba and Nishizeki 1985; Latapy 2008): hubs have short lists. The node of lowest rank of a triangle
finds it: an edge between two nodes of its list is in the list of one of them. It then shares in how many of
its triangles each node of its list is. Where degrees are skewed, most of these edges join nodes of high rank.
So each cluster keeps the lists of those of highest rank, its *core*, as rows of bits, of which a processor
compares 64 and more at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.partition.arrays.segments import ranges

CORE = 1 << 14
"""Nodes in the core at most: their lists as bits take 32 MiB."""


def compiled() -> Any:
    """The compiled loops; they take a moment to import."""
    from dgsuite.kernels.analytics import _triangles

    return _triangles


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    triangles: NDArray[np.int64] = bsp.per_node(0)
    # nodes of highest rank that it has as neighbours, by falling rank
    core: NDArray[np.int64] = bsp.later()
    lengths: NDArray[np.int64] = bsp.later()  # of each node's list
    items: NDArray = bsp.later()  # of all lists, one after the other
    lists: bsp.Shared = bsp.later()  # the neighbours' lists


@dataclass(frozen=True)
class Triangles(bsp.Kernel):
    """How many triangles each node is in; the sum is three times their number.

    Outputs ``triangles``.

    Notes
    -----
    Rounds: exactly ``1``.

    Messages: at most ``6 * m``: a node sends its degree, then two lists, to each neighbour.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("triangles", graph).triangles.values
    array([1, 1, 1, 0])
    """

    name = "triangles"
    short_ids = True
    outputs = {"triangles": bsp.Output("triangles that the node is in")}
    fields = {"degree": np.int32, "neighbour": np.int32, "triangles": np.int32}
    ranges = {"degree": bsp.nodes, "neighbour": bsp.nodes, "triangles": lambda n: n * n}
    refuses = bsp.no_faults(bsp.SHARES_LISTS)
    state = State

    def extra_bytes(self, n: int, nodes: int, entries: int) -> int:
        return 4 * entries  # lists of neighbours, its own and those that come

    def program(self, net: bsp.Net) -> bsp.Program:
        yield bsp.Round(self.weigh, self.point, self.close, self.add)

    def weigh(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(degree=c.degree)

    def point(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Share:
        s.lengths, entries, s.core = ranked(c, inbox, min(CORE, isqrt(16 * len(c.indices))))
        s.items = c.indices[entries]
        nodes = np.flatnonzero(s.lengths)
        return bsp.share(nodes, s.lengths[nodes], neighbour=s.items, **self.more(c, entries))

    def more(self, c: bsp.Cluster, entries: NDArray) -> dict[str, NDArray]:
        """What lists say besides, of the neighbours at some entries of the adjacency."""
        return {}

    def close(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Share:
        s.lists, loops = inbox.shared("neighbour"), compiled()
        place = places(c, s.core)
        rows = loops.rows_of(s.core, *s.lists, place, True)
        own, times = np.append(0, np.cumsum(s.lengths)), np.zeros(len(s.items), np.int32)
        s.triangles = loops.counted(own, s.items, *s.lists, place, rows, times)
        nodes = np.flatnonzero(s.triangles)
        lengths = s.lengths[nodes]
        if len(nodes) < c.size:
            times = times[ranges(own[nodes], lengths)[1]]
        return bsp.share(nodes, lengths, triangles=times)

    def add(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        s.triangles += compiled().added(*s.lists, *inbox.shared("triangles"))[c.ids]


def ranked(
    c: bsp.Cluster, inbox: bsp.Inbox, most: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Neighbours of a cluster's nodes by rank, where all nodes have sent their ``degree``.

    Parameters
    ----------
    most
        Size of the core, at most.

    Returns
    -------
    lengths
        How many neighbours of each node have a higher rank.
    entries
        Entries of the adjacency that lead there.
    core
        Neighbours of highest rank, the highest first.
    """
    lengths, entries, hubs = c.zeros(), np.empty(len(c.indices), np.int64), np.empty(0, np.int64)
    if not len(c.indices):
        return lengths, entries, hubs
    indptr, slots, degrees = inbox.latest("degree")
    slots, most = slots[indptr[0] : indptr[-1]], min(most, len(degrees))
    rank = np.partition(degrees, -most)[-most] if most else np.iinfo(degrees.dtype).max
    least = max(int(rank), 1)
    degree = np.zeros(c.n, degrees.dtype)  # of the nodes that may be in the core
    count = compiled().above(
        c.indptr, c.indices, slots, degrees, c.ids, least, degree, lengths, entries
    )
    hubs = np.flatnonzero(degree)
    return lengths, entries[:count], hubs[np.lexsort((hubs, degree[hubs]))[::-1][:most]]


def places(c: bsp.Cluster, core: NDArray) -> NDArray[np.int32]:
    """By node id, the place in the core, or -1."""
    place = np.full(c.n, -1, np.int32)
    place[core] = np.arange(len(core))
    return place


def between(c: bsp.Cluster, core: NDArray, lists: bsp.Shared) -> NDArray[np.int64]:
    """How many items of its neighbours' lists are neighbours of each node of a cluster."""
    place = places(c, core)
    rows = compiled().rows_of(core, *lists, place, False)
    found: NDArray[np.int64] = compiled().closed(c.indptr, c.indices, *lists, place, rows)
    return found
