"""Compiled loops over keys of edge ends: ``row * n + column``, int64."""

from __future__ import annotations

import numpy as np

from dgsuite.base.compiling import compiled

DIGIT = 11
"""Bits by which keys are sorted at a time, at most: so many counters fit a processor's first cache."""


@compiled
def sort(keys, spare, order, spare_order):
    """Sort keys by their digits, the lowest first (radix sort); equal ones keep their order.

    `order`, if it is not None, is put in the order of the keys. The spare arrays are as long as these.

    Returns
    -------
    Whether the results are in the spare arrays.
    """
    if not len(keys):
        return False
    least = keys.min()
    spread, bits = keys.max() - least, 0
    while spread >> bits:
        bits += 1
    passes = (bits + DIGIT - 1) // DIGIT
    width = (bits + passes - 1) // max(passes, 1)
    starts = np.zeros((passes, (1 << width) + 1), np.int64)
    within = (1 << width) - 1
    for key in keys:
        rest = key - least
        for p in range(passes):
            starts[p, (rest & within) + 1] += 1
            rest >>= width
    for p in range(passes):
        if p % 2 == 0:
            place(keys, least, p * width, within, starts[p], spare, order, spare_order)
        else:
            place(spare, least, p * width, within, starts[p], keys, spare_order, order)
    return passes % 2 == 1


@compiled
def place(keys, least, shift, within, starts, out, order, out_order):
    """A pass of `sort`: `starts` has the number of keys with each digit after it."""
    for d in range(within):
        starts[d + 1] += starts[d]
    for i in range(len(keys)):
        d = np.uint64(((keys[i] - least) >> shift) & within)
        at = np.uint64(starts[d])
        out[at] = keys[i]
        if order is not None:
            out_order[at] = order[i]
        starts[d] += 1


@compiled
def squeeze(keys):
    """Keep one of each run of equal keys, in place; returns how many remain."""
    used = 0
    for key in keys:
        if not used or keys[used - 1] != key:
            keys[used] = key
            used += 1
    return used


@compiled
def of_edges(src, dst, heads, tails, n, both, keys):
    """Keys of edges that are no self-loops, those of both ends side by side; returns how many there are.

    `heads` and `tails` are the rows of the nodes.
    """
    used = 0
    for i in range(len(src)):
        if src[i] == dst[i]:
            continue
        keys[used] = np.int64(heads[i]) * n + np.int64(dst[i])
        used += 1
        if both:
            keys[used] = np.int64(tails[i]) * n + np.int64(src[i])
            used += 1
    return used


@compiled
def take_apart(keys, n, first, bits, starts, low, columns):
    """Columns of sorted keys, and their rows from `first` in bands of ``2**bits``.

    `starts`, all 0, gets the number of keys in each band after it; `low`, if it is not None, rows in bands.
    """
    row, end = first, (first + 1) * n
    for i in range(len(keys)):
        key = keys[i]
        if key >= end:
            row += 1
            end += n
            if key >= end:
                row = key // n
                end = (row + 1) * n
        columns[i] = key - (end - n)
        band = (row - first) >> bits
        if low is not None:
            low[i] = row - first - (band << bits)
        starts[band + 1] += 1


@compiled
def join(starts, low, columns, bits, band, begin, end, n, keys):
    """Keys of the edge ends `begin` to `end`, the first of which is in a `band`; see `take_apart`."""
    at = begin
    while at < end:
        for e in range(at, min(starts[band + 1], end)):
            row = (np.int64(band) << bits) + np.int64(low[e])
            keys[e - begin] = row * n + np.int64(columns[e])
        at = max(at, starts[band + 1])
        band += 1
