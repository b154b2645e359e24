"""Build clusters from edges, in two steps that can run in any process.

`split` divides a piece of the edge list into shards, one for each range of clusters. `assemble` makes the
clusters of a range from its shards of all pieces. What this takes grows with edges, pieces and clusters, and
with none of their products. The rules are the same for every source of edges:

directed
    By default each input edge joins both its ends. With ``directed=True`` a row holds out-edges.
self-loops
    Dropped, since a processor does not send to itself over the network, and counted.
duplicates
    Merged, also (u, v) and (v, u) of an undirected graph, by a rule (see `sources.duplicates`), and counted.
weights
    Finite integers or floating-point numbers, for all edges or none.

Memory limits the size of the graphs that can be built. So a shard takes 5 bytes per edge end, and
`assemble` sorts a block of rows at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dgsuite.base.errors import InputError
from dgsuite.partition.clusters.cluster import Cluster, Identify
from dgsuite.partition.clusters.partitioners import Partition
from dgsuite.partition.sources.duplicates import (
    BY_PIECE,
    DEFAULT,
    Tally,
    merged,
    ordered,
    summed,
    tallied,
)
from dgsuite.partition.sources.piece import Piece, check_edges, common_dtype, joined, least

Rows = tuple[NDArray, NDArray, NDArray | None, NDArray]
"""Consecutive rows of a CSR matrix: row pointers from 0, columns, weights, identifiers of the nodes."""

BANDS = {1 << 8: np.uint8, 1 << 16: np.uint16, 1 << 32: np.uint32}
"""Rows per band, and the dtype of the number of a row within its band."""

BLOCK = 1 << 19
"""Edge ends that are sorted at a time."""

FEW = 1 << 8
"""Rows that are sorted at a time, however many edge ends they have."""


def id_dtype(n: int) -> type:
    """int32 if n ids (of nodes or entries) fit into it, else int64."""
    return np.int32 if n <= np.iinfo(np.int32).max else np.int64


@dataclass(eq=False)
class Shard:
    """The edge ends of a range of clusters in one piece, sorted by row, then column.

    They are without duplicates where the rule may be applied to each piece first. Rows are counted from
    the range's first one. There are no more bands than edge ends, so that the shards of many small pieces
    do not take memory for each node.

    Attributes
    ----------
    band
        Rows per band.
    starts
        int64, shape (bands + 1,): index of the first edge end of each band of rows.
    low
        Row of each edge end, relative to its band.
    columns
        Node at the other end of the edge; int32 where ids fit.
    weights
        Weight of each edge end, or None.
    tally
        What was counted before duplicates were merged.
    """

    band: int
    starts: NDArray[np.int64]
    low: NDArray
    columns: NDArray
    weights: NDArray | None
    tally: Tally

    def before(self, row: int) -> int:
        """Number of edge ends in the rows before one."""
        band, rest = divmod(row, self.band)
        begin = int(self.starts[band])
        if not rest:
            return begin
        low = self.low[begin : self.starts[band + 1]]
        return begin + int(np.searchsorted(low, low.dtype.type(rest)))

    def __sizeof__(self) -> int:
        """Bytes that Dask counts."""
        arrays = (self.starts, self.low, self.columns, self.weights)
        return object.__sizeof__(self) + sum(a.nbytes for a in arrays if a is not None)

    def keys(self, first: int, last: int, n: int) -> NDArray[np.int64]:
        """Row and column, as ``row * n + column``, of each edge end in rows `first` to `last`."""
        begin, end = self.before(first), self.before(last)
        bands: NDArray[np.int64] = np.arange(first // self.band, -(-last // self.band))
        starts = self.starts[first // self.band : len(bands) + 1 + first // self.band]
        keys = np.repeat(bands * self.band, np.diff(starts.clip(begin, end)))
        keys += self.low[begin:end]
        keys *= n
        keys += self.columns[begin:end]
        return keys


def split(
    piece: Piece,
    partition: Partition,
    directed: bool,
    ranges: Sequence[int],
    start: int = 0,
    where: str = "",
    rule: str = DEFAULT,
) -> list[Shard | None]:
    """Divide a piece of the edge list into shards.

    Parameters
    ----------
    ranges
        Shape (ranges + 1,): range r is clusters ``ranges[r]`` to ``ranges[r + 1]``.
    start, where
        As for `dgsuite.partition.sources.piece.check_edges`.
    rule
        By which duplicates are merged.

    Returns
    -------
    A shard for each range; None if the piece has neither edges nor weights.

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
    bounds = partition.offsets[np.asarray(ranges)]
    loops = src == dst
    looped = np.zeros(len(bounds) - 1, np.int64)
    if loops.any():
        at = np.searchsorted(bounds, partition.position(src[loops]), side="right") - 1
        looped = np.bincount(at, minlength=len(looped))
        src, dst = src[~loops], dst[~loops]
        weights = None if weights is None else weights[~loops]
    ends = [(src, dst)] if directed else [(src, dst), (dst, src)]
    # the ends of an edge follow each other, so that a stable sort keeps the order of the rows at both
    keys: NDArray[np.int64] = np.empty((len(src), len(ends)), np.int64)
    for way, (heads, tails) in enumerate(ends):
        part = keys[:, way]
        np.multiply(partition.position(heads), n, out=part, dtype=np.int64, casting="same_kind")
        np.add(part, tails, out=part, dtype=np.int64, casting="same_kind")
    keys = keys.ravel()  # type: ignore[assignment]
    if weights is not None and not directed:
        weights = np.repeat(weights, 2)
    del src, dst, piece, loops, ends, part, heads, tails
    keys, weights = ordered(keys, weights, rule)
    there = np.diff(np.searchsorted(keys, bounds * n))
    if (weights is None and rule != "error") or rule in BY_PIECE:
        keys, weights, _ = merged(keys, weights, rule)
    cuts = np.searchsorted(keys, bounds * n)
    tallies = map(Tally, there.tolist(), looped.tolist())
    return [
        _pack(keys[a:b], None if weights is None else weights[a:b], int(lo), int(hi - lo), n, tally)
        for (a, b), (lo, hi), tally in zip(pairwise(cuts), pairwise(bounds), tallies, strict=True)
    ]


