"""Compiled loops over packed numbers: see `dgsuite.partition.arrays.packed`."""

from __future__ import annotations

import numpy as np

from dgsuite.base.compiling import compiled
from dgsuite.partition.arrays.packed import BLOCK, EXCEPTIONS, WIDTHS


@compiled
def differences(values, first, last, whole, out, widths):
    """Differences of a block's numbers, modulo ``whole + 1``, and how many have each width in bits."""
    widths[:] = 0
    before = np.uint64(0)
    for i in range(last - first):
        value = np.uint64(values[first + i])
        out[i] = (value - before) & whole
        before = value
        width, rest = 0, out[i]
        while rest:
            width += 1
            rest >>= np.uint64(1)
        widths[width] += 1


@compiled
def cheapest(widths, bits):
    """The width for which a block takes the fewest words, and how many of its numbers are wider."""
    best, least, wider, exceptions = bits, bits, 0, 0
    # what an exception has above the width must fit 26 bits
    for width in range(bits - 1, max(-1, bits - 27), -1):
        wider += widths[width + 1]
        words = width + (wider + 1) // 2
        if words < least:
            best, least, exceptions = width, words, wider
    return best, exceptions


@compiled
def measure(values, bits, heads):
    """Work out the heads of all blocks; returns the number of words."""
    whole = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    out, widths = np.zeros(BLOCK, np.uint64), np.zeros(65, np.int64)
    used = np.int64(0)
    for b in range(len(heads)):
        differences(values, b * BLOCK, min(len(values), (b + 1) * BLOCK), whole, out, widths)
        width, exceptions = cheapest(widths, bits)
        heads[b] = (used * WIDTHS + width) * EXCEPTIONS + exceptions
        used += width + (exceptions + 1) // 2
    return used


@compiled
def pack(values, bits, heads, words):
    """Put the numbers of all blocks into words, which are all 0."""
    whole = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    out, widths = np.zeros(BLOCK, np.uint64), np.zeros(65, np.int64)
    for b in range(len(heads)):
        first, last = b * BLOCK, min(len(values), (b + 1) * BLOCK)
        differences(values, first, last, whole, out, widths)
        at, width = heads[b] // EXCEPTIONS // WIDTHS, heads[b] // EXCEPTIONS % WIDTHS
        more, found = at + width, 0
        for i in range(last - first):
            high = out[i] >> np.uint64(width)
            if high:
                words[more + found // 2] |= (high << np.uint64(6) | np.uint64(i)) << np.uint64(
                    32 * (found % 2)
                )
                found += 1
            if width:
                low = out[i] & ((np.uint64(1) << np.uint64(width)) - np.uint64(1))
                place = i * width
                words[at + place // 64] |= low << np.uint64(place % 64)
                if place % 64 + width > 64:
                    words[at + place // 64 + 1] |= low >> np.uint64(64 - place % 64)


@compiled
def unpack_block(words, head, bits, out):
    """All numbers of a block; those beyond the last one are not defined."""
    width, exceptions = np.uint64(head // EXCEPTIONS % WIDTHS), head % EXCEPTIONS
    at = np.uint64(head // EXCEPTIONS // WIDTHS)
    low, whole = (
        (np.uint64(1) << width) - np.uint64(1),
        (np.uint64(1) << np.uint64(bits)) - np.uint64(1),
    )
    one, six, full = np.uint64(1), np.uint64(6), np.uint64(63)
    if width:
        place = np.uint64(0)
        for i in range(BLOCK):
            word, shift = at + (place >> six), place & full
            found = words[word] >> shift
            if shift + width > np.uint64(64):
                found |= words[word + one] << (np.uint64(64) - shift)
            out[i] = found & low
            place += width
    else:
        out[:] = np.uint64(0)
    for k in range(exceptions):
        pair = words[at + width + np.uint64(k // 2)] >> np.uint64(32 * (k % 2))
        out[pair & full] |= ((pair & np.uint64(0xFFFFFFFF)) >> six) << width
    before = np.uint64(0)
    for i in range(BLOCK):
        before = (before + out[i]) & whole
        out[i] = before


@compiled
def unpack(words, heads, bits, first, last, out):
    """Numbers `first` to `last`."""
    block = np.empty(BLOCK, np.uint64)
    for b in range(first // BLOCK, (last + BLOCK - 1) // BLOCK):
        unpack_block(words, heads[b], bits, block)
        start = b * BLOCK
        for e in range(max(first, start), min(last, start + BLOCK)):
            out[e - first] = block[e - start]


@compiled
def unpack_rows(words, heads, bits, indptr, origin, rows, starts, out):
    """Numbers of some rows, counted from `origin`, one after the other; `starts` gets, at each row and after
    it, where it is in `out`.

    Returns
    -------
    How many rows there was room for, and how many numbers they have.
    """
    block, known = np.empty(BLOCK, np.uint64), np.int64(-1)
    used = np.int64(0)
    for k in range(len(rows)):
        r = rows[k] + origin
        first, last = indptr[r], indptr[r + 1]
        if k and used + last - first > len(out):
            return k, used
        starts[r] = used
        for b in range(first // BLOCK, (last + BLOCK - 1) // BLOCK):
            if b != known:
                unpack_block(words, heads[b], bits, block)
                known = b
            start = b * BLOCK
            for e in range(max(first, start), min(last, start + BLOCK)):
                out[used] = block[e - start]
                used += 1
        starts[r + 1] = used
    return len(rows), used


@compiled
def pick_packed(words, heads, bits, entries, out):
    """The numbers at some places."""
    block, known = np.empty(BLOCK, np.uint64), np.int64(-1)
    for k in range(len(entries)):
        b = entries[k] // BLOCK
        if b != known:
            unpack_block(words, heads[b], bits, block)
            known = b
        out[k] = block[entries[k] - b * BLOCK]
