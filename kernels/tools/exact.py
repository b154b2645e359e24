"""Exact sums: they do not depend on the order of additions.

A float is an integer times a power of two. Integers are added per exponent, and these sums are combined
as Python's integers, so nothing is rounded.

`Sums` are in fixed point: a number is a whole number and a fraction of 2^52. Of each summand less than 2^-52
is cut off.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.partition.arrays.loops import fast

BITS = 52
MASK = (1 << BITS) - 1
ONE = float(1 << BITS)

LOW = 27
"""Bits of the lower part of a float's 53: each part of 2^26 floats can be added as floats, exactly."""

DIGITS = 52
"""Bits of a sum of whole numbers, with one to spare: floats hold it exactly, in any order."""

MAX_FSUM = 1 << 8
"""Up to so many floats, `math.fsum` takes less time than NumPy's functions take to be called."""

SUBNORMAL = -1075
"""Exponent of the integers that `by_exponent` adds first."""


def shift_of(total: float | Fraction) -> int:
    """The power of two by which to multiply positive numbers that add up to `total`: see `whole`."""
    numerator, denominator = total.as_integer_ratio()
    return DIGITS - (numerator.bit_length() - denominator.bit_length() + 1)


def whole(values: NDArray, shift: int) -> NDArray[np.float64]:
    """Values times a power of two, rounded to whole numbers whose sums are exact in any order.

    Each number changes by less than the 2^-51st part of their sum; not at all where all are multiples of
    that, as whole numbers are.
    """
    return np.rint(np.ldexp(values.astype(np.float64), shift))


def exact_sum(values: NDArray) -> int | Fraction:
    """The exact sum of an array: an integer of integers and truth values, a fraction of floats.

    Raises
    ------
    InputError
        There is a value that is not a finite number.
    """
    kind = values.dtype.kind
    if kind not in "biuf":
        raise InputError(f"values of dtype {values.dtype} cannot be added; numbers can")
    if kind == "b" or (kind != "f" and values.itemsize < 8):
        return int(values.sum(dtype=np.int64))
    if kind != "f":
        return (int((values >> 32).sum()) << 32) + int((values & 0xFFFFFFFF).sum())
    floats = np.asarray(values, np.float64).ravel()
    if not len(floats):
        return Fraction(0)
    if len(floats) <= MAX_FSUM:
        _check_finite(floats)
        if (few := _sum_of_few(floats.tolist())) is not None:
            return few
    if (compiled := fast(len(floats))) is not None:
        sums = compiled.by_exponent(floats, floats[:0], LOW)
        if not sums[:, -1].any():
            return _combined(sums, SUBNORMAL)
    _check_finite(floats)
    mantissa, exponent = np.frexp(floats)
    whole = (mantissa * 2.0**53).astype(np.int64)
    lowest = int(exponent.min())
    parts = whole >> LOW, whole & ((1 << LOW) - 1)
    sums = np.array([np.bincount(exponent - lowest, part) for part in parts]).astype(np.int64)
    return _combined(sums, lowest - 53)


def exact_change(new: NDArray[np.float64], old: NDArray[np.float64]) -> int | Fraction:
    """The exact sum of the differences of floats, each rounded and without its sign."""
    if len(new) > MAX_FSUM and (compiled := fast(len(new))) is not None:
        sums = compiled.by_exponent(new, old, LOW)
        if not sums[:, -1].any():
            return _combined(sums, SUBNORMAL)
    return exact_sum(np.abs(new - old))


def _check_finite(floats: NDArray[np.float64]) -> None:
    """Refuse what is not a finite number."""
    if not np.isfinite(floats).all():
        bad = floats[~np.isfinite(floats)][0]
        raise InputError(f"{bad} cannot be added exactly; finite numbers can")


def _combined(sums: NDArray[np.int64], lowest: int) -> Fraction:
    """The sum of integers by exponent, as `by_exponent` has them; that of the first is `lowest`."""
    total = 0
    for e in np.flatnonzero(sums.any(axis=0)).tolist():
        total += ((int(sums[0, e]) << LOW) + int(sums[1, e])) << e
    return Fraction(total << lowest if lowest > 0 else total, 1 << max(-lowest, 0))


def _sum_of_few(floats: list[float]) -> Fraction | None:
    """The exact sum of finite floats; None if it, or a part of it, is above the largest float.

    Each turn takes off the rounded sum, until nothing is left.
    """
    total, bits = 0, 0
    try:
        while rounded := math.fsum(floats):
            floats.append(-rounded)
            number, denominator = rounded.as_integer_ratio()
            more = denominator.bit_length() - 1
            total = (total << max(more - bits, 0)) + (number << max(bits - more, 0))
            bits = max(bits, more)
    except OverflowError:
        return None
    return Fraction(total, 1 << bits)


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
