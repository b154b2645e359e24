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

Memory limits the size of the graphs that can be built. So edge ends are only distributed to bands of rows
by `split` (see `shards`), wait on local disk (see `spool`), and are sorted by `assemble`, a block of rows at
a time. Beside the graph itself, this takes a small part of its memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.base.thresholds import compiles
from dgsuite.partition.arrays import mapped
from dgsuite.partition.arrays.loops import fast, loops
from dgsuite.partition.clusters.cluster import Cluster, Identify
from dgsuite.partition.clusters.partitioners import Partition
from dgsuite.partition.construction.shards import Block, Ends, Shard, blocks, fewer, scattered
from dgsuite.partition.sources.duplicates import DEFAULT, Tally, merged, ordered, summed, tallied
from dgsuite.partition.sources.piece import Piece, check_edges, common_dtype, joined, lost

BLOCK = 1 << 18
"""Edge ends that are sorted at a time; of a large graph, more."""

PARTS = 1 << 6
"""Blocks of a large graph."""


MOST_SHORT = int(np.iinfo(np.int32).max)
"""As many nodes, or entries of a cluster, are numbered in 32 bits; tests have less."""


def id_dtype(n: int) -> type:
    """int32 if n ids (of nodes or entries) fit into it, else int64."""
    return np.int32 if n <= MOST_SHORT else np.int64


class Plan(NamedTuple):
    """How rows of a table become clusters.

    Attributes
    ----------
    directed
        Whether edges have a direction.
    rule
        By which repeated edges are merged: one of `dgsuite.base.names.RULES`.
    keep
        Whether self-loops are kept.
    disk
        Whether clusters have their edges in mapped files.
    """

    directed: bool
    rule: str = DEFAULT
    keep: bool = False
    disk: bool = False


def split(
    piece: Piece,
    partition: Partition,
    plan: Plan,
    ranges: Sequence[int],
    start: int = 0,
    where: str = "",
) -> list[Shard | None]:
    """Divide a piece of the edge list into shards.

    Parameters
    ----------
    ranges
        Shape (ranges + 1,): range r is clusters ``ranges[r]`` to ``ranges[r + 1]``.
    start, where
        As for `dgsuite.partition.sources.piece.check_edges`.

    Returns
    -------
    A shard for each range, in which a self-loop that is kept is an edge end; None if the piece has neither
    edges nor weights, nor lost any row.

    Raises
    ------
    InputError
        An edge breaks a rule.
    """
    src, dst, weights = piece
    check_edges(piece, partition.n, start, where)
    missing = lost(piece)
    if not len(src) and weights is None and not missing:
        return [None] * (len(ranges) - 1)
    bounds = partition.offsets[np.asarray(ranges)]
    src, dst = map(_numbers, (src, dst))
    same = src == dst
    looped = np.zeros(len(bounds) - 1, np.int64)
    if same.any():
        at = np.searchsorted(bounds, partition.position(src[same]), side="right") - 1
        looped = np.bincount(at, minlength=len(looped))
    del same
    rows = partition.position(src), partition.position(dst)
    ends = Ends(src, dst, *rows, not plan.directed, plan.keep, weights)
    shards = scattered(ends, bounds, id_dtype(partition.n))
    for shard, count in zip(shards, looped.tolist(), strict=True):
        shard.tally = Tally(len(shard) - plan.keep * count, count, missing=missing)
        missing = 0
    return list(shards)


def _numbers(ids: NDArray) -> NDArray:
    """Ids of a type that compiled loops take."""
    return ids if ids.dtype in (np.int32, np.int64) else ids.astype(np.int64)


