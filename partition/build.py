"""From edges to clusters, in two steps that run anywhere: `split` a piece of the edge list by
cluster, then `assemble` what all pieces hold of one cluster.

The rules, the same for every source of edges:

directed
    By default each input edge joins both its ends. With ``directed=True`` a row holds out-edges.
self-loops
    Dropped: a processor does not send to itself over the network.
duplicates
    Merged, and so are (u, v) and (v, u) of an undirected graph; the smallest of their weights
    stays.
weights
    Integers or floating-point numbers, for all edges or none; what is not
    finite is refused.

Memory is what limits the graphs that can be built, so edges wait for their cluster in 5 bytes an
end (see `Shard`), and a cluster is sorted a block of rows at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from partition.cluster import Cluster, Identify
from partition.errors import InputError
from partition.labels import plain
from partition.partitioners import Partition

Piece = tuple[NDArray, NDArray, NDArray | None]
"""Sources, targets and weights of a piece of the edge list."""

Rows = tuple[NDArray, NDArray, NDArray | None, NDArray]
"""Some rows of a CSR: pointers from 0, columns, weights, identifiers of the nodes."""

MOST_NODES = 3_037_000_499
"""Row and column of an edge fit into one int64 together."""

BAND = 256
"""Rows of a band: within one, a row's number takes a byte."""

BLOCK = 1 << 19
"""Edge ends that are sorted at a time."""


def id_dtype(n: int) -> type:
    """int32 where as many ids fit, of nodes or of entries, else int64."""
    return np.int32 if n <= np.iinfo(np.int32).max else np.int64


@dataclass(eq=False)
class Shard:
    """What a piece holds of one cluster: edge ends by row, then column, without duplicates.

    Attributes
    ----------
    starts
        int64, shape (bands + 1,): where each band of rows begins.
    low
        uint8: the row of each edge end, within its band.
    columns
        The node at the other end; int32 where ids fit.
    weights
        Or None.
    """

    starts: NDArray[np.int64]
    low: NDArray[np.uint8]
    columns: NDArray
    weights: NDArray | None

    def keys(self, first: int, last: int, n: int) -> NDArray[np.int64]:
        """Row and column, ``row * n + column``, of the edge ends of some bands."""
        some = slice(self.starts[first], self.starts[last])
        bands = np.arange(first * BAND, last * BAND, BAND, dtype=np.int64)
        keys = np.repeat(bands, np.diff(self.starts[first : last + 1]))
        keys += self.low[some]
        keys *= n
        keys += self.columns[some]
        return keys


def check_ids(ids: NDArray, what: str) -> None:
    """Refuse node ids that are no integers."""
    if not np.issubdtype(ids.dtype, np.integer):
        raise InputError(
            f"{what} must be integers, got dtype {ids.dtype}; relabel=True takes text and objects too"
        )


def check_edges(piece: Piece, n: int, start: int = 0, where: str = "") -> None:
    """Refuse edges to missing nodes and weights that are not finite numbers.

    Parameters
    ----------
    start, where
        Number of the piece's first edge, and what precedes it in messages.

    Raises
    ------
    InputError
        Naming the first such edge.
    """
    src, dst, weights = piece
    for name, ids in (("source", src), ("target", dst)):
        check_ids(ids, f"edge {name}s")
        if len(ids) and (ids.min() < 0 or ids.max() >= n):
            at = int(np.flatnonzero((ids < 0) | (ids >= n))[0])
            raise InputError(
                f"{where}edge {start + at} ({src[at]}, {dst[at]}) names node {ids[at]}, "
                f"but the graph's nodes are 0 to {n - 1}"
            )
    if weights is not None:
        if weights.dtype.kind not in "iuf":
            raise InputError(f"weights must be numbers, got dtype {weights.dtype}")
        if weights.dtype.itemsize > 8:
            raise InputError(
                f"weights must be numbers of at most 64 bits, got dtype {weights.dtype}; "
                f"round them yourself, such as by weights.astype(float)"
            )
        if weights.dtype.kind == "f" and not np.isfinite(weights).all():
            at = int(np.argmin(np.isfinite(weights)))
            raise InputError(
                f"{where}edge {start + at} ({src[at]}, {dst[at]}) has weight {weights[at]}; "
                f"weights must be finite"
            )


def degrees(piece: Piece, where: str, *, n: int, directed: bool) -> NDArray[np.int64]:
    """How many edge ends of a piece fall on each node; duplicates count, it is an estimate."""
    check_edges(piece, n, 0, where)
    src, dst, _ = piece
    counts = np.bincount(src, minlength=n)
    if not directed:
        counts += np.bincount(dst, minlength=n)
    return counts


def split(
    piece: Piece,
    partition: Partition,
    directed: bool,
    runs: Sequence[int],
    start: int = 0,
    where: str = "",
) -> list[list[Shard] | None]:
    """Sort a piece of the edge list into shards.

    Parameters
    ----------
    runs
        Shape (runs + 1,): run r is clusters ``runs[r]`` to ``runs[r + 1]``.
    start, where
        As for `check_edges`.

    Returns
    -------
    For each run a shard a cluster; None for a piece that has no edges and so knows no weights.

    Raises
    ------
    InputError
        An edge breaks a rule.
    """
    n = partition.n
    src, dst, weights = piece
    check_edges(piece, n, start, where)
    if not len(src) and weights is None:
        return [None] * (len(runs) - 1)
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
    keys, weights = _merge(keys, weights)
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
        for first, last in pairwise(runs)
    ]


