"""Edge ends in bands of rows: the distribution step of a distribution sort.

Edge ends are put into bands of consecutive rows, in the order of the table within each. A band is sorted
later, when it is read from all shards. See Knuth, The Art of Computer Programming 3, sections 5.2.5 and 5.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dgsuite.base.thresholds import compiles
from dgsuite.partition.arrays.loops import loops
from dgsuite.partition.construction.spool import Spool, Stored
from dgsuite.partition.sources.duplicates import Tally
from dgsuite.partition.sources.piece import Extremes, extremes, joined

BANDS = 1 << 14
"""Bands of a piece, at most: as many places to write to as a processor's caches take."""

LOW = {16: np.uint16, 32: np.uint32}
"""Bits of the number of a row within its band, at most, and their dtype."""

WHOLE = 62
"""Bits that all rows have in common."""

CELL = 12
"""Bits of the number of cells that rows are counted in, where a band has too many edge ends."""

SHARDS = 1 << 9
"""Consecutive shards that are small are joined until there are about so many: each block reads all. It is
more than there are pieces of a large graph, whose shards need not be joined."""


class Ends(NamedTuple):
    """Edges whose ends become entries of the adjacency.

    Attributes
    ----------
    src, dst
        Nodes.
    heads, tails
        Their rows.
    both
        Whether each edge has an entry in both rows, not in that of its source alone.
    keep
        Whether an edge whose ends are the same has an entry; it then has one.
    weights
        Of the edges, or None.
    """

    src: NDArray
    dst: NDArray
    heads: NDArray
    tails: NDArray
    both: bool
    keep: bool
    weights: NDArray | None


