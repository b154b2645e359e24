"""The interval of a probability, from how many of some runs were right."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dgsuite.base.errors import InputError


class Proportion(NamedTuple):
    """A share of runs, and the interval of the probability.

    Attributes
    ----------
    share, low, high
        Numbers from 0 to 1, or arrays of the same shape.

    Examples
    --------
    >>> import dgsuite
    >>> found = dgsuite.lab.wilson(10, 10)
    >>> float(found.share), round(float(found.low), 3), float(found.high)
    (1.0, 0.722, 1.0)
    """

    share: Any
    low: Any
    high: Any


def wilson(right: ArrayLike, runs: ArrayLike, level: float = 0.95) -> Proportion:
    """Probability that a run is right, with Wilson's score interval.

    The interval (Wilson 1927, Probable inference, the law of succession, and statistical inference, Journal
    of the American Statistical Association 22) lies within 0 to 1, and says something where all runs are
    right, too. Brown, Cai and DasGupta 2001 recommend it (Interval estimation for a binomial proportion,
    Statistical Science 16(2), section 5).

    Parameters
    ----------
    right
        How many runs were right: a whole number, or an array of such.
    runs
        How many there were, at least 1, as `right`.
    level
        How sure the interval is, above 0 and below 1.

    Returns
    -------
    The share of runs that were right, and the two ends of the interval: float64, in the shape of `right` and
    `runs`.

    Raises
    ------
    InputError
        There are no runs, more right ones than runs, or `level` is no probability between 0 and 1.

    Examples
    --------
    >>> import dgsuite
    >>> share, low, high = dgsuite.lab.wilson(9981, 10_000)
    >>> print(f"{share:.4f}, from {low:.4f} to {high:.4f}")
    0.9981, from 0.9970 to 0.9988
    >>> dgsuite.lab.wilson([0, 30], 30).high.round(3)
    array([0.114, 1.   ])
    """
    found, k = np.asarray(right, np.float64), np.asarray(runs, np.float64)
    if not ((k >= 1) & (found >= 0) & (found <= k)).all():
        raise InputError(
            f"right must be from 0 to runs, and runs at least 1, got {right!r} and {runs!r}"
        )
    if not 0 < level < 1:
        raise InputError(f"level must be above 0 and below 1, got {level!r}")
    z = NormalDist().inv_cdf((1 + level) / 2)
    share, squared = found / k, z * z
    middle = (share + squared / (2 * k)) / (1 + squared / k)
    half = z / (1 + squared / k) * np.sqrt(share * (1 - share) / k + squared / (4 * k * k))
    low = np.where(found == 0, 0.0, middle - half)  # without what rounding leaves
    high = np.where(found == k, 1.0, middle + half)
    return Proportion(share, low[()], high[()])
