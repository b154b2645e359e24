"""Compiled loop of exact sums: see `dgsuite.kernels.tools.exact`."""

from __future__ import annotations

import numpy as np

from dgsuite.base.compiling import compiled


@compiled
def by_exponent(bits, low):
    """Sums of the integers that finite floats, given as their bits, are multiples of: by biased
    exponent, of the `low` last bits and of those above them, shape (2, 2047).
    """
    sums = np.zeros((2, 2047), np.int64)
    some = np.zeros(2047, np.int64)
    fraction, last = (np.int64(1) << 52) - 1, (np.int64(1) << low) - 1
    for start in range(0, len(bits), 1024):  # of so many, the sum of integers of 53 bits has 63
        least, most = 2047, 0
        for b in bits[start : start + 1024]:
            exponent = max((b >> 52) & 2047, 1)
            # a float below the least normal one has no leading bit
            whole = (b & fraction) | (np.int64((b >> 52) & 2047 != 0) << 52)
            some[np.uint64(exponent)] += -whole if b < 0 else whole
            least, most = min(least, exponent), max(most, exponent)
        for e in range(least, most + 1):
            sums[0, e] += some[e] >> low
            sums[1, e] += some[e] & last
            some[e] = 0
    return sums
