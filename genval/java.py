"""Java's random numbers, single or as arrays.

The recurrence and the rule for bounded numbers are those of the specification of `java.util.Random`
(Java SE API): a linear congruential generator of 48 bits whose high bits are the numbers.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

MULTIPLIER = 0x5DEECE66D
INCREMENT = 0xB
MASK = (1 << 48) - 1

BLOCK = 1 << 16
"""States that are computed at a time."""


@lru_cache(1)
def _jumps() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Factors and summands of the maps from a state to the 1st, 2nd, ..., `BLOCK`-th state after it."""
    factor = np.array([MULTIPLIER], np.uint64)
    summand = np.array([INCREMENT], np.uint64)
    while len(factor) < BLOCK:
        # overflow of 64 bits does not change the low 48
        summand = np.concatenate([summand, factor * summand[-1] + summand])
        factor = np.concatenate([factor, factor * factor[-1]])
    return factor & np.uint64(MASK), summand & np.uint64(MASK)


class Random:
    """The generator `java.util.Random`.

    Parameters
    ----------
    seed
        A Java long; of other integers, only the low 48 bits are used.
    """

    def __init__(self, seed: int) -> None:
        self.state = (seed ^ MULTIPLIER) & MASK

    def next_int(self, bound: int | None = None) -> int:
        """``nextInt()``, from -2^31 to 2^31 - 1; with a bound ``nextInt(bound)``, below it."""
        return int(self.ints(1, bound)[0])

    def ints(self, count: int, bound: int | None = None) -> NDArray[np.int64]:
        """What `count` calls of `next_int` return.

        Returns
        -------
        int64, shape (count,).
        """
        if bound is None:
            return self._high(count, 32).astype(np.int32).astype(np.int64)
        if not 1 <= bound < 1 << 31:
            raise ValueError(f"bound must be from 1 to 2^31 - 1, got {bound}")
        if bound & (bound - 1) == 0:
            return (self._high(count, 31) * bound) >> 31
        found = [np.empty(0, np.int64)]
        while count:  # draws exactly the missing numbers, since one more would change the state
            bits = self._high(count, 31)
            values = bits % bound
            values = values[bits - values + (bound - 1) < 1 << 31]
            found.append(values)
            count -= len(values)
        return np.concatenate(found)

    def _high(self, count: int, bits: int) -> NDArray[np.int64]:
        """The high bits of the next states."""
        found = np.empty(count, np.int64)
        factor, summand = _jumps()
        for start in range(0, count, BLOCK):
            size = min(BLOCK, count - start)
            states = factor[:size] * np.uint64(self.state)
            states += summand[:size]
            states &= np.uint64(MASK)
            self.state = int(states[-1])
            found[start : start + size] = states >> np.uint64(48 - bits)
        return found
