"""Sums in fixed point: they do not depend on the order of additions.

A number is a whole number and a fraction of 2^52. Of each summand less than 2^-52 is cut off.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BITS = 52
MASK = (1 << BITS) - 1
ONE = float(1 << BITS)


class Sums(NamedTuple):
    """Sums of numbers that are not negative, int64, shape (n,): `whole` + `part` / 2^52."""

    whole: NDArray[np.int64]
    part: NDArray[np.int64]

    @classmethod
    def zeros(cls, n: int) -> Sums:
        """Nothing added yet."""
        return cls(*np.zeros((2, n), np.int64))

    @property
    def value(self) -> NDArray[np.float64]:
        """As floating-point numbers."""
        return self.whole + self.part / ONE


def added(parts: Iterable[Sums]) -> Sums:
    """Several sums as one."""
    whole = part = np.zeros(1, np.int64)
    for one in parts:
        part = part + one.part
        whole = whole + one.whole + (part >> BITS)
        part = part & MASK
    return Sums(whole, part)
