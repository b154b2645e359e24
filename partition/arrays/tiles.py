"""An adjacency in tiles, for sums over all of its entries.

A tile is the part of the adjacency in some consecutive rows and columns (Nishtala, Vuduc, Demmel and Yelick
2007, "When cache blocking of sparse matrix vector multiply works and why"). An entry takes four bytes: its
column and its row, counted within its tile. Entries of a tile are in the order of their columns. So values
are read in order; the sums, which are read and written at random, are so few that they stay in the
processor's cache. Two entries that follow one another mostly belong to different rows, so the
processor need not wait for one addition before it begins the next.

All values that are read pass through the cache once for each strip of rows. So a strip has about as many
rows as give it one entry for each value, as long as their sums stay in the third-level cache.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.partition.arrays.loops import loops
from dgsuite.partition.arrays.mapped import empty

LEAST, MOST = 15, 18
"""A tile has 2^15 to 2^18 rows, whose sums take 256 KiB to 2 MiB."""

KEY = 32
"""Bits of a row and a column within a tile."""

APART = 1 << 17
"""Clusters of at least so many rows have tiles of their own, so that threads add side by side."""


class Tiles(NamedTuple):
    """An adjacency in tiles, by row, then column: each row gets its values in the order of the columns.

    Attributes
    ----------
    first, size
        The first row, and the number of rows.
    across
        Number of tiles side by side.
    starts
        First entry of each tile, shape (tiles + 1,).
    keys
        uint32: of each entry the column, and in the lower bits the row.
    high, wide
        A tile has ``2**high`` rows and ``2**wide`` columns.
    read
        Slot of the value of each column; None where that is its number.
    """

    first: int
    size: int
    across: int
    starts: NDArray[np.int64]
    keys: NDArray[np.uint32]
    high: int
    wide: int
    read: NDArray | None

    def sums(self, values: NDArray, zero: Any) -> NDArray:
        """The sum of each row's values, added one by one in the order of the columns, from `zero` on."""
        if self.read is not None:
            values = values.take(self.read, mode="clip")
        out = np.empty(self.size, type(zero))
        shape = self.across, self.high, self.wide
        loops().sum_tiles(self.starts, self.keys, *shape, values, zero, out)
        return out


def cut_tiles(
    indptr: NDArray, indices: NDArray, slots: int, starts: NDArray, ids: NDArray | None = None
) -> list[Tiles]:
    """Cut an adjacency into tiles: the rows of each cluster, or of all.

    Parameters
    ----------
    starts
        First row of each cluster, and the number of rows; the other parameters are those of `make_tiles`.
    """
    apart = np.diff(starts).min() >= APART
    ends = starts.tolist() if apart else [0, len(indptr) - 1]
    return [make_tiles(indptr[a : b + 1], indices, slots, ids, a) for a, b in pairwise(ends)]


def make_tiles(
    indptr: NDArray, indices: NDArray, slots: int, ids: NDArray | None = None, first: int = 0
) -> Tiles:
    """Cut some rows of an adjacency into tiles.

    Parameters
    ----------
    indptr
        Of these rows.
    indices
        Slot of each entry of the adjacency.
    slots
        Number of slots.
    ids
        Node id in each slot: columns are in the order of these. None where slots are.
    first
        The first of these rows.
    """
    size = len(indptr) - 1
    indices, indptr = indices[indptr[0] : indptr[-1]], indptr - indptr[0]
    read = None if ids is None or (ids[1:] > ids[:-1]).all() else np.argsort(ids)
    place = np.empty(0, indices.dtype)
    if read is not None:
        place = np.empty(slots, indices.dtype)
        place[read] = np.arange(slots)
    rows = slots * size // max(1, len(indices))  # of a strip with one entry for each value
    high = min(max(rows.bit_length() - 1, LEAST), MOST)
    wide = KEY - high
    across, down = -(-slots >> wide) or 1, -(-size >> high) or 1
    tiles = np.zeros(across * down + 1, np.int64)
    keys = empty(len(indices), np.uint32, indices)
    loops().cut(indptr, indices, place, across, high, wide, tiles, keys)
    return Tiles(first, size, across, tiles, keys, high, wide, read)
