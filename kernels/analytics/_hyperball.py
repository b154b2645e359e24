"""Compiled loops of HyperLogLog counters."""

import numpy as np

from dgsuite.base.compiling import compiled

ALPHA = 0.5 / np.log(2)
"""The constant of the estimate, in the limit of many registers."""


@compiled
def merge(indptr, slots, counters, told, hop, rows, registers, fresh):
    """Take the unions of rows' counters and those that neighbours told for a hop; returns how many grow.

    Parameters
    ----------
    indptr, slots, counters
        What neighbours have told: `dgsuite.kernels.bsp.inbox.Latest`.
    told
        By slot, for which hop that was.
    registers
        The rows' own counters, which are changed.
    fresh
        Room for the rows whose counters grow.
    """
    found = 0
    for row in rows:
        own = registers[row]
        grown = False
        for e in range(indptr[row], indptr[row + 1]):
            if told[slots[e]] == hop:
                other = counters[slots[e]]
                for k in range(len(own)):
                    grown |= other[k] > own[k]
                    own[k] = max(own[k], other[k])
        if grown:
            fresh[found] = row
            found += 1
    return found


@compiled
def empty(share):
    """What the share of registers that are 0 contributes (sigma of Ertl's section 4)."""
    if share == 1:
        return np.inf
    total, before, power = share, 0.0, 1.0
    while total != before:
        share *= share
        before = total
        total += share * power
        power += power
    return total


@compiled
def estimate(registers, rows, most):
    """Numbers of nodes that the counters of rows have seen, to the nearest whole number, up to `most`."""
    m = registers.shape[1]
    found = np.empty(len(rows), np.int64)
    counts = np.empty(64, np.int64)  # registers by value
    for i in range(len(rows)):
        counts[:] = 0
        for value in registers[rows[i]]:
            counts[value] += 1
        total = 0.0
        for value in range(63, 0, -1):
            total = (total + counts[value]) / 2
        total += m * empty(counts[0] / m)
        found[i] = min(np.rint(ALPHA * m * m / total), most)
    return found
