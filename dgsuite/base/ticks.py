"""Numbers of ticks that random words stand for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Law(NamedTuple):
    """How many ticks random numbers of 32 bits stand for; luck is such a number over 2^32.

    Attributes
    ----------
    low
        The least.
    span
        How many numbers of ticks from `low` on are alike.
    powers
        Of geometric delays, the probabilities that one is above `low` by ..., 4, 2, 1 at least; else empty.
    """

    low: int
    span: int = 1
    powers: NDArray[np.float64] = np.empty(0)

    @classmethod
    def of(cls, delay: int | str, low: int, high: int, p: float) -> Law:
        """The law that a kernel's parameters name; with "weight", of what is added to the weights of edges.

        Parameters
        ----------
        delay
            A number of ticks, "uniform", "geometric" or "weight".
        low, high
            Least and greatest uniform delay.
        p
            Probability of a geometric delay of one tick.
        """
        if delay == "weight":
            return cls(0)
        if delay == "uniform":
            return cls(low, high - low + 1)
        if delay == "geometric":
            powers, power = [], 1 - p
            while power >= 2.0**-32:  # luck is not nearer to 1
                powers.append(power)
                power *= power
            return cls(1, powers=np.array(powers[::-1]))
        return cls(int(delay))

    def sure(self) -> NDArray[np.int16]:
        """By the upper 10 bits of a word, what its delay is above `low`; -1 where that is not sure."""
        words = np.arange(1 << 10).astype(np.uint64) << np.uint64(54)
        least, most = self.ticks(words), self.ticks(words + np.uint64((1 << 54) - 1))
        above = np.where(least == most, least - self.low, -1)
        return np.where(above < 1 << 15, above, -1).astype(np.int16)

    def ticks(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The delays that random words stand for, of which the upper 32 bits count.

        A geometric delay is above 1 by the largest k with (1 - p)^k > 1 - luck. It is found by products
        alone, which are the same in NumPy, in compiled loops and on every machine; logarithms are not.
        """
        half = words >> np.uint64(32)
        if not len(self.powers):
            half *= np.uint64(self.span)
            half >>= np.uint64(32)
            half += np.uint64(self.low)
            return half.view(np.int64)
        found = np.full(len(words), self.low)
        left = 1 - half * 2.0**-32
        rest = np.ones(len(words))
        for place, power in enumerate(self.powers, 1):
            more = rest * power > left
            rest[more] *= power
            found[more] += 1 << (len(self.powers) - place)
        return found

    def both(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The sums of two delays that random words stand for, one by each half."""
        return self.ticks(words) + self.ticks(words << np.uint64(32))
