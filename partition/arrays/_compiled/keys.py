"""Compiled loops over edge ends, and over keys of them: ``row * n + column``, int64."""

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
    least = most = keys[0]
    for key in keys:
        least, most = min(least, key), max(most, key)
    spread, bits = most - least, 0
    if not spread:
        return False
    while spread >> bits:
        bits += 1
    passes = (bits + DIGIT - 1) // DIGIT
    width = (bits + passes - 1) // passes
    starts = np.zeros((passes, (1 << width) + 1), np.int64)
    within, one, shift = np.uint64((1 << width) - 1), np.uint64(1), np.uint64(width)
    for key in keys:
        rest = np.uint64(key - least)
        for p in range(np.uint64(passes)):
            starts[p, (rest & within) + one] += 1
            rest >>= shift
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
def count_ends(src, dst, heads, tails, both, keep, bits, base, counts):
    """Count edge ends in each band, as of `place_ends`; all counts are 0 before."""
    bits, base = np.uint64(bits), np.uint64(base)
    for i in range(np.uint64(len(src))):
        same = src[i] == dst[i]
        if keep or not same:
            counts[(np.uint64(heads[i]) >> bits) - base] += 1
        if both and not same:
            counts[(np.uint64(tails[i]) >> bits) - base] += 1


@compiled
def place_ends(src, dst, heads, tails, both, keep, bits, base, starts, low, columns, order):
    """Put edge ends into bands: last bits of rows, columns and, if asked for, edges. Moves the `starts`."""
    bits, base, one = np.uint64(bits), np.uint64(base), np.uint64(1)
    within = (one << bits) - one
    for i in range(np.uint64(len(src))):
        same = src[i] == dst[i]
        for way in range(2):
            if (way == 0 and same and not keep) or (way == 1 and (same or not both)):
                continue
            row = np.uint64(tails[i] if way else heads[i])
            band = (row >> bits) - base
            at = starts[band]
            starts[band] = at + one
            low[at] = row & within
            columns[at] = src[i] if way else dst[i]
            if order is not None:
                order[at] = i


@compiled
def join(starts, low, columns, bits, wide, first, last, n, ends, keys, begin, order):
    """Put keys, from row `first`, of the edge ends of some bands into bands that may be wider.

    Parameters
    ----------
    starts
        Of the bands: the first has row `first`, the last has the row before `last`.
    bits, wide
        Bits of rows within a band, and within a wider one.
    ends
        For each wider band, where its next key goes; moved.
    begin, order
        `order`, if it is not None, gets `begin` plus the number of the edge end for each key.

    Returns
    -------
    How many keys there are.
    """
    base, bands, used = first >> bits, first >> wide, 0
    for b in range(len(starts) - 1):
        lowest = ((base + b) << bits) - first
        wider = ((base + b) >> (wide - bits)) - bands
        to = ends[wider]
        for e in range(starts[b] - starts[0], starts[b + 1] - starts[0]):
            row = lowest + np.int64(low[e])
            if 0 <= row < last - first:
                keys[np.uint64(to)] = row * n + np.int64(columns[e])
                if order is not None:
                    order[np.uint64(to)] = begin + used
                used += 1
                to += 1
        ends[wider] = to
    return used


@compiled
def sort_bands(keys, spare, ends, order, spare_order):
    """Sort keys as `sort` does, those up to each of some ends by themselves, in place."""
    begin = 0
    for end in ends:
        # loops copy, since an assignment of slices takes Numba a second to compile
        if order is None:
            if sort(keys[begin:end], spare[begin:end], None, None):
                for i in range(begin, end):
                    keys[i] = spare[i]
        elif sort(keys[begin:end], spare[begin:end], order[begin:end], spare_order[begin:end]):
            for i in range(begin, end):
                keys[i], order[i] = spare[i], spare_order[i]
        begin = end


@compiled
def take_apart(keys, n, first, counts, columns):
    """Columns of sorted keys; `counts`, all 0, gets the number of keys in each row from `first` after it."""
    row, end = first, (first + 1) * n
    for i in range(np.uint64(len(keys))):
        key = keys[i]
        if key >= end:
            row += 1
            end += n
            if key >= end:
                row = key // n
                end = (row + 1) * n
        columns[i] = key - (end - n)
        counts[np.uint64(row - first + 1)] += 1
