"""Means with confidence intervals, after Georges, Buytaert and Eeckhout (OOPSLA 2007).

What is averaged are times of fresh runs (worker processes of their own), one a run, taken after a
warm-up that is thrown away; Student's t makes up for their being few.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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


def geometric(values: Sequence[float]) -> float:
    """Geometric mean: the one that makes sense of ratios."""
    return math.exp(sum(map(math.log, values)) / len(values))
