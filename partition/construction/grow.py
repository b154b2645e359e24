"""New edges for clusters that are there: a cluster's rows are woven together with those that are new."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dgsuite.base.errors import InputError
from dgsuite.partition.arrays.segments import inserted, lifted
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.partitioners import Partition
from dgsuite.partition.construction.build import id_dtype, keys_of
from dgsuite.partition.sources.duplicates import Tally, merged, ordered
from dgsuite.partition.sources.piece import Piece

Edge = tuple[int, int]


class Fresh(NamedTuple):
    """Entries of the adjacency that a cluster is to get, ascending by row, then column.

    Attributes
    ----------
    rows
        Index of the node in the cluster.
    columns
        Node id of the other end.
    weights
        Weight of each, or None.
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    weights: NDArray | None


class Grown(NamedTuple):
    """What became of a cluster.

    Attributes
    ----------
    entries
        Number of its entries.
    nodes, ends
        Node ids of both ends of the entries that are new, or have another weight.
    raised
        An edge whose weight is greater than before, or None.
    wrong
        The first edge that breaks the rule for repeated edges, or None.
    """

    entries: int
    nodes: NDArray[np.int64]
    ends: NDArray[np.int64]
    raised: Edge | None = None
    wrong: Edge | None = None


def extended(partition: Partition, n: int) -> Partition:
    """A partition of n nodes: new ones go to the last block, or of a map of nodes to all clusters in turn."""
    more = n - partition.n
    if not more:
        return partition
    if partition.order is None:
        return Partition(np.append(partition.offsets[:-1], n))
    owner = np.arange(more) * partition.clusters // more
    order = np.insert(partition.order, partition.offsets[1:][owner], np.arange(partition.n, n))
    new = np.bincount(owner, minlength=partition.clusters)
    return Partition(partition.offsets + np.append(0, np.cumsum(new)), order)


def divided(
    piece: Piece, partition: Partition, directed: bool, rule: str
) -> tuple[list[Fresh | None], Tally]:
    """New edges as entries of each cluster, None where there are none, and what was counted of them."""
    n = partition.n
    src, dst, weights = piece
    kept = src != dst
    if weights is not None:
        weights = weights[kept] if directed else np.repeat(weights[kept], 2)
    keys = keys_of(src, dst, partition, directed)
    tally = Tally(len(keys), len(kept) - int(kept.sum()))
    keys, weights, wrong = merged(*ordered(keys, weights, rule), rule)
    if len(wrong):
        row, column = divmod(int(wrong[0]), n)
        tally = tally._replace(wrong=(int(partition.node(np.array([row]))[0]), column))
    rows, columns = np.divmod(keys, n)
    cuts = np.searchsorted(rows, partition.offsets)
    return [
        Fresh(rows[a:b] - first, columns[a:b], None if weights is None else weights[a:b])
        if a < b
        else None
        for (a, b), first in zip(pairwise(cuts.tolist()), partition.offsets, strict=False)
    ], tally


def grown(
    c: Cluster, partition: Partition, fresh: Fresh | None, rule: str, dtype: DTypeLike | None
) -> tuple[Cluster, Grown]:
    """A cluster with more nodes or edges; arrays that stay the same are shared.

    Parameters
    ----------
    partition
        Of the graph that has grown; the cluster's new nodes follow those that it had.
    rule
        By which an edge that is named again is merged with the one that is there.
    dtype
        Of the weights.

    Raises
    ------
    InputError
        New nodes would have no identifier.
    """
    first, end = partition.offsets[c.index : c.index + 2].tolist()
    size = end - first
    weights = None if c.weights is None else c.weights.astype(dtype, copy=False)
    identify = c.identify
    if isinstance(identify, np.ndarray) and size > c.size:
        if not np.array_equal(identify, partition.nodes(c.index)[: c.size]):
            raise InputError(
                "the nodes have identifiers of their own (uid), so new nodes would have none; make the graph "
                "anew with all of its nodes"
            )
        identify = None
    wide = id_dtype(partition.n)
    indptr: NDArray = c.indptr
    indices: NDArray = c.indices.astype(wide, copy=False)
    nothing = np.empty(0, np.int64)
    of_loops = None if c.loop_weights is None else c.loop_weights.astype(dtype, copy=False)
    about = Grown(len(indices), nothing, nothing)
    if fresh is not None:
        nodes = partition.node(first + fresh.rows)
        old = fresh.rows < c.size
        at, there = np.full(len(old), len(indices)), np.zeros(len(old), bool)
        at[old], there[old] = c.places(fresh.rows[old], fresh.columns[old])
        changed = ~there
        new = None if fresh.weights is None else fresh.weights[~there]
        raised = wrong = None
        if weights is None:
            if rule == "error" and there.any():
                wrong = _edge(nodes, fresh, np.flatnonzero(there))
        elif there.any():
            before = weights[at[there]]
            after, bad = _again(before, fresh.weights[there], rule)  # type: ignore[index]
            again = np.flatnonzero(there)
            wrong = _edge(nodes, fresh, again[bad])
            raised = _edge(nodes, fresh, again[after > before])
            if (other := after != before).any():
                changed[again[other]] = True
                weights = weights.copy() if weights is c.weights else weights
                weights[at[there]] = after
        if not there.all():
            rows, places = fresh.rows[~there], at[~there]
            small = id_dtype(len(indices) + len(rows))
            indptr = lifted(indptr, rows, size, small)
            indices = inserted(indices, places, fresh.columns[~there], wide)
            if weights is not None:
                weights = inserted(weights, places, new, weights.dtype)  # type: ignore[arg-type]
        ends = nodes[changed], fresh.columns[changed]
        about = Grown(len(indices), *ends, raised, wrong)
    if len(indptr) <= size:
        indptr = lifted(indptr, nothing, size, indptr.dtype)
    made = replace(
        c,
        partition=partition,
        indptr=indptr,
        indices=indices,
        weights=weights,
        loop_weights=of_loops,
        identify=identify,
        block=None,
        cache={},
    )
    return made, about


def _edge(nodes: NDArray, fresh: Fresh, some: NDArray) -> Edge | None:
    """The first of some entries, as an edge."""
    return (int(nodes[some[0]]), int(fresh.columns[some[0]])) if len(some) else None


def _again(before: NDArray, more: NDArray, rule: str) -> tuple[NDArray, NDArray]:
    """Weights of edges that are named again, by the rule, and which of them break it."""
    keys, both = np.tile(np.arange(len(before)), 2), np.concatenate([before, more])
    _, weights, wrong = merged(*ordered(keys, both, rule), rule)
    assert weights is not None
    return (before, np.unique(wrong)) if rule == "error" else (weights, wrong)