@dataclass(eq=False)
class Shard:
    """The edge ends of a range of rows in one piece: in bands of rows, in the table's order within each.

    A band is the rows of the range that have the same number but for the last `bits` bits. There are no
    more bands than edge ends, so that the shards of many small pieces do not take memory for each node.

    Attributes
    ----------
    bits
        See above.
    first, last
        The range of rows.
    starts
        uint32, shape (bands + 1,): index of the first edge end of each band.
    low
        Last bits of the row of each edge end.
    columns
        Node at the other end of the edge; int32 where ids fit.
    weights
        Weight of each edge end, or None.
    extremes
        Of the weights: see `dgsuite.partition.sources.piece.extremes`.
    tally
        What was counted of the edge ends.
    spool
        What the arrays are in, or may be put into.
    """

    bits: int
    first: int
    last: int
    starts: NDArray[np.uint32]
    low: NDArray | Stored
    columns: NDArray | Stored
    weights: NDArray | Stored | None
    extremes: Extremes
    tally: Tally
    spool: Spool | None = None

    def __len__(self) -> int:
        return len(self.columns)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "spool": None}

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays that are in memory."""
        arrays = (self.starts, self.low, self.columns, self.weights)
        return sum(a.nbytes for a in arrays if a is not None)

    def __sizeof__(self) -> int:
        """Bytes that Dask counts."""
        return object.__sizeof__(self) + self.nbytes

    def kept(self, spool: Spool) -> Shard:
        """This shard, with arrays of its own in a spool, or in memory if there is room."""
        put = np.copy if spool.fits(self.nbytes) else spool.write
        return replace(
            self,
            low=_put(self.low, put),
            columns=_put(self.columns, put),
            weights=None if self.weights is None else _put(self.weights, put),
            spool=spool,
        )

    def counts(self, bits: int) -> NDArray[np.int64]:
        """Edge ends in each band of at least as many rows."""
        bands = np.arange(self.first >> bits, (max(self.last - 1, self.first) >> bits) + 2)
        at = (bands << (bits - self.bits)) - (self.first >> self.bits)
        return np.diff(self.starts[at.clip(0, len(self.starts) - 1)].astype(np.int64))

    def _bands(self, first: int, last: int) -> tuple[int, NDArray[np.int64]]:
        """Number of the first band that has rows `first` to `last`, and `starts` of all that have."""
        base = first >> self.bits
        begin = base - (self.first >> self.bits)
        starts = self.starts[begin : begin + ((last - 1) >> self.bits) - base + 2]
        return base, starts.astype(np.int64)

    def part(self, first: int, last: int) -> tuple[NDArray, NDArray, NDArray, NDArray | None]:
        """The bands that have rows `first` to `last`: their `starts`, `low`, `columns` and `weights`."""
        _, starts = self._bands(first, last)
        some = slice(int(starts[0]), int(starts[-1]))
        weights = None if self.weights is None else self.weights[some]
        return starts, self.low[some], self.columns[some], weights

    def rows(self, first: int, last: int) -> NDArray[np.int64]:
        """Rows, from `first`, of the edge ends in the bands that have rows `first` to `last`."""
        base, starts = self._bands(first, last)
        rows = np.repeat((base + np.arange(len(starts) - 1)) << self.bits, np.diff(starts))
        rows += self.low[int(starts[0]) : int(starts[-1])]
        return rows - first

    def among(self, first: int, last: int) -> NDArray[np.bool_]:
        """Which of the edge ends in the bands that have rows `first` to `last` are in these rows."""
        rows = self.rows(first, last)
        return (rows >= 0) & (rows < last - first)


def _put(array: NDArray | Stored, put: Callable[[NDArray], NDArray | Stored]) -> NDArray | Stored:
    return array if isinstance(array, Stored) else put(array)


def scattered(ends: Ends, bounds: NDArray[np.int64], ids: DTypeLike) -> list[Shard]:
    """Edge ends in shards: one for each two consecutive bounds of rows, whose `tally` is of all ends.

    Parameters
    ----------
    ids
        Dtype of columns.
    """
    src, weights = ends.src, ends.weights
    first, last = int(bounds[0]), max(int(bounds[-1]), int(bounds[0]) + 1)
    most = min(BANDS, len(src) * (1 + ends.both))
    bits = next((b for b in range(17) if (last - 1 >> b) - (first >> b) < most), 32)
    base = first >> bits
    starts = np.zeros(((last - 1) >> bits) - base + 2, np.int64)
    dtype = LOW[16 if bits <= 16 else 32]
    order: NDArray | None = None
    if compiles(len(src)):
        loops().count_ends(*ends[:-1], bits, base, starts[1:])
        np.cumsum(starts, out=starts)
        low, columns = np.empty(starts[-1], dtype), np.empty(starts[-1], ids)
        order = None if weights is None else np.empty(starts[-1], np.uint32)
        to = starts[:-1].astype(np.uint64)
        loops().place_ends(*ends[:-1], bits, base, to, low, columns, order)
    else:
        rows, found, edges = _listed(ends)
        band = (rows >> bits) - base
        np.cumsum(np.bincount(band, minlength=len(starts) - 1), out=starts[1:])
        turn = np.argsort(band, kind="stable")
        low = (rows[turn] & ((1 << bits) - 1)).astype(dtype)
        columns, order = found[turn].astype(ids), edges[turn]
    weights = None if weights is None else weights[order]
    arrays = [low, columns, *([] if weights is None else [weights])]
    cuts = _divided(arrays, starts, bounds, bits)
    made = []
    for (a, b), (begin, end) in zip(pairwise(bounds.tolist()), pairwise(cuts), strict=True):
        bands = starts[(a >> bits) - base : (b - 1 >> bits) - base + 2] if a < b else starts[:1]
        own = None if weights is None else weights[begin:end]
        made.append(
            Shard(
                *(bits, a, b, (bands.clip(begin, end) - begin).astype(np.uint32)),
                *(low[begin:end], columns[begin:end], own),
                Extremes() if own is None else extremes(own),
                Tally(end - begin, 0),
            )
        )
    return made


def _divided(
    arrays: Sequence[NDArray], starts: NDArray[np.int64], bounds: NDArray[np.int64], bits: int
) -> list[int]:
    """Where each range of rows begins in arrays that are in bands. A band of several ranges is divided, in
    place; the first of the arrays has the last bits of rows.
    """
    base, low = int(bounds[0]) >> bits, arrays[0]
    rest = (bounds & ((1 << bits) - 1)).astype(low.dtype)
    band = ((bounds >> bits) - base).clip(0, len(starts) - 1)
    cuts = starts[band]
    cuts[bounds == bounds[-1]] = starts[-1]
    inner = np.flatnonzero((rest != 0) & (bounds > bounds[0]) & (bounds < bounds[-1]))
    for b in np.unique(band[inner]).tolist():
        of_band = inner[band[inner] == b]
        some = slice(int(starts[b]), int(starts[b + 1]))
        number = np.searchsorted(rest[of_band], low[some], side="right")
        turn = np.argsort(number, kind="stable")
        for array in arrays:
            array[some] = array[some][turn]
        cuts[of_band] += np.searchsorted(number[turn], np.arange(1, len(of_band) + 1))
    cuts[bounds == bounds[0]] = 0
    return cuts.tolist()


def _listed(ends: Ends) -> tuple[NDArray[np.int64], NDArray, NDArray]:
    """Row, column and edge of each edge end, in the order of the table."""
    way = slice(None) if ends.both else slice(1)
    rows = np.stack([ends.heads, ends.tails][way], axis=1).astype(np.int64)
    columns = np.stack([ends.dst, ends.src][way], axis=1)
    entered = np.ones(rows.shape, bool)
    same = ends.src == ends.dst
    entered[same] = False
    entered[same, 0] = ends.keep
    return rows[entered], columns[entered], np.nonzero(entered)[0]


def fewer(shards: Sequence[Shard], dtype: np.dtype | None) -> list[Shard]:
    """The same edge ends in some `SHARDS` shards: small ones that follow each other are joined.

    Parameters
    ----------
    dtype
        Of weights in joined shards.
    """
    enough = sum(map(len, shards)) // SHARDS
    groups: list[list[Shard]] = []
    ends = enough
    for shard in shards:
        if ends >= enough:
            groups.append([])
            ends = 0
        groups[-1].append(shard)
        ends += len(shard)
    if ends < enough and len(groups) > 1:  # bands of a small shard would be coarse
        groups[-2:] = [groups[-2] + groups[-1]]
    return [_joined(group, dtype) for group in groups]


def _joined(group: Sequence[Shard], dtype: np.dtype | None) -> Shard:
    if len(group) == 1:
        return group[0]
    first, last, spool = group[0].first, group[0].last, group[0].spool
    rows = np.concatenate([s.rows(first, last) for s in group]) + first
    columns = np.concatenate([s.columns[:] for s in group])
    weights = None if dtype is None else joined([s.weights[:] for s in group], dtype)  # type: ignore[index]
    ends = Ends(columns, columns, rows, rows, both=False, keep=True, weights=weights)
    (made,) = scattered(ends, np.array([first, last]), columns.dtype)
    return made if spool is None else made.kept(spool)


class Block(NamedTuple):
    """Rows that are sorted together.

    Attributes
    ----------
    first, last
        The rows.
    bits
        A band of the block is its rows with the same number but for so many bits.
    counts
        Edge ends in each band.
    """

    first: int
    last: int
    bits: int
    counts: NDArray[np.int64]

    @property
    def ends(self) -> int:
        """How many edge ends the block has."""
        return int(self.counts.sum())


def blocks(shards: Sequence[Shard], most: int) -> Iterator[Block]:
    """Cut the rows of shards into blocks of at most so many edge ends, each of which is sorted by itself.

    A row is not cut, however many it has.
    """
    if not shards:
        return
    first, last = shards[0].first, shards[0].last
    bits = max(shard.bits for shard in shards)
    counts = np.sum([shard.counts(bits) for shard in shards], axis=0)
    bounds = ((first >> bits) + np.arange(len(counts) + 1)) << bits
    for at, to, ends in _grouped(counts, most):
        rows = max(int(bounds[at]), first), min(int(bounds[to]), last)
        if ends <= most:
            yield Block(*rows, bits, counts[at:to])
        else:
            yield from _cut(shards, *rows, ends, most)


def _grouped(counts: NDArray[np.int64], most: int) -> Iterator[tuple[int, int, int]]:
    """Consecutive items with at most so many ends together, or one; and the ends."""
    before = np.append(0, np.cumsum(counts))
    at = 0
    while at < len(counts):
        to = max(int(np.searchsorted(before, before[at] + most, side="right")) - 1, at + 1)
        yield at, to, int(before[to] - before[at])
        at = to


def _cut(shards: Sequence[Shard], first: int, last: int, ends: int, most: int) -> Iterator[Block]:
    """Blocks of rows that are part of one band, by a histogram of these rows."""
    if ends <= most or last - first == 1:
        yield Block(first, last, WHOLE, np.array([ends]))
        return
    bits = max((last - first - 1).bit_length() - CELL, 0)
    counts = np.zeros(((last - first - 1) >> bits) + 1, np.int64)
    for shard in shards:
        rows = shard.rows(first, last)[shard.among(first, last)] >> bits
        counts += np.bincount(rows, minlength=len(counts))
    for at, to, some in _grouped(counts, most):
        yield from _cut(shards, first + (at << bits), min(first + (to << bits), last), some, most)
