"""Compiled loops of delays, each once for geometric delays and once for others, which take less time."""

import numpy as np

from dgsuite.base.compiling import compiled
from dgsuite.base.mixing import GOLDEN
from dgsuite.kernels.tools._draws import keyed, mixed

HALF = np.uint64(32)
LOWER = np.uint64(0xFFFFFFFF)
REST = np.uint64(22)


@compiled
def uniform(half, span):
    """A number below `span`, of 32 random bits."""
    return np.int64((half * span) >> HALF)


@compiled
def searched(half, powers):
    """How often a trial fails, of 32 random bits; see `dgsuite.base.ticks.Law`."""
    left, rest, found = 1.0 - half * 2.0**-32, 1.0, np.int64(0)
    for i in range(len(powers)):
        less = rest * powers[i]
        more = less > left
        rest = less if more else rest
        found += np.int64(more) << (len(powers) - 1 - i)
    return found


@compiled
def geometric(half, powers, sure):
    """The same, by a table where that is sure."""
    found = np.int64(sure[half >> REST])
    return found if found >= 0 else searched(half, powers)


@compiled
def longest(indptr, indices, ids, key, low, span, powers, sure, out):
    """The longest sum of two delays along the edges of each row, put into `out`.

    Parameters
    ----------
    ids
        Node of each row.
    key, low, span, powers
        See `dgsuite.base.ticks.Law` and `dgsuite.kernels.lab.delays`.
    sure
        By the upper bits of a delay, what it is above `low`, or -1 where the others count, too.
    """
    width = np.uint64(span)
    for row in range(len(indptr) - 1):
        a, b = indptr[row], indptr[row + 1]
        mine, last = keyed(key, ids[row]), np.int64(0)
        if len(powers) > 0:
            for entry in range(a, b):
                word = mixed(mine + np.uint64(indices[entry]) * GOLDEN)
                wait = geometric(word >> HALF, powers, sure) + geometric(word & LOWER, powers, sure)
                last = max(last, wait)
        else:
            for entry in range(a, b):
                word = mixed(mine + np.uint64(indices[entry]) * GOLDEN)
                last = max(last, uniform(word >> HALF, width) + uniform(word & LOWER, width))
        out[row] = last + 2 * low if b > a else 0


@compiled
def latest(indptr, indices, ids, key, low, span, powers, sure, rows, slots, since, first, out):
    """When the last message to each row arrives, put into `out` where that is later.

    Parameters
    ----------
    rows, slots
        Slots of the neighbours of each row, as `dgsuite.kernels.bsp.inbox.Latest` has them.
    since, first
        By slot, when the neighbour sent, less `first`; 0 stands for tick 0.
    """
    width = np.uint64(span)
    for row in range(len(indptr) - 1):
        a, b = indptr[row], indptr[row + 1]
        mine, last, ahead = keyed(key, ids[row]), out[row], rows[row] - a
        if len(powers) > 0:
            for entry in range(a, b):
                word = mixed(mine + np.uint64(indices[entry]) * GOLDEN)
                sent = np.int64(since[slots[ahead + entry]])
                sent += first if sent > 0 else 0
                last = max(last, sent + low + geometric(word >> HALF, powers, sure))
        else:
            for entry in range(a, b):
                word = mixed(mine + np.uint64(indices[entry]) * GOLDEN)
                sent = np.int64(since[slots[ahead + entry]])
                sent += first if sent > 0 else 0
                last = max(last, sent + low + uniform(word >> HALF, width))
        out[row] = last
