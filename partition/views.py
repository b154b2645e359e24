"""Views of a directed graph: its edges reversed, at both their ends, or without their directions.

A cluster of a directed graph has the edges that leave its nodes. The edges that come in are entries of other
clusters, so each cluster sorts its edges by the cluster of their target, and gets those that lead to its own
nodes. That takes one exchange between the workers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partition import distribute
from partition.build import id_dtype
from partition.checks import each_cluster
from partition.cluster import IN, OUT, Cluster

if TYPE_CHECKING:
    import scipy.sparse as sp

    from partition.graph import Graph

BOTH_WAYS, INCOMING = "both ways", "incoming"
"""Keys of views in `Graph.cache`."""


def reversed_clusters(graph: Graph) -> tuple[list[Any], list[int]]:
    """Clusters whose rows are the edges that come in, and the entries of each."""
    return distribute.exchange(graph.parts, _by_target, _turned, graph.client)


def both_ways(graph: Graph) -> Graph:
    """A directed graph with each edge at both ends: an undirected one whose clusters have `directions`."""
    return _kept(graph, BOTH_WAYS, _joined, directed=False)


def incoming(graph: Graph) -> Graph:
    """A directed graph whose clusters also have the edges that come in."""
    return _kept(graph, INCOMING, _informed)


def _kept(graph: Graph, key: str, join: Callable[..., Cluster], **changes: Any) -> Graph:
    """A view, which the cache of the graph keeps for one partition at a time."""
    kept = graph.cache.get(key)
    if kept is None or kept.partition != graph.partition:
        parts, entries = distribute.exchange(graph.parts, _by_target, join, graph.client)
        kept = graph.cache[key] = graph.like(parts, entries, **changes)
    view: Graph = kept
    return view


def undirected_clusters(graph: Graph) -> tuple[list[Any], list[int]]:
    """Clusters of a directed graph without the directions, and the entries of each."""
    view = both_ways(graph)
    return each_cluster(view, _blind), view.entries


def _blind(c: Cluster) -> Cluster:
    """A cluster of a view without directions; an edge with weights both ways keeps the smaller one."""
    weights = c.weights
    if weights is not None and c.weights_in is not None:
        weights = np.minimum(weights, c.weights_in)
    return replace(c, weights=weights, weights_in=None, directions=None, cache={})


def _by_target(c: Cluster, ranges: Sequence[int]) -> list[list[sp.csr_array]]:
    """The edges of a cluster by their targets.

    Returns
    -------
    For each range of clusters a matrix a cluster: its rows are the nodes of that cluster, the columns
    those of `c`, and an entry is the weight of an edge, or 1.
    """
    import scipy.sparse as sp

    data = np.ones(len(c.indices), np.uint8) if c.weights is None else c.weights
    columns = c.partition.position(c.indices)
    back = sp.csr_array((data, columns, c.indptr), shape=(c.size, c.n)).T.tocsr()
    offsets = c.partition.offsets.tolist()
    return [
        [back[a:b] for a, b in pairwise(offsets[first : last + 1])]
        for first, last in pairwise(ranges)
    ]


def _incoming(c: Cluster, found: Sequence[sp.csr_array]) -> sp.csr_array:
    """The edges that come in, with node ids as columns: what all clusters have for cluster `c`."""
    import scipy.sparse as sp

    rows = sp.hstack(found, format="csr")
    nodes: NDArray = c.partition.node(rows.indices).astype(id_dtype(c.n))
    into = sp.csr_array((rows.data, nodes, rows.indptr), shape=(c.size, c.n))
    into.sort_indices()
    return into


def _turned(c: Cluster, found: Sequence[sp.csr_array]) -> Cluster:
    """A cluster of the reversed graph."""
    into = _incoming(c, found)
    weights = None if c.weights is None else into.data
    return _with(c, into, weights=weights)


def _joined(c: Cluster, found: Sequence[sp.csr_array]) -> Cluster:
    """A cluster of the view that looks both ways."""
    import scipy.sparse as sp

    into = _incoming(c, found)
    leave, come = (
        sp.csr_array((np.full(len(indices), way, np.uint8), indices, indptr), shape=into.shape)
        for way, indices, indptr in ((OUT, c.indices, c.indptr), (IN, into.indices, into.indptr))
    )
    both = leave + come
    directions = both.data
    weights = weights_in = None
    if c.weights is not None:
        # rows ascend in all three matrices, so their entries have the same order
        out, back = (directions & way > 0 for way in (OUT, IN))
        weights, weights_in = np.empty((2, len(directions)), c.weights.dtype)
        weights[out], weights_in[back] = c.weights, into.data
        weights[~out], weights_in[~back] = weights_in[~out], weights[~back]
    return _with(
        c, both, weights=weights, weights_in=weights_in, directions=directions, directed=False
    )


def _informed(c: Cluster, found: Sequence[sp.csr_array]) -> Cluster:
    """A cluster that also has the edges that come in."""
    into = _incoming(c, found)
    indptr = into.indptr.astype(id_dtype(len(into.indices)))
    return replace(c, in_indptr=indptr, in_indices=into.indices, cache={})


def _with(c: Cluster, matrix: sp.csr_array, **changes: Any) -> Cluster:
    """A cluster with the same nodes and other edges."""
    small = id_dtype(len(matrix.indices))
    indptr, indices = matrix.indptr.astype(small), matrix.indices.astype(id_dtype(c.n), copy=False)
    return replace(c, indptr=indptr, indices=indices, block=None, cache={}, **changes)
