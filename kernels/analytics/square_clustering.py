"""Clustering by squares: cycles of four nodes, by lists of neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    coefficient: NDArray[np.float64] = bsp.per_node(0.0)


@dataclass(frozen=True)
class SquareClustering(bsp.Kernel):
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

    Messages: at most ``2 * m``: a node sends its list to each neighbour.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 3, 3], [1, 2, 3, 0, 4])
    >>> dgsuite.run("square_clustering", graph).coefficient.round(3).values
    array([0.5  , 1.   , 0.5  , 0.333, 0.   ])
    """

    name = "square_clustering"
    short_ids = True
    outputs = {"coefficient": bsp.Output("clustering coefficient of squares")}
    fields = {"neighbour": np.int32}
    ranges = {"neighbour": bsp.nodes}
    refuses = bsp.no_faults(bsp.SHARES_LISTS)
    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        yield bsp.Round(self.introduce, self.close)

    def introduce(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Share:
        return introduction(c)

    def close(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        lists, degree = inbox.shared("neighbour"), c.degree.astype(np.int64)
        joint, squares = two_hops(c, lists)
        near = sums(c, (lists.ends - lists.starts)[c.indices])
        possible = (degree - 1) * (near - degree) - sums(c, joint) - squares
        np.divide(squares, possible, out=s.coefficient, where=possible > 0)


def introduction(c: bsp.Cluster) -> bsp.Share:
    """Each node's list of neighbours, to them."""
    nodes = np.flatnonzero(c.degree)
    return bsp.share(nodes, c.degree[nodes], neighbour=c.indices)


def two_hops(c: bsp.Cluster, lists: bsp.Shared) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """By entry of the adjacency the triangles that the edge is in; by node its cycles of four nodes."""
    from dgsuite.kernels.analytics import _squares

    joint, squares = np.zeros(len(c.indices), np.int64), np.zeros(c.size, np.int64)
    _squares.two_hops(c.indptr, c.indices, c.ids, *lists, joint, squares)
    return joint, squares


def sums(c: bsp.Cluster, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sums of whole numbers over the entries of each node."""
    before = np.concatenate([[0], np.cumsum(values)])
    found: NDArray[np.int64] = before[c.indptr[1:]] - before[c.indptr[:-1]]
    return found
