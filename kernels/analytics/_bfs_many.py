"""Compiled loops of searches from many sources, a bit of a word each."""

import numpy as np

from dgsuite.base.compiling import compiled
from dgsuite.kernels.analytics._bits import ones


@compiled
def settle(row, new, depth, gain, seen, total, reached, farthest, fresh, gained, found):
    """Note that more sources have reached a row, number `found` of those that get new ones."""
    times = np.int64(ones(new))
    seen[row] |= new
    total[row] += times * gain
    reached[row] += times
    farthest[row] = max(farthest[row], depth)
    fresh[found] = row
    gained[found] = new


@compiled
def take(rows, words, depth, gain, seen, total, reached, farthest, fresh, gained):
    """Give each row the sources that its senders have found; returns how many rows get new ones.

    Parameters
    ----------
    gain
        What a source that reaches a row in this round adds to its total.
    fresh, gained
        Room for the rows that get new ones, and for these.
    """
    found = 0
    for i, row in enumerate(rows):
        new = words[i] & ~seen[row]
        if new:
            settle(row, new, depth, gain, seen, total, reached, farthest, fresh, gained, found)
            found += 1
    return found


@compiled
def look(
    indptr, slots, words, rows, every,
    depth, gain, seen, total, reached, farthest, fresh, gained,
):  # fmt: skip
    """As `take`, where each row looks at its neighbours until it has seen every source.

    Parameters
    ----------
    indptr, slots, words
        What neighbours have seen: `dgsuite.kernels.bsp.inbox.Latest`.
    every
        All sources.
    """
    found = 0
    for row in rows:
        missing = every & ~seen[row]
        new = np.uint64(0)
        for e in range(indptr[row], indptr[row + 1]):
            new |= words[slots[e]] & missing
            if new == missing:
                break
        if new:
            settle(row, new, depth, gain, seen, total, reached, farthest, fresh, gained, found)
            found += 1
    return found


@compiled
def add_up(hops, gains, total, reached, farthest):
    """Add the searches of a batch to what nodes know: as `settle`, depth by depth where hops ascend.

    Parameters
    ----------
    hops
        By node and source, none or 0 where there is nothing to add.
    gains
        What a source at 1, 2, ... hops adds to a total.
    """
    for row in range(len(hops)):
        k = 0
        while k < hops.shape[1]:
            depth = hops[row, k]
            times = 1
            while k + times < hops.shape[1] and hops[row, k + times] == depth:
                times += 1
            k += times
            if depth > 0:
                total[row] += times * gains[depth - 1]
                reached[row] += times
                farthest[row] = max(farthest[row], depth)


@compiled
def fill(level, rows, words, first, depth):
    """Put the level of each row and source of its word, the bits of which are columns from `first` on."""
    for i, word in enumerate(words):
        column = first
        while word:
            if word & np.uint64(1):
                level[rows[i], column] = depth
            word >>= np.uint64(1)
            column += 1
