"""Compiled loops of exact sums: see `dgsuite.kernels.tools.exact`.

A block of floats is split into parts that are whole multiples of a power of two, and so small that floats
hold their sum exactly (Rump, Ogita and Oishi 2008). The sum of each part is an integer times a power of two.
"""

import math

import numpy as np

from dgsuite.base.compiling import compiled

BITS = 10
"""Bits of the number of floats of a block."""

BLOCK = 1 << BITS

WILD = 2047
"""Biased exponent of what is not a finite number."""

POSITIVE = (1 << 63) - 1
"""The bits of a float but for its sign."""


@compiled
def by_exponent(values, less, low):
    """Sums of the integers that float64 values are multiples of: by biased exponent, of the `low` last bits
    and of those above them, shape (2, WILD + 1). Those of `WILD` are 0 where all values are finite.

    Parameters
    ----------
    less
        Empty; or as many numbers, and distances to these are added, instead of values.
    """
    sums, rest, part = np.zeros((2, WILD + 1), np.int64), np.zeros(BLOCK), np.empty(BLOCK)
    for start in range(0, len(values), BLOCK):
        some, others = values[start : start + BLOCK], less[start : start + BLOCK]
        for k in range(len(some)):
            rest[k] = some[k]
        for k in range(len(others)):
            rest[k] = abs(rest[k] - others[k])
        _add_block(rest, part, low, sums)
    return sums


@compiled
def _add_block(rest, part, low, sums):
    """Add the floats in `rest` to `sums`, part by part, and overwrite them by zeros. `part` is room."""
    bits, left = rest.view(np.int64), np.int64(0)
    for k in range(BLOCK):
        left = max(left, bits[k] & POSITIVE)
    if left >> 52 == WILD:
        sums[1, WILD] = 1
        rest[:] = 0.0
        return
    if left >> 52 >= WILD - BITS - 2:
        for k in range(BLOCK):
            _add(bits[k], low, sums)
        rest[:] = 0.0
        return
    top = int(left >> 52) - 1022  # all are less than 2 to this power
    while left:
        above = math.ldexp(1.5, top + BITS)
        for k in range(BLOCK):
            part[k] = (rest[k] + above) - above
            rest[k] -= part[k]
        half = BLOCK >> 1
        while half:
            for k in range(half):
                part[k] += part[k + half]
            half >>= 1
        _add(part[:1].view(np.int64)[0], low, sums)
        left = np.int64(0)
        for k in range(BLOCK):
            left |= bits[k] & POSITIVE
        top -= 52 - BITS


@compiled
def _add(b, low, sums):
    """Add a finite float, given as its bits."""
    exponent = (b >> 52) & WILD
    # a float below the least normal one has no leading bit
    whole = (b & ((np.int64(1) << 52) - 1)) | (np.int64(exponent != 0) << 52)
    whole = -whole if b < 0 else whole
    sums[0, max(exponent, 1)] += whole >> low
    sums[1, max(exponent, 1)] += whole & ((np.int64(1) << low) - 1)
