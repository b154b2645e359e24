"""Weights near the ends of float64's range, and weights as whole numbers.

Weights near the ends of float64's range: by which power of two a kernel divides them, or why it cannot.

Weights as whole numbers, multiples of a small part of their sum: all sums are then exact, in any order.
"""

from __future__ import annotations

from collections.abc import Generator
from math import frexp, ldexp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.kernels import bsp
from dgsuite.kernels.tools.exact import shift_of, whole

MODERATE = 400
"""Weights are taken as they are where the greatest is from 2^-400 to 2^400: products of two of them, and
sums of these, are far from the ends."""

LEAST = float(np.finfo(np.float64).smallest_normal)
"""Smaller numbers have fewer digits."""


def weights_of(c: bsp.Cluster) -> NDArray | None:
    """Weights of the entries of a cluster's adjacency, and of its self-loops."""
    if c.weights is None or c.loop_weights is None:
        return c.weights
    return np.append(c.weights, c.loop_weights)


def amounts(weights: NDArray | None, count: int) -> NDArray[np.float64]:
    """Weights of so many edges; 1 for each where there are none, or they do not count."""
    return np.ones(count) if weights is None else weights.astype(np.float64)


def negative(weights: NDArray | None) -> str | None:
    """What is wrong with weights that must not be negative, or None."""
    if weights is None or (weights >= 0).all():
        return None
    return f"weights must not be negative, got {weights.min()}"


def heavy(weights: NDArray | None, power: int, why: str = "") -> str | None:
    """What is wrong with weights that must not be negative, or above a power of two."""
    if weights is not None and weights.max(initial=0) > 2.0**power:
        return f"weights must be at most 2^{power}{why}, got {weights.max()}"
    return negative(weights)


def extremes(weights: NDArray | None) -> bsp.Vote:
    """The least weight above 0 and the greatest, as votes; none of the weights is negative."""
    if weights is None or not weights.any():
        return bsp.vote(min=None, max=None)
    positive = weights if weights.all() else weights[weights > 0]
    return bsp.vote(min=float(positive.min()), max=float(positive.max()))


def exponent(kernel: str, weights: bsp.Reply) -> int:
    """The power of two to divide weights by, so that the greatest is about 1; 0 where they are moderate.

    Parameters
    ----------
    weights
        The votes of `extremes`, which do not depend on the cut.

    Raises
    ------
    InputError
        The least weight would then be rounded.
    """
    least, most = weights.min, weights.max
    if most is None:
        return 0
    power = frexp(most)[1]
    if abs(power) <= MODERATE:
        power = 0
    if ldexp(least, -power) < LEAST:
        raise InputError(
            f"kernel {kernel!r}: weights from {least} to {most} are too far apart for float64; "
            f"beside the greatest those below {ldexp(LEAST, power):.3g} must be 0"
        )
    return power


class Scaled(bsp.Kernel):
    """A kernel whose state has an array ``weight``, float64, none of them negative."""

    def scaled(self, weighted: bool) -> Generator[Any, Any, tuple[float, int]]:
        """Make weights whole numbers.

        Parameters
        ----------
        weighted
            Whether they are those of the graph, and may be near the ends of float64's range.

        Returns
        -------
        total
            What the whole numbers add up to; 0 if all weights are 0, which then stay.
        shift
            The power of two by which weights were multiplied.
        """
        power = 0
        if weighted:
            power = exponent(self.name, (yield bsp.Round(self.survey, opening=True)))
        total = (yield bsp.Round(self.weigh, opening=True, power=power)).sum
        if not total:
            return 0.0, 0
        shift = shift_of(total) - power
        return (yield bsp.Round(self.scale, opening=True, shift=shift)).sum, shift

    def survey(self, c: bsp.Cluster, s: Any, inbox: bsp.Inbox) -> bsp.Vote:
        return extremes(s.weight)

    def weigh(self, c: bsp.Cluster, s: Any, inbox: bsp.Inbox, power: int) -> bsp.Vote:
        return bsp.vote(sum=np.ldexp(s.weight, -power))

    def scale(self, c: bsp.Cluster, s: Any, inbox: bsp.Inbox, shift: int) -> bsp.Vote:
        s.weight = whole(s.weight, shift)
        return bsp.vote(sum=s.weight)
