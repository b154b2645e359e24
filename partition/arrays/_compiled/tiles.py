"""Compiled loops over an adjacency in tiles: see `dgsuite.partition.arrays.tiles`."""

from __future__ import annotations

import numpy as np

from dgsuite.base.compiling import compiled
from dgsuite.partition.arrays._compiled.rows import rewind


@compiled
def by_column(indptr, indices, place, starts):
    """Rows of the entries of an adjacency by column, ascending in each; `starts`, all 0, becomes the pointer
    of the columns. `place` is the column of each slot; empty where slots are columns.
    """
    for j in indices:
        starts[(place[j] if len(place) else j) + 1] += 1
    for c in range(len(starts) - 1):
        starts[c + 1] += starts[c]
    rows = np.empty(len(indices), np.int32)
    for r in range(len(indptr) - 1):
        for e in range(indptr[r], indptr[r + 1]):
            c = place[indices[e]] if len(place) else indices[e]
            rows[starts[c]] = r
            starts[c] += 1
    rewind(starts)
    return rows


@compiled
def by_tile(starts, row, across, bits, tiles, rows, columns):
    """Put entries that come by column into tiles; `tiles`, all 0, becomes their pointer."""
    within = (1 << bits) - 1
    for c in range(len(starts) - 1):
        for e in range(starts[c], starts[c + 1]):
            tiles[(row[e] >> bits) * across + (c >> bits) + 1] += 1
    for t in range(len(tiles) - 1):
        tiles[t + 1] += tiles[t]
    for c in range(len(starts) - 1):
        for e in range(starts[c], starts[c + 1]):
            t = (row[e] >> bits) * across + (c >> bits)
            rows[tiles[t]] = row[e] & within
            columns[tiles[t]] = c & within
            tiles[t] += 1
    rewind(tiles)


@compiled
def sum_tiles(tiles, rows, columns, across, bits, values, out):
    """Add to each row the values of its entries, in the order of the columns."""
    for t in range(len(tiles) - 1):
        sums, read = out[(t // across) << bits :], values[(t % across) << bits :]
        for e in range(np.uint64(tiles[t]), np.uint64(tiles[t + 1])):
            sums[np.uint64(rows[e])] += read[np.uint64(columns[e])]


@compiled
def by_row(starts, row, slot, ends, found):
    """Put entries that come by column back into rows, each with the slot of its column.

    Parameters
    ----------
    ends
        Where each row begins; it becomes where it ends.
    """
    for c in range(len(starts) - 1):
        for e in range(starts[c], starts[c + 1]):
            found[ends[row[e]]] = slot[c]
            ends[row[e]] += 1
