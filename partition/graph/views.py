"""Views of a directed graph: its edges reversed, at both their ends, or without their directions.

A cluster of a directed graph has the edges that leave its nodes. The edges that come in are entries of other
clusters. So the reversed graph is built of the edges of all clusters, and each cluster gets its part of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dgsuite.partition.clusters.cluster import IN, OUT, Cluster
from dgsuite.partition.construction import distribute
from dgsuite.partition.construction.build import id_dtype
from dgsuite.partition.graph.checks import each_cluster
from dgsuite.partition.sources.piece import Piece

if TYPE_CHECKING:
    from dgsuite.partition.graph.data import GraphData


def exchanged(graph: GraphData, join: Callable[..., Cluster]) -> tuple[list[Any], list[int]]:
    """Clusters made of those of a graph and the edges that come in, and the entries of each."""
    disk = graph.edges == "disk"
    return distribute.exchange(graph.parts, graph.partition, _back, join, graph.client, disk)


def both_ways[G: GraphData](graph: G) -> G:
    """A directed graph with each edge at both ends: an undirected one whose clusters have `directions`."""
    return _kept(graph, "both ways", _joined, directed=False)


def incoming[G: GraphData](graph: G) -> G:
    """A directed graph whose clusters also have the edges that come in."""
    return _kept(graph, "incoming", _informed)


def _kept[G: GraphData](graph: G, key: str, join: Callable[..., Cluster], **changes: Any) -> G:
    """A view, which is kept for one partition at a time."""
    return graph.derived.get(
        key,
        lambda: graph.like(*exchanged(graph, join), **changes),
        lambda kept: kept.partition == graph.partition,
    )


def undirected_clusters(graph: GraphData) -> tuple[list[Any], list[int]]:
    """Clusters of a directed graph without the directions, and the entries of each."""
    view = both_ways(graph)
    return each_cluster(view, _blind), view.entries


def _blind(c: Cluster) -> Cluster:
    """A cluster of a view without directions; an edge with weights both ways keeps the smaller one."""
    weights = c.weights
    if weights is not None and c.weights_in is not None:
        weights = np.minimum(weights, c.weights_in)
    return replace(c, weights=weights, weights_in=None, directions=None, cache={})


def _back(c: Cluster) -> Piece:
    """The edges of a cluster, reversed."""
    ends = c.indices
    return ends, np.repeat(c.ids.astype(ends.dtype), np.diff(c.indptr)), c.weights


def turned(c: Cluster, into: Cluster) -> Cluster:
    """A cluster of the reversed graph."""
    return replace(into, identifiers=c.identifiers, loops=c.loops, loop_weights=c.loop_weights)


def _joined(c: Cluster, into: Cluster) -> Cluster:
    """A cluster of the view that looks both ways."""
    import scipy.sparse as sp

    leave, come = (
        sp.csr_array((np.full(len(x.indices), way, np.uint8), x.indices, x.indptr), (c.size, c.n))
        for way, x in ((OUT, c), (IN, into))
    )
    both = leave + come
    directions = both.data
    weights = weights_in = None
    if c.weights is not None:
        # rows ascend in all three matrices, so their entries have the same order
        out, back = (directions & way > 0 for way in (OUT, IN))
        weights, weights_in = np.empty((2, len(directions)), c.weights.dtype)
        weights[out], weights_in[back] = c.weights, into.weights
        weights[~out], weights_in[~back] = weights_in[~out], weights[~back]
    small = id_dtype(len(both.indices))
    return replace(
        c,
        indptr=both.indptr.astype(small),
        indices=both.indices.astype(id_dtype(c.n), copy=False),
        weights=weights,
        weights_in=weights_in,
        directions=directions,
        directed=False,
        block=None,
        cache={},
    )


def _informed(c: Cluster, into: Cluster) -> Cluster:
    """A cluster that also has the edges that come in."""
    return replace(
        c, in_indptr=into.indptr, in_indices=into.indices, in_weights=into.weights, cache={}
    )
