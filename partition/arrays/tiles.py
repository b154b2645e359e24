"""An adjacency in tiles, for sums over all of its entries.

A tile is the part of the adjacency in some consecutive rows and columns, so few that the values it reads and
the sums it adds to both stay in the processor's cache (Nishtala, Vuduc, Demmel and Yelick 2007, "When cache
blocking of sparse matrix vector multiply works and why"). An entry takes four bytes. Entries of a tile are in
the order of their columns: two that follow one another mostly belong to different rows, so the processor
need not wait for one addition before it begins the next.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.partition.arrays.loops import loops
from dgsuite.partition.arrays.mapped import empty

BITS = 15
"""A tile has 2^15 rows and columns: sums and values of 256 KiB each."""

APART = 4
"""Clusters of at least so many tiles' rows each have tiles of their own, so that threads add side by side."""


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
    rows, columns
        uint16: of each entry, counted within its tile.
    read
        Slot of the value of each column; None where that is its number.
    """

    first: int
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


def cut_tiles(
    indptr: NDArray,
    indices: NDArray,
    slots: int,
    starts: NDArray,
    ids: NDArray | None = None,
) -> list[Tiles]:
    """Cut an adjacency into tiles: the rows of each cluster, or of all.

    Parameters
    ----------
    starts
        First row of each cluster, and the number of rows; the other parameters are those of `make_tiles`.
    """
    apart = np.diff(starts).min() >= APART << BITS
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
    across, down = (-(-number >> BITS) or 1 for number in (slots, size))
    tiles = np.zeros(across * down + 1, np.int64)
    rows, columns = (empty(len(indices), np.uint16, indices) for _ in range(2))
    loops().cut(indptr, indices, place, across, BITS, tiles, rows, columns)
    return Tiles(first, size, across, tiles, rows, columns, read)
