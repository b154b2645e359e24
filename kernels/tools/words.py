"""Pairs of numbers in one word: words compare by the first number, and then by the second."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

BITS = 31
"""Bits of the second number; the bits above hold the first."""


def pair(first: NDArray, second: Any) -> NDArray[np.int64]:
    """Two numbers as one."""
    return (first << BITS) | second


def first(words: NDArray) -> NDArray[np.int64]:
    """The first number of each word."""
    return words >> BITS


def second(words: NDArray) -> NDArray[np.int64]:
    """The second number of each word."""
    return words & ((1 << BITS) - 1)
