"""Probabilities as limits: a message is lost if 53 random bits of it are below the limit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

ALWAYS = 1 << 53
"""The limit below which all of the numbers lie that decide whether a message is lost."""

HALF = np.uint64(ALWAYS // 2)
ONE = np.uint64(1)


def limit(probability: Any) -> NDArray[np.uint64]:
    """The number below which that part of all numbers from 0 to `ALWAYS` lies."""
    return np.floor(np.asarray(probability, np.float64) * ALWAYS).astype(np.uint64)


def halved(limit: Any) -> Any:
    """The limit of messages of a node that crashes while it sends: they arrive half as often."""
    return HALF + (limit >> ONE)
