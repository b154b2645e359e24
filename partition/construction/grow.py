"""Clusters made from clusters that are there: with more edges and nodes, or of another block partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dgsuite.base.errors import InputError
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.partitioners import Partition
from dgsuite.partition.construction.build import id_dtype, keys_of
from dgsuite.partition.sources.duplicates import Tally, merged, ordered
from dgsuite.partition.sources.piece import Piece, joined

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
    weights, before
        Of these entries, now and before; new ones have had the same. 1 where there are none.
    wrong
        The first edge that breaks the rule for repeated edges, or None.
    """

    entries: int
    nodes: NDArray[np.int64]
    ends: NDArray[np.int64]
    weights: NDArray
    before: NDArray
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
    """A cluster with more nodes or edges, which shares the arrays that stay the same.

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
        The nodes have identifiers of their own, and new ones would have none.
    """
    first, end = partition.offsets[c.index : c.index + 2].tolist()
    more, identifiers = end - first - c.size, c.identifiers
    if isinstance(identifiers, np.ndarray) and more:
        if not np.array_equal(identifiers, partition.nodes(c.index)[: c.size]):
            raise InputError(
                "the nodes have identifiers of their own (uid), so new nodes would have none; make the graph "
                "anew with all of its nodes"
            )
        identifiers = None
    weights, of_loops = (
        None if values is None else values.astype(dtype, copy=False)
        for values in (c.weights, c.loop_weights)
    )
    last = np.full(more, c.indptr[-1], c.indptr.dtype)
    c = replace(
        c,
        partition=partition,
        indptr=np.append(c.indptr, last) if more else c.indptr,
        indices=c.indices.astype(id_dtype(partition.n), copy=False),
        weights=weights,
        identifiers=identifiers,
        block=None,
        loop_weights=of_loops,
        cache={},
    )
    if fresh is None:
        none = np.empty(0, np.int64)
        return c, Grown(len(c.indices), none, none, *np.empty((2, 0), dtype))
    return _with_entries(c, fresh, partition.node(first + fresh.rows), rule)


def _with_entries(c: Cluster, fresh: Fresh, nodes: NDArray, rule: str) -> tuple[Cluster, Grown]:
    """A cluster with more entries, of whose nodes the ids are given, and what became of it."""
    at, there = c.places(fresh.rows, fresh.columns)
    weights, changed, wrong = c.weights, ~there, None
    before = after = np.ones(len(at)) if fresh.weights is None else fresh.weights
    if weights is None or fresh.weights is None:
        if rule == "error":
            wrong = _edge(nodes, fresh, np.flatnonzero(there))
    elif there.any():
        before = fresh.weights.copy()
        before[there] = weights[at[there]]
        after = before.copy()
        after[there], bad = _again(before[there], fresh.weights[there], rule)
        wrong = _edge(nodes, fresh, np.flatnonzero(there)[bad])
        if (other := after != before).any():
            changed |= other
            weights = weights.copy()
            weights[at[there]] = after[there]
    if not there.all():
        new = ~there
        indices = np.insert(c.indices, at[new], fresh.columns[new])
        if weights is not None and fresh.weights is not None:
            weights = np.insert(weights, at[new], fresh.weights[new])
        short = id_dtype(len(indices))
        more: NDArray = np.arange(len(indices) - len(c.indices) + 1, dtype=short)
        indptr: NDArray = c.indptr.astype(short)
        indptr += np.repeat(more, np.diff(fresh.rows[new], prepend=-1, append=c.size))
        c = replace(c, indptr=indptr, indices=indices, weights=weights, cache={})
    elif weights is not c.weights:
        c = replace(c, weights=weights, cache={})
    ends, both = (nodes[changed], fresh.columns[changed]), (after[changed], before[changed])
    return c, Grown(len(c.indices), *ends, *both, wrong)


def _edge(nodes: NDArray, fresh: Fresh, some: NDArray) -> Edge | None:
    """The first of some entries, as an edge."""
    return (int(nodes[some[0]]), int(fresh.columns[some[0]])) if len(some) else None


def _again(before: NDArray, more: NDArray, rule: str) -> tuple[NDArray, NDArray]:
    """Weights of edges that are named again, by the rule, and which of them break it."""
    keys, both = np.tile(np.arange(len(before)), 2), np.concatenate([before, more])
    _, weights, wrong = merged(*ordered(keys, both, rule), rule)
    assert weights is not None
    return (before, np.unique(wrong)) if rule == "error" else (weights, wrong)


class Rows(NamedTuple):
    """Consecutive rows of a cluster, as its attributes of these names; all counted from the first row."""

    indptr: NDArray
    indices: NDArray
    weights: NDArray | None
    uid: NDArray
    loops: NDArray | None
    loop_weights: NDArray | None
    disk: bool


def cut(cluster: Cluster, first: int, last: int) -> Rows:
    """Rows `first` to `last` (node ids) of a cluster of a block partition."""
    base = int(cluster.partition.offsets[cluster.index])
    a, b = first - base, last - base
    s, e = int(cluster.indptr[a]), int(cluster.indptr[b])
    weights = None if cluster.weights is None else cluster.weights[s:e]
    loops, of_loops = cluster.loops, cluster.loop_weights
    if loops is not None:
        i, j = np.searchsorted(loops, [a, b]).tolist()
        loops, of_loops = loops[i:j] - a, None if of_loops is None else of_loops[i:j]
    rows = cluster.indptr[a : b + 1] - s, cluster.indices[s:e]
    return Rows(*rows, weights, cluster.uid[a:b], loops, of_loops, cluster.disk)


def join(
    index: int,
    partition: Partition,
    directed: bool,
    weight_dtype: DTypeLike | None,
    rows: Sequence[Rows],
) -> Cluster:
    """Make a cluster from consecutive rows that `cut` returned."""
    ends = np.cumsum([0] + [len(some.indices) for some in rows])
    pointers = [some.indptr[1:] + e for some, e in zip(rows, ends, strict=False)]
    starts = np.cumsum([0] + [len(some.uid) for some in rows])
    looped = [
        some.loops + s for some, s in zip(rows, starts, strict=False) if some.loops is not None
    ]
    weights = of_loops = None
    if weight_dtype is not None:
        weights = joined([r.weights for r in rows if r.weights is not None], weight_dtype)
        if looped:
            parts = [r.loop_weights for r in rows if r.loop_weights is not None]
            of_loops = joined(parts, weight_dtype)
    return Cluster(
        index,
        partition,
        np.concatenate([np.zeros(1, np.int64), *pointers]).astype(id_dtype(int(ends[-1]))),
        joined([some.indices for some in rows], id_dtype(partition.n)),
        weights,
        joined([some.uid for some in rows], np.int64),
        directed,
        loops=np.concatenate(looped) if looped else None,
        loop_weights=of_loops,
        disk=any(some.disk for some in rows),
    )
