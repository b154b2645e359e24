"""Compiled loops over slices of rows: see `partition.slices`."""

from __future__ import annotations

import numpy as np

from partition.compiling import compiled

ONE = np.uint64(1)


@compiled
def slice_rows(indptr, indices, rows, starts, place, entries):
    """Put the places of the entries of some rows into `entries`, slice by slice: see `partition.slices`."""
    for i in range(len(rows)):
        r = rows[i]
        if r < len(indptr) - 1:
            k = starts[i // 8] + i % 8
            for e in range(indptr[r], indptr[r + 1]):
                entries[k] = place[indices[e]]
                k += 8


@compiled
def sum_slices(starts, entries, rows, values, zero, out):
    """For each row of slices, the sum of its values, added in the order of the row."""
    for s in range(len(starts) - 1):
        a = b = c = d = e = f = g = h = zero
        for k in range(np.uint64(starts[s]), np.uint64(starts[s + 1]), 8):
            a += values[np.uint32(entries[k])]
            b += values[np.uint32(entries[k + ONE])]
            c += values[np.uint32(entries[k + np.uint64(2)])]
            d += values[np.uint32(entries[k + np.uint64(3)])]
            e += values[np.uint32(entries[k + np.uint64(4)])]
            f += values[np.uint32(entries[k + np.uint64(5)])]
            g += values[np.uint32(entries[k + np.uint64(6)])]
            h += values[np.uint32(entries[k + np.uint64(7)])]
        i = 8 * s
        out[rows[i]], out[rows[i + 1]], out[rows[i + 2]], out[rows[i + 3]] = a, b, c, d
        out[rows[i + 4]], out[rows[i + 5]], out[rows[i + 6]], out[rows[i + 7]] = e, f, g, h
