"""What kernels of consensus on one of two values share: inputs, and how many nodes may fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dgsuite.kernels import bsp
from dgsuite.kernels.tools.rng import uniform

INPUT = 0
"""Draw of the inputs; others are from 1 on."""


@dataclass(frozen=True)
class BinaryConsensus(bsp.Kernel):
    """A kernel of a complete graph whose nodes begin with 0 or 1, ``input`` and ``value`` of the state."""

    f: int | None = None
    inputs: Sequence[int] | None = None
    ones: float = 0.5

    needs = ("complete",)

    def most(self, n: int) -> int:
        """How many of n nodes may fail."""
        raise NotImplementedError

    def failing(self, n: int) -> int:
        """How many nodes are to be reckoned with."""
        return self.most(n) if self.f is None else self.f

    def check(self, c: bsp.Cluster) -> str | None:
        given, most = self.inputs, self.most(c.n)
        if given is not None and (len(given) != c.n or not np.isin(given, (0, 1)).all()):
            return f"inputs must be 0 or 1 for each of {c.n} nodes"
        if not 0 <= self.ones <= 1:
            return f"ones must be from 0 to 1, got {self.ones}"
        if not 0 <= self.failing(c.n) <= most:
            return f"f must be from 0 to {most}, as many of {c.n} nodes as may fail, got {self.f}"
        return None

    def start(self, c: bsp.Cluster) -> Any:
        if self.inputs is None:
            given = uniform("counter", self.seed, c.ids, INPUT) < self.ones
        else:
            given = np.asarray(self.inputs)[c.ids]
        return self.state.of(c, input=given.astype(np.int8), value=given.astype(np.int8))