def keys_of(src: NDArray, dst: NDArray, partition: Partition, directed: bool) -> NDArray[np.int64]:
    """Row and column, as one number, of both ends of edges that are no self-loops; of directed ones, of one.

    The ends of an edge follow each other, so that a stable sort keeps the order of the rows at both.
    """
    n, ways = partition.n, 1 if directed else 2
    keys: NDArray[np.int64] = np.empty((len(src), ways), np.int64)
    if compiles(len(src)):
        src, dst = map(_numbers, (src, dst))
        rows = partition.position(src), partition.position(dst)
        return keys.ravel()[: loops().of_edges(src, dst, *rows, n, not directed, keys.ravel())]
    for way, (heads, tails) in enumerate([(src, dst), (dst, src)][:ways]):
        part = keys[:, way]
        np.multiply(partition.position(heads), n, out=part, dtype=np.int64, casting="same_kind")
        np.add(part, tails, out=part, dtype=np.int64, casting="same_kind")
    return keys[src != dst].ravel()


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
    plan: Plan,
    shards: Sequence[Shard | None],
) -> Assembled:
    """Make clusters `first` to `last` from their shards of all pieces.

    Parameters
    ----------
    uid
        Identifiers of these clusters' nodes, by position, or a function that returns them; None for the
        node ids.
    shards
        In the order of the pieces.

    Raises
    ------
    InputError
        Some pieces have weights, others not.
    """
    n, (directed, rule, keep, disk) = partition.n, plan
    some = [shard for shard in shards if shard is not None]
    tally = tallied(shard.tally for shard in some)
    given = _weight_dtype(some)
    some = fewer(some, given)
    dtype = None if given is None else summed(given, rule)
    offsets = partition.offsets[first : last + 1]
    most = max(BLOCK, sum(map(len, some)) // PARTS)
    cut = list(blocks(some, most))
    rows = Rows(offsets, n, dtype, cut, disk)
    wrong = []
    looped: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    of_loops: list[NDArray] = [] if dtype is None else [np.empty(0, dtype)]
    # memory for the keys of a block and once more for sorting: new pages take as long as the sort
    room = np.empty((2, max((block.ends for block in cut), default=0)), np.int64)
    for block in cut:
        low = block.first
        keys, values, bad = merged(*_sorted(some, block, n, dtype, rule, room), rule)
        if len(bad):
            nodes = partition.node(bad // n + low).tolist()
            wrong.append(min(zip(nodes, (bad % n).tolist(), strict=True)))
        if keep:
            loop = partition.node(keys // n + low) == keys % n
            looped.append(keys[loop] // n + low)
            keys = keys[~loop]
            if values is not None:
                of_loops.append(values[loop])
                values = values[~loop]
        rows.add(low, block.last, keys, values)
    del room
    positions = np.concatenate(looped)
    at = np.searchsorted(positions, offsets).tolist()
    values = np.concatenate(of_loops) if of_loops else None
    clusters = [
        Cluster(
            k,
            partition,
            *made,
            uid if uid is None or callable(uid) else uid[a - offsets[0] : b - offsets[0]].copy(),
            directed,
            loops=positions[i:j] - a if keep else None,
            loop_weights=None if values is None or not keep else values[i:j].copy(),
            disk=disk,
        )
        for k, made, (a, b), (i, j) in zip(
            range(first, last), rows.done(), pairwise(offsets), pairwise(at), strict=True
        )
    ]
    kept = len(positions) if keep else None
    return Assembled(clusters, tally._replace(wrong=min(wrong, default=None), kept=kept))


def _sorted(
    shards: Sequence[Shard],
    block: Block,
    n: int,
    dtype: np.dtype | None,
    rule: str,
    room: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray | None]:
    """``(row - first) * n + column`` of each edge end of a block, ascending, and weights.

    Equal ones are in the order of the table where the rule needs it.
    """
    first, last, bits, counts = block
    parts = []
    keys, spare = room[:, : block.ends]
    if (compiled := fast(len(keys))) is not None:
        to = np.cumsum(counts) - counts
        order, other = (None, None) if dtype is None else np.empty((2, len(keys)), np.uint32)
        begin = 0
        for shard in shards:
            starts, low, columns, weights = shard.part(first, last)
            given = (starts, low, columns, shard.bits, bits, first, last, n)
            count = compiled.join(*given, to, keys, begin, order)
            begin += count
            if weights is not None and count < len(weights):
                weights = weights[shard.among(first, last)]
            parts.append(weights)
        compiled.sort_bands(keys, spare, to, order, other)
        return keys, None if dtype is None else joined(parts, dtype)[order]  # type: ignore[arg-type]
    at = 0
    for shard in shards:
        _, _, columns, weights = shard.part(first, last)
        some = shard.among(first, last)
        found = shard.rows(first, last)[some] * n + columns[some]
        keys[at : at + len(found)] = found
        at += len(found)
        parts.append(None if weights is None else weights[some])
    return ordered(keys, None if dtype is None else joined(parts, dtype), rule)  # type: ignore[arg-type]


@dataclass
class Filling:
    """A cluster's arrays, of which the first entries are there.

    Attributes
    ----------
    counts
        Entries of each row, which stand after the row.
    """

    counts: NDArray[np.int64]
    columns: NDArray
    weights: NDArray | None
    used: int = 0

    def add(
        self, keys: NDArray[np.int64], n: int, row: int, rows: slice, weights: NDArray | None
    ) -> None:
        """Append some rows, of which the first has keys from ``row * n`` on."""
        some = slice(self.used, self.used + len(keys))
        columns, counts = self.columns[some], self.counts[rows.start : rows.stop + 1]
        self.used = some.stop
        if self.weights is not None:
            self.weights[some] = weights
        if (compiled := fast(len(keys))) is not None:
            compiled.take_apart(keys, n, row, counts, columns)
            return
        found = keys // n
        np.subtract(keys, found * n, out=columns, casting="same_kind")
        counts[1:] = np.bincount(found - row, minlength=len(counts) - 1)

    def done(self) -> tuple[NDArray, NDArray, NDArray | None]:
        """Row pointer, columns and weights."""
        np.cumsum(self.counts, out=self.counts)
        weights = None if self.weights is None else self._cut(self.weights)
        return self.counts.astype(id_dtype(self.used)), self._cut(self.columns), weights

    def _cut(self, array: NDArray) -> NDArray:
        """An array without the room that is left over."""
        if mapped.is_mapped(array):
            return array[: self.used]
        array.resize(self.used, refcheck=False)  # in place, since a slice would keep the memory
        return array


class Rows:
    """The arrays of clusters, filled row after row, so that nothing is copied.

    Parameters
    ----------
    offsets
        First row of each cluster, and the end of the last.
    dtype
        Of weights, or None.
    blocks
        The blocks of rows that are to come.
    disk
        Whether arrays are mapped files.
    """

    def __init__(
        self,
        offsets: NDArray[np.int64],
        n: int,
        dtype: np.dtype | None,
        blocks: Sequence[Block],
        disk: bool,
    ) -> None:
        self._empty = mapped.on_disk if disk else np.empty
        self._offsets, self._n, self._dtype = offsets.tolist(), n, dtype
        self._begins: NDArray[np.int64] = np.array([block.first for block in blocks], np.int64)
        self._before = np.append(0, np.cumsum([block.ends for block in blocks], dtype=np.int64))
        self._made: list[tuple[NDArray, NDArray, NDArray | None]] = []
        self._filling: Filling | None = None

    def add(self, low: int, high: int, keys: NDArray[np.int64], weights: NDArray | None) -> None:
        """Append rows `low` to `high`, whose entries are ``(row - low) * n + column``, ascending."""
        at, row = 0, low
        while row < high:
            begin, end = self._offsets[len(self._made) : len(self._made) + 2]
            stop = min(high, end)  # an empty cluster has none of the rows
            to = len(keys) if stop == high else int(np.searchsorted(keys, (stop - low) * self._n))
            filling = self._filling
            if filling is None:
                filling = self._filling = self._begun(to - at + self._ahead(high, end))
            own = None if weights is None else weights[at:to]
            filling.add(keys[at:to], self._n, row - low, slice(row - begin, stop - begin), own)
            if stop == end:
                self._end(filling)
            at, row = to, stop

    def done(self) -> list[tuple[NDArray, NDArray, NDArray | None]]:
        """Row pointer, columns and weights of each cluster; those without rows are empty."""
        while len(self._made) < len(self._offsets) - 1:
            self._end(self._filling or self._begun(0))
        return self._made

    def _ahead(self, first: int, last: int) -> int:
        """Edge ends of the blocks that begin in some rows."""
        a, b = np.searchsorted(self._begins, [first, max(first, last)])
        return int(self._before[b] - self._before[a])

    def _begun(self, ends: int) -> Filling:
        """The next cluster, which has at most so many entries."""
        begin, end = self._offsets[len(self._made) : len(self._made) + 2]
        counts = np.zeros(end - begin + 1, np.int64)
        weights = None if self._dtype is None else self._empty(ends, self._dtype)
        return Filling(counts, self._empty(ends, id_dtype(self._n)), weights)

    def _end(self, filling: Filling) -> None:
        self._made.append(filling.done())
        self._filling = None


def _weight_dtype(shards: Sequence[Shard]) -> np.dtype | None:
    found = [(s.weights.dtype, s.extremes) for s in shards if s.weights is not None]
    if not found:
        return None
    if len(found) < len(shards):
        raise InputError("some pieces of the edge list have weights, others have none")
    return common_dtype(found)
