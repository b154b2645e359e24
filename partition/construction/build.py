"""Build clusters from edges, in two steps that can run in any process.

`split` divides a piece of the edge list into shards, one for each range of clusters. `assemble` makes the
clusters of a range from its shards of all pieces. What this takes grows with edges, pieces and clusters, and
with none of their products. The rules are the same for every source of edges:

directed
    By default each input edge joins both its ends. With ``directed=True`` a row holds out-edges.
self-loops
    Dropped, since a processor does not send to itself over the network, and counted; or kept, apart from the
    adjacency (`Cluster.loops`).
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
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.base.thresholds import compiles
from dgsuite.partition.arrays.segments import fast, loops
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

BANDS = {8: np.uint8, 16: np.uint16, 32: np.uint32}
"""Bits of the number of a row within its band, and their dtype."""

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
    bits
        A band has ``2**bits`` rows.
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

    bits: int
    starts: NDArray[np.int64]
    low: NDArray
    columns: NDArray
    weights: NDArray | None
    tally: Tally

    def before(self, row: int) -> int:
        """Number of edge ends in the rows before one."""
        band = row >> self.bits
        rest = row - (band << self.bits)
        begin = int(self.starts[band])
        if not rest:
            return begin
        low = self.low[begin : self.starts[band + 1]]
        return begin + int(np.searchsorted(low, low.dtype.type(rest)))

    def __sizeof__(self) -> int:
        """Bytes that Dask counts."""
        arrays = (self.starts, self.low, self.columns, self.weights)
        return object.__sizeof__(self) + sum(a.nbytes for a in arrays if a is not None)

    def keys(self, first: int, last: int, n: int, out: NDArray[np.int64]) -> int:
        """Put into `out` row and column, as ``row * n + column``, of each edge end in rows `first` to `last`.

        Returns
        -------
        How many there are.
        """
        begin, end = self.before(first), self.before(last)
        band, keys = first >> self.bits, out[: end - begin]
        if (compiled := fast(len(keys))) is not None:
            compiled.join(self.starts, self.low, self.columns, self.bits, band, begin, end, n, keys)
            return len(keys)
        bands: NDArray[np.int64] = np.arange(band, -((-last) >> self.bits))
        starts = self.starts[band : band + len(bands) + 1]
        keys[:] = np.repeat(bands << self.bits, np.diff(starts.clip(begin, end)))
        keys += self.low[begin:end]
        keys *= n
        keys += self.columns[begin:end]
        return len(keys)


def split(
    piece: Piece,
    partition: Partition,
    directed: bool,
    ranges: Sequence[int],
    start: int = 0,
    where: str = "",
    rule: str = DEFAULT,
    keep: bool = False,
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
    keep
        Whether shards hold self-loops, each as an edge end.

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
    same = src == dst
    looped = np.zeros(len(bounds) - 1, np.int64)
    if same.any():
        at = np.searchsorted(bounds, partition.position(src[same]), side="right") - 1
        looped = np.bincount(at, minlength=len(looped))
    keys, weights = keys_and_weights(piece, same, partition, directed, keep)
    del src, dst, piece, same
    keys, weights = ordered(keys, weights, rule)
    there = np.diff(np.searchsorted(keys, bounds * n)) - (looped if keep else 0)
    if (weights is None and rule != "error") or rule in BY_PIECE:
        keys, weights, _ = merged(keys, weights, rule)
    cuts = np.searchsorted(keys, bounds * n)
    tallies = map(Tally, there.tolist(), looped.tolist())
    return [
        _pack(keys[a:b], None if weights is None else weights[a:b], int(lo), int(hi - lo), n, tally)
        for (a, b), (lo, hi), tally in zip(pairwise(cuts), pairwise(bounds), tallies, strict=True)
    ]


def keys_and_weights(
    piece: Piece, same: NDArray[np.bool_], partition: Partition, directed: bool, keep: bool
) -> tuple[NDArray[np.int64], NDArray | None]:
    """Keys of edge ends, as of `keys_of`, and the weight of each; then those of self-loops, if kept.

    Parameters
    ----------
    same
        Which edges are self-loops.
    """
    src, dst, weights = piece
    keys, looped = keys_of(src, dst, partition, directed), bool(same.any())
    if weights is not None:
        ends = weights[~same] if looped else weights
        ends = ends if directed else np.repeat(ends, 2)
        weights = np.append(ends, weights[same]) if looped and keep else ends
    if looped and keep:
        nodes = src[same].astype(np.int64)
        keys = np.append(keys, partition.position(nodes) * np.int64(partition.n) + nodes)
    return keys, weights


def keys_of(src: NDArray, dst: NDArray, partition: Partition, directed: bool) -> NDArray[np.int64]:
    """Row and column, as one number, of both ends of edges that are no self-loops; of directed ones, of one.

    The ends of an edge follow each other, so that a stable sort keeps the order of the rows at both.
    """
    n, ways = partition.n, 1 if directed else 2
    keys: NDArray[np.int64] = np.empty((len(src), ways), np.int64)
    if compiles(len(src)):
        src, dst = (
            ids if ids.dtype in (np.int32, np.int64) else ids.astype(np.int64) for ids in (src, dst)
        )
        rows = partition.position(src), partition.position(dst)
        return keys.ravel()[: loops().of_edges(src, dst, *rows, n, not directed, keys.ravel())]
    for way, (heads, tails) in enumerate([(src, dst), (dst, src)][:ways]):
        part = keys[:, way]
        np.multiply(partition.position(heads), n, out=part, dtype=np.int64, casting="same_kind")
        np.add(part, tails, out=part, dtype=np.int64, casting="same_kind")
    return keys[src != dst].ravel()


def _pack(
    keys: NDArray, weights: NDArray | None, base: int, size: int, n: int, tally: Tally
) -> Shard:
    """A shard made from sorted keys of the rows `base` to ``base + size``."""
    bits = next((bits for bits in BANDS if size <= max(len(keys), 1) << bits), max(BANDS))
    starts = np.zeros(((size - 1) >> bits) + 2, np.int64)
    low = np.empty(len(keys), BANDS[bits])
    columns: NDArray = np.empty(len(keys), id_dtype(n))
    _take_apart(keys, n, base, bits, starts, low, columns)
    np.cumsum(starts, out=starts)
    # a copy, since a view would keep the weights of the whole piece in memory
    return Shard(bits, starts, low, columns, None if weights is None else weights.copy(), tally)


def _take_apart(
    keys: NDArray,
    n: int,
    first: int,
    bits: int,
    starts: NDArray[np.int64],
    low: NDArray | None,
    columns: NDArray,
) -> None:
    """Columns of sorted keys, and their rows, from `first`, in bands of ``2**bits``.

    Parameters
    ----------
    starts
        All 0; becomes the number of keys in each band, which stands after the band.
    low
        For the rows within bands, unless a band is a row.
    """
    if (compiled := fast(len(keys))) is not None:
        compiled.take_apart(keys, n, first, bits, starts, low, columns)
        return
    rows = keys // n
    np.subtract(keys, rows * n, out=columns, casting="same_kind")
    rows -= first
    starts[1:] = np.bincount(rows >> bits, minlength=len(starts) - 1)
    if low is not None:
        low[:] = rows & ((1 << bits) - 1)


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
    keep: bool = False,
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
    keep
        Whether self-loops are kept: shards hold them.

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
    looped: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    of_loops: list[NDArray] = [] if dtype is None else [np.empty(0, dtype)]
    blocks = list(_blocks(some, 0, size, total))
    # memory for the keys of a block and once more for sorting: new pages take as long as the sort
    room = np.empty((2, max((ends for _, _, ends in blocks), default=0)), np.int64)
    for low, high, ends in blocks:
        keys, at = room[0, :ends], 0
        for shard in some:
            at += shard.keys(low, high, n, keys[at:])
        values = None
        if weights is not None:
            parts = [s.weights[s.before(low) : s.before(high)] for s in some]  # type: ignore[index]
            values = joined(parts, weights.dtype)
        keys, values, bad = merged(*ordered(keys, values, rule, room[1]), rule)
        if len(bad):
            nodes = partition.node(bad // n + partition.offsets[first]).tolist()
            wrong.append(min(zip(nodes, (bad % n).tolist(), strict=True)))
        if keep:
            loop = partition.node(keys // n + partition.offsets[first]) == keys % n
            looped.append(keys[loop] // n)
            keys = keys[~loop]
            if values is not None:
                of_loops.append(values[loop])
                values = values[~loop]
        begin, used = used, used + len(keys)
        _take_apart(keys, n, low, 0, indptr[low : high + 1], None, columns[begin:used])
        if weights is not None:
            weights[begin:used] = values
    np.cumsum(indptr, out=indptr)
    # resized in place, since a slice would keep the memory of the duplicates
    columns.resize(used, refcheck=False)
    if weights is not None:
        weights.resize(used, refcheck=False)
    cuts = indptr[starts].tolist()
    rows = np.concatenate(looped)
    at = np.searchsorted(rows, starts).tolist()
    values = np.concatenate(of_loops) if of_loops else None
    clusters = [
        Cluster(
            k,
            partition,
            (indptr[a : b + 1] - s).astype(id_dtype(e - s)),
            _own(columns, s, e),
            None if weights is None else _own(weights, s, e),
            uid if uid is None or callable(uid) else _own(uid, a, b),
            directed,
            loops=_own(rows, i, j) - a if keep else None,
            loop_weights=None if values is None or not keep else _own(values, i, j),
        )
        for k, (a, b), (s, e), (i, j) in zip(
            range(first, last), pairwise(starts), pairwise(cuts), pairwise(at), strict=True
        )
    ]
    tally = tallied(shard.tally for shard in some)
    return Assembled(
        clusters, tally._replace(wrong=min(wrong, default=None), kept=len(rows) if keep else None)
    )


def _own(values: NDArray, first: int, last: int) -> NDArray:
    """A part of an array in memory of its own; a part that is the whole is not copied."""
    return values if last - first == len(values) else values[first:last].copy()


def _blocks(
    shards: Sequence[Shard], first: int, last: int, ends: int
) -> Iterator[tuple[int, int, int]]:
    """Cut rows with `ends` edge ends into blocks, each of which is sorted separately.

    Yields
    ------
    First and last row of a block, and its edge ends.
    """
    if ends <= BLOCK or last - first <= FEW:
        yield first, last, ends
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
