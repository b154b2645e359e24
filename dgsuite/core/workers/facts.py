"""What a client learns of a site's results when they stay on their worker."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.core.engine.log import Log

Result = list[tuple[dict[str, NDArray], Log]]
"""Of a site's task: outputs and log of each kernel."""


@dataclass
class Facts:
    """Facts of a result."""

    shapes: list[dict[str, tuple[np.dtype, tuple[int, ...]]]]
    """Dtype of each output of each kernel, and its shape."""
    logs: list[Log]
    nbytes: int

    @classmethod
    def of(cls, result: Result) -> Facts:
        """The facts of a result."""
        outputs = [each for each, _ in result]
        return cls(
            [
                {name: (array.dtype, array.shape) for name, array in each.items()}
                for each in outputs
            ],
            [log for _, log in result],
            sum(array.nbytes for each in outputs for array in each.values()),
        )
