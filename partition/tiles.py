"""An adjacency in tiles, for sums over all of its entries.

A tile is the part of the adjacency in some consecutive rows and columns, so few that the values it reads and
the sums it adds to both stay in the processor's cache (Nishtala, Vuduc, Demmel and Yelick 2007, "When cache
blocking of sparse matrix vector multiply works and why"). An entry takes four bytes. Entries of a tile are in
the order of their columns: two that follow one another mostly belong to different rows, so the processor
need not wait for one addition before it begins the next.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partition.segments import loops

BITS = 15
"""A tile has 2^15 rows and columns: sums and values of 256 KiB each."""


class Tiles(NamedTuple):
    """An adjacency in tiles, by row, then column: each row gets its values in the order of the columns.

    Attributes
    ----------
    size
        Number of rows.
    across
        Number of tiles side by side.
    starts
        First entry of each tile, shape (tiles + 1,).
    rows, columns
        uint16: of each entry, counted within its tile.
    read
        Slot of the value of each column; None where that is its number.
    """

    size: int
    across: int
    starts: NDArray[np.int64]
    rows: NDArray[np.uint16]
    columns: NDArray[np.uint16]
    read: NDArray | None

    def sums(self, values: NDArray, zero: Any) -> NDArray:
        """The sum of each row's values, added one by one in the order of the columns, from `zero` on."""
        if self.read is not None:
            values = values.take(self.read, mode="clip")
        out = np.full(self.size, zero)
        loops().sum_tiles(self.starts, self.rows, self.columns, self.across, BITS, values, out)
        return out


def make_tiles(indptr: NDArray, indices: NDArray, slots: int, ids: NDArray | None = None) -> Tiles:
    """Cut an adjacency into tiles.

    Parameters
    ----------
    indices
        Slot of each entry.
    slots
        Number of slots.
    ids
        Node id in each slot: columns are in the order of these. None where slots are.
    """
    size = len(indptr) - 1
    read = None if ids is None or (ids[1:] > ids[:-1]).all() else np.argsort(ids)
    place = np.empty(0, indices.dtype)
    if read is not None:
        place = np.empty(slots, indices.dtype)
        place[read] = np.arange(slots)
    across, down = (-(-number >> BITS) or 1 for number in (slots, size))
    # entries by column, then by tile: the second order keeps the first within a tile
    starts = np.zeros(slots + 1, np.int64)
    row = loops().by_column(indptr, indices, place, starts)
    tiles = np.zeros(across * down + 1, np.int64)
    rows, columns = np.empty((2, len(indices)), np.uint16)
    loops().by_tile(starts, row, across, BITS, tiles, rows, columns)
    return Tiles(size, across, tiles, rows, columns, read)
