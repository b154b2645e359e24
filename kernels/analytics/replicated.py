"""Betweenness centrality where every cluster holds the whole graph: gathering it, and searching it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import analytics
from dgsuite.kernels.analytics.extremes import amounts
from dgsuite.kernels.analytics.trouble import DEEP, TROUBLE, limit
from dgsuite.kernels.tools.exact import Sums
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.partitioners import Partition


class Adjacency(NamedTuple):
    """A whole graph in the order of its layout, `partition`: rows and their ends are positions.

    Distances must be below `limit`.
    """

    partition: Partition
    indptr: NDArray[np.uint32]
    indices: NDArray[np.uint32]
    weights: NDArray[np.float64] | None
    limit: float

    @property
    def degree(self) -> NDArray[np.int64]:
        """Out-edges of each node."""
        return self.indptr[1:].astype(np.int64) - self.indptr[:-1].astype(np.int64)


class Searcher:
    """Searches of a graph, one after another: called with sources (positions), it adds to `sums`, of nodes or
    of edges, and returns the edges that were looked at.
    """

    def __init__(self, graph: Adjacency, weighted: bool, by_edge: bool = False) -> None:
        n = len(graph.indptr) - 1
        self.sums = Sums.zeros(len(graph.indices) if by_edge else n)
        self._by_edge = by_edge
        self._partition = graph.partition
        loops = analytics._betweenness
        self._room = partial(loops.workspace, n, len(graph.indices), weighted)
        more = (graph.weights, graph.limit) if weighted else ()
        self._search = loops.by_weight if weighted else loops.by_hops
        self._before = (graph.indptr, graph.indices, *more)
        self._after = self._room(np.float64 if weighted else np.uint8)

    @property
    def nbytes(self) -> int:
        """Bytes of the graph, of the sums, and of what a search needs."""
        return _nbytes((self._before, *self.sums, self._after))

    def __call__(self, sources: NDArray) -> int:
        left, edges = sources.astype(np.uint32), 0
        while len(left):
            done, scanned, wrong = self._search(
                *self._before, left, self._by_edge, *self.sums, *self._after
            )
            left, edges = left[done:], edges + int(scanned)
            if wrong == DEEP:
                self._after = self._room(np.uint32)
            elif wrong:
                node = self._partition.node(left[:1].astype(np.int64))[0]
                raise OverflowError(TROUBLE[wrong].format(node))
        return edges


def _nbytes(arrays: tuple) -> int:
    """Bytes of arrays, which may be nested in tuples."""
    return sum(_nbytes(a) if isinstance(a, tuple) else np.asarray(a).nbytes for a in arrays)


def falling(degree: NDArray) -> NDArray[np.int64]:
    """Sources by falling out-degree, so that the longest searches are dealt first."""
    return np.argsort(-degree, kind="stable")


def edges_of(c: Cluster, weighted: bool) -> dict[str, NDArray]:
    """The edges of a cluster, row by row: ends as positions, and weights where they count."""
    found: dict[str, NDArray] = {"end": c.partition.position(c.indices).astype(np.uint32)}
    if weighted:
        found["weight"] = amounts(c.weights, len(c.indices))
    return found


def adjacency(c: Cluster, indptr: NDArray[np.uint32], edges: dict[str, NDArray]) -> Adjacency:
    """The whole graph that a cluster is of, from the edges of all clusters, in their order."""
    return Adjacency(c.partition, indptr, edges["end"], edges.get("weight"), limit(c.weights))


def pointers(degree: NDArray) -> NDArray[np.uint32]:
    """Where the edges of each node begin, and where the last end."""
    indptr = np.concatenate([[0], np.cumsum(degree, dtype=np.int64)])
    if indptr[-1] >= 2**32:
        raise ValueError(f"{indptr[-1]} edges are too many to replicate; graph_form='partitioned'")
    return indptr.astype(np.uint32)


def gathered(parts: Sequence[Cluster], weighted: bool) -> Adjacency:
    """The whole graph from its clusters."""
    edges = [edges_of(c, weighted) for c in parts]
    whole = {name: np.concatenate([some[name] for some in edges]) for name in edges[0]}
    return adjacency(parts[0], pointers(np.concatenate([c.degree for c in parts])), whole)
