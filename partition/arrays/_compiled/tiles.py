"""Compiled loops over an adjacency in tiles: see `dgsuite.partition.arrays.tiles`."""

import numpy as np

from dgsuite.base.compiling import compiled

INSERTION_SORTED = 32
"""Keys that are sorted by insertion."""


@compiled
def cut(indptr, indices, place, across, high, wide, tiles, keys):
    """Put the entries of an adjacency into tiles, a strip of rows at a time; `tiles` becomes their pointer.

    Entries of a strip go to their tiles row by row. Then those of a tile are sorted by column, by a counting
    sort of each half of the column's bits, which keeps the order of the rows.

    Parameters
    ----------
    place
        Column of each slot; empty where slots are columns.
    high, wide
        Bits of a row and of a column within its tile, at most 32 together.
    """
    size, begin = len(indptr) - 1, indptr[0]
    digit = (wide + 1) // 2
    other = np.empty(0, np.uint32)
    ends = np.empty(across + 1, np.int64)
    counts = np.empty((1 << digit) + 1, np.int64)
    for strip in range((size + (1 << high) - 1) >> high):
        first, last = strip << high, min(size, (strip + 1) << high)
        low, end = indptr[first] - begin, indptr[last] - begin
        ends[:] = 0
        for e in range(low, end):
            c = place[indices[e]] if len(place) else indices[e]
            ends[(c >> wide) + 1] += 1
        if ends.max() > len(other):
            other = np.empty(ends.max(), np.uint32)
        ends[0] = low
        for t in range(across):
            ends[t + 1] += ends[t]
            tiles[strip * across + t + 1] = ends[t + 1]
        for r in range(first, last):
            for e in range(indptr[r] - begin, indptr[r + 1] - begin):
                c = place[indices[e]] if len(place) else indices[e]
                t = c >> wide
                keys[ends[t]] = ((c & ((1 << wide) - 1)) << high) | (r - first)
                ends[t] += 1
        at = low
        for t in range(across):
            some, room = keys[at : ends[t]], other[: ends[t] - at]
            by_digit(some, room, high, digit, counts)
            by_digit(room, some, high + digit, digit, counts)
            at = ends[t]


@compiled
def by_digit(keys, out, shift, digit, counts):
    """Sort keys by some of their bits, stably, into `out`."""
    if len(keys) < INSERTION_SORTED:
        out[:] = keys
        for i in range(1, len(out)):
            key, j = out[i], i
            while j and within(out[j - 1], shift, digit) > within(key, shift, digit):
                out[j] = out[j - 1]
                j -= 1
            out[j] = key
        return
    counts[:] = 0
    for key in keys:
        counts[within(key, shift, digit) + 1] += 1
    for k in range(len(counts) - 1):
        counts[k + 1] += counts[k]
    for key in keys:
        k = within(key, shift, digit)
        out[counts[k]] = key
        counts[k] += 1


@compiled
def within(key, shift, digit):
    return (key >> np.uint32(shift)) & np.uint32((1 << digit) - 1)


@compiled
def sum_tiles(tiles, keys, across, high, wide, values, zero, out):
    """Set each row to the sum of its entries' values, added to `zero` in the order of the columns."""
    row, shift = np.uint32((1 << high) - 1), np.uint32(high)
    for t in range(len(tiles) - 1):
        sums, read = out[(t // across) << high :], values[(t % across) << wide :]
        if t % across == 0:  # here, and not before, so that the processor's cache has the strip
            for r in range(min(1 << high, len(sums))):
                sums[r] = zero
        for e in range(np.uint64(tiles[t]), np.uint64(tiles[t + 1])):
            key = keys[e]
            sums[np.uint64(key & row)] += read[np.uint64(key >> shift)]
