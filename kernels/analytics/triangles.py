"""Triangles and clustering coefficients, by lists of neighbours of higher rank.

Nodes are ranked by degree, then id, and each shares with its neighbours the list of its neighbours of higher
rank (Chiba and Nishizeki 1985; Latapy 2008): hubs have short lists. A node then finds each edge between two
of its neighbours once, in the list of its lower end. Where degrees are skewed, most of these edges join nodes
of high rank. So each cluster keeps the lists of those of highest rank, its *core*, as rows of bits, of which
a processor compares 64 and more at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp

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
    core: NDArray[np.int64] = (
        bsp.later()
    )  # nodes of highest rank that it has as neighbours, by falling rank


@dataclass(frozen=True)
class Triangles(bsp.Kernel):
    """How many triangles each node is in; the sum is three times their number.

    Outputs ``triangles``.

    Notes
    -----
    Rounds: exactly ``1``.

    Messages: at most ``4 * m``: a node sends its degree, then a list, to each neighbour.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("triangles", graph).triangles.values
    array([1, 1, 1, 0])
    """

    name = "triangles"
    outputs = {"triangles": bsp.Output("triangles that the node is in")}
    fields = {"degree": np.int32, "neighbour": np.int32}
    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        yield bsp.Round(self.weigh, self.point, self.close)

    def weigh(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(degree=c.degree)

    def point(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Share:
        _, theirs = inbox.along("degree")
        s.core = highest(c, theirs)
        lengths, entries = higher(c, theirs)
        nodes = np.flatnonzero(lengths)
        return bsp.share(nodes, lengths[nodes], **self.items(c, entries))

    def items(self, c: bsp.Cluster, entries: NDArray) -> dict[str, NDArray]:
        """What lists say of the neighbours at some entries of the adjacency."""
        return {"neighbour": c.indices[entries]}

    def close(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        s.triangles = between(c, s.core, inbox.shared("neighbour"))


def higher(c: bsp.Cluster, theirs: NDArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many neighbours of each of a cluster's nodes have a higher rank, and the entries that lead there.

    Parameters
    ----------
    theirs
        Degree of the neighbour at each entry of the adjacency.
    """
    lengths, entries = c.zeros(), np.empty(len(c.indices), np.int64)
    count = compiled().above(c.indptr, c.indices, theirs, c.ids, lengths, entries)
    return lengths, entries[:count]


def highest(c: bsp.Cluster, theirs: NDArray) -> NDArray[np.int64]:
    """Neighbours of a cluster's nodes of highest rank, the highest first.

    Parameters
    ----------
    theirs
        Degree of the neighbour at each entry of the adjacency.
    """
    degree = np.zeros(c.n, theirs.dtype)
    degree[c.indices] = theirs
    count = min(CORE, isqrt(16 * len(c.indices)), int(np.count_nonzero(degree)))
    least = np.partition(degree, c.n - count)[c.n - count] if count else 1
    nodes = np.flatnonzero(degree >= max(least, 1))
    return nodes[np.lexsort((nodes, degree[nodes]))][::-1][:count]


def between(c: bsp.Cluster, core: NDArray, lists: bsp.Shared) -> NDArray[np.int64]:
    """How many items of its neighbours' lists are neighbours of each node of a cluster."""
    place = np.full(c.n, -1, np.int32)
    place[core] = np.arange(len(core))
    rows = compiled().rows_of(core, *lists, place)
    found: NDArray[np.int64] = compiled().closed(c.indptr, c.indices, *lists, place, rows)
    return found