def _merge(keys: NDArray, weights: NDArray | None) -> tuple[NDArray, NDArray | None]:
    """Sort keys, perhaps in place, and keep one of each, with the smallest weight."""
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
    """A shard of sorted keys of the rows `base` to ``base + size``."""
    rows = keys // n
    columns: NDArray = np.empty(len(keys), id_dtype(n))
    np.subtract(keys, rows * n, out=columns, casting="same_kind")
    rows -= base
    starts = np.searchsorted(rows, np.arange(_bands(size) + 1) * BAND)
    # copies: a view would keep the whole piece alive
    low = np.bitwise_and(rows, BAND - 1, out=rows).astype(np.uint8)
    return Shard(starts, low, columns, None if weights is None else weights.copy())


def assemble(
    index: int,
    partition: Partition,
    uid: NDArray | Identify | None,
    directed: bool,
    shards: Sequence[Shard | None],
) -> Cluster:
    """Make a cluster of the shards that all pieces hold of it.

    Parameters
    ----------
    uid
        Identifiers of the cluster's nodes, or what gives them; None for the node ids themselves.

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
        keys, values = _merge(keys, values)
        rows = keys // n
        begin, used = used, used + len(keys)
        np.subtract(keys, rows * n, out=columns[begin:used], casting="same_kind")
        if weights is not None:
            weights[begin:used] = values
        rows -= first * BAND
        low, high = first * BAND, min(last * BAND, size)
        indptr[low + 1 : high + 1] = np.bincount(rows, minlength=high - low)
    np.cumsum(indptr, out=indptr)
    # shrinks in place: a slice would keep what duplicates took
    columns.resize(used, refcheck=False)
    if weights is not None:
        weights.resize(used, refcheck=False)
    indptr = indptr.astype(id_dtype(used))
    return Cluster(index, partition, indptr, columns, weights, uid, directed)


def joined(arrays: Sequence[NDArray], dtype: DTypeLike) -> NDArray:
    # unsafe: of what `common_dtype` gives, NumPy does not know that it holds them all
    return np.concatenate(arrays, dtype=dtype, casting="unsafe") if arrays else np.empty(0, dtype)


def _weight_dtype(shards: Sequence[Shard]) -> np.dtype | None:
    found = [(s.weights.dtype, least(s.weights)) for s in shards if s.weights is not None]
    if not found:
        return None
    if len(found) < len(shards):
        raise InputError("some pieces of the edge list have weights, others have none")
    return common_dtype(found)


def least(weights: NDArray) -> Any:
    """The smallest of some weights, or 0."""
    return weights.min() if len(weights) and weights.dtype.kind == "i" else 0


def common_dtype(found: Sequence[tuple[np.dtype, Any]]) -> np.dtype:
    """The dtype that holds the weights of several pieces, of which the dtypes and least weights are known.

    Raises
    ------
    InputError
        They are integers, some below 0 and others of 64 bits without a sign.
    """
    dtype = np.result_type(*(each for each, _ in found))
    if dtype.kind != "f" or any(each.kind == "f" for each, _ in found):
        return dtype
    if (lowest := min(low for _, low in found)) < 0:
        raise InputError(
            f"some pieces of the edge list have weights of dtype uint64, others have weights below 0, "
            f"such as {lowest}: no integers of 64 bits hold both"
        )
    return np.dtype(np.uint64)


def cut(cluster: Cluster, first: int, last: int) -> Rows:
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
    weight_dtype: DTypeLike | None,
    rows: Sequence[Rows],
) -> Cluster:
    """Make a cluster of consecutive `cut` rows."""
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


def as_piece(src: ArrayLike, dst: ArrayLike, weights: ArrayLike | None, where: str = "") -> Piece:
    """Sources, targets and weights as arrays.

    Raises
    ------
    InputError
        They are not one-dimensional, or not as long as each other, or weights do not fit one dtype.
    """
    src, dst = _ids(src), _ids(dst)
    weights = None if weights is None else _numbers(weights, where)
    shapes = [a.shape for a in (src, dst, weights) if a is not None]
    if len(set(shapes)) > 1 or len(shapes[0]) != 1:
        raise InputError(
            f"{where}src, dst and weights must be one-dimensional and as long as each other, "
            f"their shapes are {', '.join(map(str, shapes))}"
        )
    if not len(src):
        src, dst = np.empty((2, 0), np.int64)
        if weights is not None and weights.dtype == object:
            weights = weights.astype(float)
    return src, dst, weights


def _ids(values: ArrayLike) -> NDArray:
    """Ends of edges as an array that gives each back as it was, which NumPy's of a list may not."""
    ids = np.asarray(values)
    if isinstance(values, list | tuple) and ids.ndim == 1 and ids.dtype.kind in "fU":
        exact = plain(values)
        return exact if exact.dtype.kind in "iuU" or ids.dtype.kind == "U" else ids
    return ids


def _numbers(weights: ArrayLike, where: str) -> NDArray:
    """Weights as an array that holds them exactly; half precision, which SciPy lacks, becomes single."""
    values = np.asarray(weights)
    if values.dtype == np.float16:
        return values.astype(np.float32)
    if values.dtype.kind == "f" and isinstance(weights, list | tuple) and values.ndim == 1:
        for at in np.flatnonzero(abs(values) >= 2**53).tolist():
            if isinstance(weights[at], int | np.integer) and int(values[at]) != int(weights[at]):
                raise InputError(
                    f"{where}weight {weights[at]} of edge {at} does not fit float64, the dtype of the "
                    f"weights together; make them all integers of 64 bits, or all floats"
                )
    return values