def _pack(
    keys: NDArray, weights: NDArray | None, base: int, size: int, n: int, tally: Tally
) -> Shard:
    """A shard made from sorted keys of the rows `base` to ``base + size``."""
    rows = keys // n
    columns: NDArray = np.empty(len(keys), id_dtype(n))
    np.subtract(keys, rows * n, out=columns, casting="same_kind")
    rows -= base
    band = next((band for band in BANDS if size <= band * max(len(keys), 1)), max(BANDS))
    starts = np.searchsorted(rows, np.arange(-(-size // band) + 1) * band)
    # copies, since a view would keep the whole piece in memory
    low = np.bitwise_and(rows, band - 1, out=rows).astype(BANDS[band])
    return Shard(band, starts, low, columns, None if weights is None else weights.copy(), tally)


class Assembled(list[Cluster]):
    """Clusters of a range, and what was counted of their rows."""

    def __init__(self, clusters: Sequence[Cluster], tally: Tally) -> None:
        super().__init__(clusters)
        self.tally = tally


def assemble(
    first: int,
    last: int,
    partition: Partition,
    uid: NDArray | Identify | None,
    directed: bool,
    shards: Sequence[Shard | None],
    rule: str = DEFAULT,
) -> Assembled:
    """Make clusters `first` to `last` from their shards of all pieces.

    Parameters
    ----------
    uid
        Identifiers of these clusters' nodes, by position, or a function that returns them; None for the
        node ids.
    shards
        In the order of the pieces.
    rule
        By which duplicates are merged.

    Raises
    ------
    InputError
        Some pieces have weights, others not.
    """
    n = partition.n
    starts = (partition.offsets[first : last + 1] - partition.offsets[first]).tolist()
    size = starts[-1]
    some = [shard for shard in shards if shard is not None]
    dtype = _weight_dtype(some, rule)
    total = sum(len(shard.columns) for shard in some)
    columns: NDArray = np.empty(total, id_dtype(n))
    weights = None if dtype is None else np.empty(total, dtype)
    indptr = np.zeros(size + 1, np.int64)
    used, wrong = 0, []
    for low, high in _blocks(some, 0, size, total):
        keys = joined([s.keys(low, high, n) for s in some], np.int64)
        values = None
        if weights is not None:
            parts = [s.weights[s.before(low) : s.before(high)] for s in some]  # type: ignore[index]
            values = joined(parts, weights.dtype)
        keys, values, bad = merged(*ordered(keys, values, rule), rule)
        if len(bad):
            nodes = partition.node(bad // n + partition.offsets[first]).tolist()
            wrong.append(min(zip(nodes, (bad % n).tolist(), strict=True)))
        rows = keys // n
        begin, used = used, used + len(keys)
        np.subtract(keys, rows * n, out=columns[begin:used], casting="same_kind")
        if weights is not None:
            weights[begin:used] = values
        rows -= low
        indptr[low + 1 : high + 1] = np.bincount(rows, minlength=high - low)
    np.cumsum(indptr, out=indptr)
    # resized in place, since a slice would keep the memory of the duplicates
    columns.resize(used, refcheck=False)
    if weights is not None:
        weights.resize(used, refcheck=False)
    ends = indptr[starts].tolist()
    clusters = [
        Cluster(
            k,
            partition,
            (indptr[a : b + 1] - s).astype(id_dtype(e - s)),
            _own(columns, s, e),
            None if weights is None else _own(weights, s, e),
            uid if uid is None or callable(uid) else _own(uid, a, b),
            directed,
        )
        for k, (a, b), (s, e) in zip(
            range(first, last), pairwise(starts), pairwise(ends), strict=True
        )
    ]
    tally = tallied(shard.tally for shard in some)
    return Assembled(clusters, tally._replace(wrong=min(wrong, default=None)))


def _own(values: NDArray, first: int, last: int) -> NDArray:
    """A part of an array in memory of its own; a part that is the whole is not copied."""
    return values if last - first == len(values) else values[first:last].copy()


def _blocks(shards: Sequence[Shard], first: int, last: int, ends: int) -> Iterator[tuple[int, int]]:
    """Cut rows with `ends` edge ends into blocks, each of which is sorted separately."""
    if ends <= BLOCK or last - first <= FEW:
        yield first, last
        return
    middle = (first + last) // 2
    left = sum(shard.before(middle) - shard.before(first) for shard in shards)
    yield from _blocks(shards, first, middle, left)
    yield from _blocks(shards, middle, last, ends - left)


def _weight_dtype(shards: Sequence[Shard], rule: str) -> np.dtype | None:
    found = [(s.weights.dtype, least(s.weights)) for s in shards if s.weights is not None]
    if not found:
        return None
    if len(found) < len(shards):
        raise InputError("some pieces of the edge list have weights, others have none")
    return summed(common_dtype(found), rule)


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
