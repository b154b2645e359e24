"""From edges to clusters, in two steps that run anywhere: `split` a piece of the edge list by
cluster, then `assemble` what all pieces hold of one cluster.

The rules, the same for every source of edges:

directed
    By default each input edge joins both its ends. With ``directed=True`` a row holds out-edges.
self-loops
    Dropped: a processor does not send to itself over the network.
duplicates
    Merged, and so are (u, v) and (v, u) of an undirected graph; of their weights the smallest stays.
weights
    Integers or floating-point numbers; NaN is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from partition.cluster import Cluster
from partition.errors import InputError
from partition.partitioners import Partition

Piece = tuple[NDArray, NDArray, NDArray | None]
"""Sources, targets and weights of a piece of the edge list."""

Shard = tuple[NDArray, NDArray | None]
"""Edges of one cluster: ``row * n + column`` with the row counted from the cluster's start."""


def id_dtype(n: int) -> type:
    """int32 where node ids fit, else int64."""
    return np.int32 if n <= np.iinfo(np.int32).max else np.int64


def check_edges(src: NDArray, dst: NDArray, weights: NDArray | None, n: int, start: int) -> None:
    """Refuse edges to missing nodes and weights that are not numbers, naming the first."""
    for name, ids in (("source", src), ("target", dst)):
        if not np.issubdtype(ids.dtype, np.integer):
            raise InputError(f"edge {name}s must be integers, got dtype {ids.dtype}")
        if len(ids) and (ids.min() < 0 or ids.max() >= n):
            at = int(np.flatnonzero((ids < 0) | (ids >= n))[0])
            raise InputError(
                f"edge {start + at} ({src[at]}, {dst[at]}) names node {ids[at]}, "
                f"but the graph's nodes are 0 to {n - 1}"
            )
    if weights is not None:
        if weights.dtype.kind not in "iuf":
            raise InputError(f"weights must be numbers, got dtype {weights.dtype}")
        if weights.dtype.kind == "f" and np.isnan(weights).any():
            at = int(np.flatnonzero(np.isnan(weights))[0])
            raise InputError(f"edge {start + at} ({src[at]}, {dst[at]}) has weight NaN")


def degrees(piece: Piece, n: int, directed: bool) -> NDArray[np.int64]:
    """How many edge ends of a piece fall on each node; only a load estimate, so duplicates count."""
    src, dst, _ = piece
    counts = np.bincount(src, minlength=n)
    return counts if directed else counts + np.bincount(dst, minlength=n)


def split(piece: Piece, partition: Partition, directed: bool, start: int = 0) -> list[Shard]:
    """Sort a piece of the edge list into one shard a cluster.

    Parameters
    ----------
    start
        Number of the piece's first edge in the whole list, for error messages.
    """
    n = partition.n
    src, dst, weights = piece
    check_edges(src, dst, weights, n, start)
    loops = src == dst
    if loops.any():
        src, dst = src[~loops], dst[~loops]
        weights = None if weights is None else weights[~loops]
    ends = [(src, dst)] if directed else [(src, dst), (dst, src)]
    found: list[list[NDArray]] = [[] for _ in range(partition.clusters)]
    found_weights: list[list[NDArray]] = [[] for _ in range(partition.clusters)]
    for heads, tails in ends:
        rows = partition.position(heads)
        for k in range(partition.clusters):
            lo, hi = partition.offsets[k], partition.offsets[k + 1]
            mine = slice(None) if hi - lo == n else (rows >= lo) & (rows < hi)
            keys = rows[mine].astype(np.int64)
            keys -= lo
            keys *= n
            keys += tails[mine]
            found[k].append(keys)
            if weights is not None:
                found_weights[k].append(weights[mine])
    return [
        (_concatenate(keys), None if weights is None else _concatenate(some))
        for keys, some in zip(found, found_weights, strict=True)
    ]


def _concatenate(arrays: list[NDArray]) -> NDArray:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def assemble(
    index: int, partition: Partition, uid: NDArray | None, directed: bool, shards: Sequence[Shard]
) -> Cluster:
    """Make a cluster of the shards that all pieces hold of it.

    Parameters
    ----------
    uid
        Identifiers of the cluster's nodes; None for the node ids themselves.
    """
    n = partition.n
    size = int(partition.offsets[index + 1] - partition.offsets[index])
    shards = [shard for shard in shards if len(shard[0])] or shards[:1]  # empty ones lack weights
    keys = np.concatenate([keys for keys, _ in shards])
    weights = None
    if shards[0][1] is not None:
        weights = np.concatenate([w for _, w in shards if w is not None])
        order = np.lexsort((weights, keys))
        keys, weights = keys[order], weights[order]
    else:
        keys.sort()
    if len(keys):
        fresh = np.empty(len(keys), bool)
        fresh[0] = True
        np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
        if not fresh.all():
            keys = keys[fresh]
            weights = None if weights is None else weights[fresh]
    indptr = np.searchsorted(keys, np.arange(size + 1, dtype=np.int64) * n)
    np.remainder(keys, max(n, 1), out=keys)
    ids = partition.nodes(index) if uid is None else uid
    return Cluster(
        index,
        partition,
        indptr.astype(np.int64),
        keys.astype(id_dtype(n)),
        weights,
        np.asarray(ids, np.int64),
        directed,
    )


def cut(
    cluster: Cluster, first: int, last: int
) -> tuple[NDArray, NDArray, NDArray | None, NDArray]:
    """Rows `first` to `last` (node ids) of a cluster of a block partition, as bare arrays."""
    base = int(cluster.partition.offsets[cluster.index])
    a, b = first - base, last - base
    s, e = int(cluster.indptr[a]), int(cluster.indptr[b])
    weights = None if cluster.weights is None else cluster.weights[s:e]
    return cluster.indptr[a : b + 1] - s, cluster.indices[s:e], weights, cluster.uid[a:b]


def join(
    index: int,
    partition: Partition,
    directed: bool,
    rows: Sequence[tuple[NDArray, NDArray, NDArray | None, NDArray]],
) -> Cluster:
    """Make a cluster of consecutive `cut` rows."""
    ends = np.concatenate([[0], np.cumsum([len(indices) for _, indices, _, _ in rows])])
    pointers = [indptr[1:] + e for (indptr, _, _, _), e in zip(rows, ends, strict=False)]
    indptr = np.concatenate([np.zeros(1, np.int64), *pointers])
    indices = np.concatenate([i for _, i, _, _ in rows] or [np.empty(0, id_dtype(partition.n))])
    some = [w for _, _, w, _ in rows if w is not None]
    weights = np.concatenate(some) if some else None
    uid = np.concatenate([u for _, _, _, u in rows] or [np.empty(0, np.int64)])
    return Cluster(index, partition, indptr, indices, weights, uid, directed)
