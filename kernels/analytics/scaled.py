"""Weights as whole numbers, multiples of a small part of their sum: all sums are then exact, in any order."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.extremes import exponent, extremes
from dgsuite.kernels.tools.exact import shift_of, whole


@dataclass(frozen=True)
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
