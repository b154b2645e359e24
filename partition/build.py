"""Build clusters from edges, in two steps that can run in any process.

`split` divides a piece of the edge list into shards, one per cluster. `assemble` makes a cluster from its
shards of all pieces. The rules are the same for every source of edges:

directed
    By default each input edge joins both its ends. With ``directed=True`` a row holds out-edges.
self-loops
    Dropped, since a processor does not send to itself over the network.
duplicates
    Merged, also (u, v) and (v, u) of an undirected graph. The smallest weight stays.
weights
    Finite integers or floating-point numbers, for all edges or none.

Memory limits the size of the graphs that can be built. So a shard takes 5 bytes per edge end, and
`assemble` sorts a block of rows at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import DTypeLike, NDArray

from partition.cluster import Cluster, Identify
from partition.errors import InputError
from partition.partitioners import Partition
from partition.piece import Piece, check_edges, common_dtype, joined, least

Rows = tuple[NDArray, NDArray, NDArray | None, NDArray]
"""Consecutive rows of a CSR matrix: row pointers from 0, columns, weights, identifiers of the nodes."""

BAND = 256
"""Rows per band: the number of a row within its band takes one byte."""

BLOCK = 1 << 19
"""Edge ends that are sorted at a time."""


def id_dtype(n: int) -> type:
    """int32 if n ids (of nodes or entries) fit into it, else int64."""
    return np.int32 if n <= np.iinfo(np.int32).max else np.int64


@dataclass(eq=False)
class Shard:
    """The edge ends of one cluster in one piece, sorted by row, then column, without duplicates.

    Attributes
    ----------
    starts
        int64, shape (bands + 1,): index of the first edge end of each band of rows.
    low
        uint8: row of each edge end, relative to its band.
    columns
        Node at the other end of the edge; int32 where ids fit.
    weights
        Weight of each edge end, or None.
    """

    starts: NDArray[np.int64]
    low: NDArray[np.uint8]
    columns: NDArray
    weights: NDArray | None

    def keys(self, first: int, last: int, n: int) -> NDArray[np.int64]:
        """Row and column, as ``row * n + column``, of each edge end in bands `first` to `last`."""
        some = slice(self.starts[first], self.starts[last])
        bands = np.arange(first * BAND, last * BAND, BAND, dtype=np.int64)
        keys = np.repeat(bands, np.diff(self.starts[first : last + 1]))
        keys += self.low[some]
        keys *= n
        keys += self.columns[some]
        return keys


def split(
    piece: Piece,
    partition: Partition,
    directed: bool,
    ranges: Sequence[int],
    start: int = 0,
    where: str = "",
) -> list[list[Shard] | None]:
    """Divide a piece of the edge list into shards.

    Parameters
    ----------
    ranges
        Shape (ranges + 1,): range r is clusters ``ranges[r]`` to ``ranges[r + 1]``.
    start, where
        As for `partition.piece.check_edges`.

    Returns
    -------
    For each range a list of one shard per cluster; None if the piece has neither edges nor weights.

    Raises
    ------
    InputError
        An edge breaks a rule.
    """
    n = partition.n
    src, dst, weights = piece
    check_edges(piece, n, start, where)
    if not len(src) and weights is None:
        return [None] * (len(ranges) - 1)
    ends = [(src, dst)] if directed else [(src, dst), (dst, src)]
    keys = np.empty(len(ends) * len(src), np.int64)
    for (heads, tails), part in zip(ends, np.split(keys, len(ends)), strict=True):
        np.multiply(partition.position(heads), n, out=part, dtype=np.int64, casting="same_kind")
        np.add(part, tails, out=part, dtype=np.int64, casting="same_kind")
    if weights is not None and not directed:
        weights = np.concatenate([weights, weights])
    loops = src == dst
    if loops.any():
        stay = ~np.tile(loops, len(ends))
        keys = keys[stay]
        weights = None if weights is None else weights[stay]
    del src, dst, piece, loops, ends
    keys, weights = merged(keys, weights)
    cuts = np.searchsorted(keys, partition.offsets * n)
    return [
        [
            _pack(
                keys[cuts[k] : cuts[k + 1]],
                None if weights is None else weights[cuts[k] : cuts[k + 1]],
                int(partition.offsets[k]),
                int(partition.offsets[k + 1] - partition.offsets[k]),
                n,
            )
            for k in range(first, last)
        ]
        for first, last in pairwise(ranges)
    ]


def merged(keys: NDArray, weights: NDArray | None) -> tuple[NDArray, NDArray | None]:
    """Sort keys, possibly in place, and merge equal ones, which keep the smallest weight."""
    if weights is None:
        keys.sort()
    else:
        order = np.argsort(keys)
        keys, weights = keys[order], weights[order]
    fresh = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
    if not fresh.all():
        keys = keys[fresh]
        if weights is not None:
            weights = np.minimum.reduceat(weights, np.flatnonzero(fresh))
    return keys, weights


def _bands(rows: int) -> int:
    return -(-rows // BAND)


def _pack(keys: NDArray, weights: NDArray | None, base: int, size: int, n: int) -> Shard:
    """A shard made from sorted keys of the rows `base` to ``base + size``."""
    rows = keys // n
    columns: NDArray = np.empty(len(keys), id_dtype(n))
    np.subtract(keys, rows * n, out=columns, casting="same_kind")
    rows -= base
    starts = np.searchsorted(rows, np.arange(_bands(size) + 1) * BAND)
    # copies, since a view would keep the whole piece in memory
    low = np.bitwise_and(rows, BAND - 1, out=rows).astype(np.uint8)
    return Shard(starts, low, columns, None if weights is None else weights.copy())


def assemble(
    index: int,
    partition: Partition,
    uid: NDArray | Identify | None,
    directed: bool,
    shards: Sequence[Shard | None],
) -> Cluster:
    """Make a cluster from its shards of all pieces.

    Parameters
    ----------
    uid
        Identifiers of the cluster's nodes, or a function that returns them; None for the node ids.

    Raises
    ------
    InputError
        Some pieces have weights, others not.
    """
    n = partition.n
    size = int(partition.offsets[index + 1] - partition.offsets[index])
    some = [shard for shard in shards if shard is not None]
    dtype = _weight_dtype(some)
    lengths = np.sum([np.diff(s.starts) for s in some] or [np.zeros(_bands(size), int)], axis=0)
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    columns: NDArray = np.empty(total, id_dtype(n))
    weights = None if dtype is None else np.empty(total, dtype)
    indptr = np.zeros(size + 1, np.int64)
    full = np.searchsorted(ends, np.arange(BLOCK, total, BLOCK)) + 1
    blocks = np.unique([0, *full.tolist(), _bands(size)])
    used = 0
    for first, last in pairwise(blocks.tolist()):
        keys = joined([s.keys(first, last, n) for s in some], np.int64)
        values = None
        if weights is not None:
            parts = [s.weights[s.starts[first] : s.starts[last]] for s in some]  # type: ignore[index]
            values = joined(parts, weights.dtype)
        keys, values = merged(keys, values)
        rows = keys // n
        begin, used = used, used + len(keys)
        np.subtract(keys, rows * n, out=columns[begin:used], casting="same_kind")
        if weights is not None:
            weights[begin:used] = values
        rows -= first * BAND
        low, high = first * BAND, min(last * BAND, size)
        indptr[low + 1 : high + 1] = np.bincount(rows, minlength=high - low)
    np.cumsum(indptr, out=indptr)
    # resized in place, since a slice would keep the memory of the duplicates
    columns.resize(used, refcheck=False)
    if weights is not None:
        weights.resize(used, refcheck=False)
    indptr = indptr.astype(id_dtype(used))
    return Cluster(index, partition, indptr, columns, weights, uid, directed)


def _weight_dtype(shards: Sequence[Shard]) -> np.dtype | None:
    found = [(s.weights.dtype, least(s.weights)) for s in shards if s.weights is not None]
    if not found:
        return None
    if len(found) < len(shards):
        raise InputError("some pieces of the edge list have weights, others have none")
    return common_dtype(found)


def cut(cluster: Cluster, first: int, last: int) -> Rows:
    """Rows `first` to `last` (node ids) of a cluster of a block partition."""
    base = int(cluster.partition.offsets[cluster.index])
    a, b = first - base, last - base
    s, e = int(cluster.indptr[a]), int(cluster.indptr[b])
    weights = None if cluster.weights is None else cluster.weights[s:e]
    return cluster.indptr[a : b + 1] - s, cluster.indices[s:e], weights, cluster.uid[a:b]


def join(
    index: int,
    partition: Partition,
    directed: bool,
    weight_dtype: DTypeLike | None,
    rows: Sequence[Rows],
) -> Cluster:
    """Make a cluster from consecutive rows that `cut` returned."""
    ends = np.cumsum([0] + [len(indices) for _, indices, _, _ in rows])
    pointers = [indptr[1:] + e for (indptr, _, _, _), e in zip(rows, ends, strict=False)]
    weights = None
    if weight_dtype is not None:
        weights = joined([w for _, _, w, _ in rows if w is not None], weight_dtype)
    return Cluster(
        index,
        partition,
        np.concatenate([np.zeros(1, np.int64), *pointers]).astype(id_dtype(int(ends[-1]))),
        joined([indices for _, indices, _, _ in rows], id_dtype(partition.n)),
        weights,
        joined([uid for _, _, _, uid in rows], np.int64),
        directed,
    )
