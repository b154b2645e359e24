"""Means with confidence intervals, after Georges, Buytaert and Eeckhout (OOPSLA 2007).

What is averaged are times of fresh runs (worker processes of their own), one a run, taken after a
warm-up that is thrown away; Student's t makes up for their being few.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
"""How sure an interval is, unless told otherwise."""


class Interval(NamedTuple):
    """A mean, half the width of its confidence interval (NaN of a single value), and of how many runs."""

    mean: float
    half: float
    runs: int

    def __str__(self) -> str:
        spread = "" if math.isnan(self.half) else f" ± {self.half:.2g}"
        return f"{self.mean:.3g}{spread}"


def interval(values: Sequence[float] | NDArray, level: float = LEVEL) -> Interval:
    """Mean of independent measurements, with its confidence interval.

    Section 3.2.1 of the paper: mean ± t s / sqrt(k), t from Student's distribution with k - 1 degrees
    of freedom.
    """
    from scipy.special import stdtrit

    found = np.asarray(values, float)
    k = len(found)
    if k == 1:
        return Interval(float(found[0]), math.nan, 1)
    t = float(stdtrit(k - 1, (1 + level) / 2))
    return Interval(float(found.mean()), t * float(found.std(ddof=1)) / math.sqrt(k), k)


def ratio(above: Interval, below: Interval) -> Interval:
    """Quotient of two independent means: relative errors add up as squares."""
    mean = above.mean / below.mean
    half = mean * math.hypot(above.half / above.mean, below.half / below.mean)
    return Interval(mean, half, min(above.runs, below.runs))


def above(found: Interval, than: float = 1.0) -> bool | None:
    """Whether a mean is above a number; None where its interval has the number, or there is one run."""
    if math.isnan(found.half) or abs(found.mean - than) <= found.half:
        return None
    return found.mean > than


def within(found: Interval, least: float, most: float) -> bool | None:
    """Whether a mean is from one number to another; None where its interval does not say."""
    return every([above(found, least), agree(above(found, most), False)])


def slower(one: Interval, other: Interval) -> bool | None:
    """Whether the other time is the longer one; None where the interval of their ratio does not say."""
    return above(ratio(other, one))


def agree(told: bool | None, expected: bool) -> bool | None:
    """Whether something is as expected; None where it is not known."""
    return None if told is None else told == expected


def every(told: Iterable[bool | None]) -> bool | None:
    """Whether all hold; None where it depends on those that are not known."""
    found = list(told)
    if False in found:
        return False
    return None if None in found else True


def mean_ratio(values: Sequence[Interval]) -> Interval:
    """Geometric mean of independent ratios, with its interval; relative errors add up as squares."""
    mean = geometric([value.mean for value in values])
    spread = math.hypot(*(value.half / value.mean for value in values))
    return Interval(mean, mean * spread / len(values), min(value.runs for value in values))


def geometric(values: Sequence[float]) -> float:
    """Geometric mean: the one that makes sense of ratios."""
    return math.exp(sum(map(math.log, values)) / len(values))
