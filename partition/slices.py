"""Rows of an adjacency in slices, for sums over all of their entries.

A slice is eight rows of about the same length, stored entry by entry: the first of each of the eight, then
the second of each, and so on (SELL-C-sigma: Kreutzer, Hager, Wellein, Fehske and Bishop 2014). A loop over it
adds to eight sums side by side, each in the order of its row, and ends once in eight rows. Where few nodes
have most of the edges, their values are put side by side first, so that they stay in the processor's cache.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partition.segments import group, loops

ROWS = 8
"""Rows of a slice: `_compiled.sum_slices` requires eight."""

CACHED = 1 << 16
"""Values that stay in a processor's second-level cache."""


class Slices(NamedTuple):
    """Rows in slices.

    Attributes
    ----------
    size
        Number of rows.
    rows
        The rows of all slices, shape (slices * `ROWS`,), from the longest on; after the last comes `size`.
    starts
        First entry of each slice, shape (slices + 1,).
    entries
        Places of the values in `read`, or slots where that is None; shorter rows are filled up with the
        place after the last, or slot.
    read
        Slots of the values that are read, from the one that most rows read on; None to read where they are.
    """

    size: int
    rows: NDArray
    starts: NDArray[np.int64]
    entries: NDArray
    read: NDArray | None

    def sums(self, values: NDArray, zero: Any) -> NDArray:
        """The sum of each row's values, in the dtype of `zero`; values have a 0 after the last slot."""
        if self.read is not None:
            packed = np.empty(len(self.read) + 1, values.dtype)
            values.take(self.read, out=packed[:-1], mode="clip")
            packed[-1] = 0
            values = packed
        out = np.zeros(self.size + 1, zero.dtype)
        loops().sum_slices(self.starts, self.entries, self.rows, values, zero, out)
        return out[:-1]


def make_slices(indptr: NDArray, indices: NDArray, slots: int) -> Slices:
    """Cut an adjacency, with so many columns, into slices."""
    length = np.diff(indptr)
    size = len(length)
    rows = _falling(length)[: np.count_nonzero(length)]
    last = np.full(-len(rows) % ROWS, size)
    rows = np.concatenate([rows, last]).astype(indices.dtype)
    longest = np.append(length, 0)[rows[::ROWS]].astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(ROWS * longest)])
    readers = np.bincount(indices, minlength=slots)
    read = _falling(readers)[: np.count_nonzero(readers)]
    hubs = len(read) > CACHED and 2 * readers[read[:CACHED]].sum() > len(indices)
    read = read if hubs else np.arange(slots)
    place = np.empty(slots, indices.dtype)
    place[read] = np.arange(len(read))
    entries = np.full(starts[-1], len(read), indices.dtype)
    loops().slice_rows(indptr, indices, rows, starts, place, entries)
    return Slices(size, rows, starts, entries, read if hubs else None)


def _falling(numbers: NDArray) -> NDArray[np.int64]:
    """Indices of some numbers from 0 on, from the greatest to the least."""
    most = int(numbers.max(initial=0))
    return group(most - numbers, most + 1)[2]
