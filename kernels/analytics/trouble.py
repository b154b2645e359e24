"""Errors of the shortest paths from a source, by the codes that compiled loops return."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MANY, LOST, FAR = 1, 2, 3
TROUBLE = {
    MANY: "there are more than 1e308 shortest paths from node {}; choose other sources, or give the edges "
    "weights by which fewer paths are shortest",
    LOST: "a path from node {} is as long with its last edge as without: weights differ too much",
    FAR: "distances from node {} must fit a float64, and those of whole numbers must be below 2^53 to be "
    "exact; divide the weights by a common factor",
}
"""What can be wrong with the paths from a source."""

INEXACT, DEEP = 4, 5
"""Paths are too many to be counted exactly, and hops more than fit: a search is made once more."""

WHOLE = 2.0**53
"""Whole numbers below it are exact in float64, and so are their sums that are below it."""


def limit(weights: NDArray | None) -> float:
    """Distances must be below it."""
    return np.inf if weights is None or weights.dtype.kind == "f" else WHOLE
