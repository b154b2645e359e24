"""The mixing function (finaliser) of SplitMix64."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix 64-bit words, in place.

    The finaliser of SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number generators,
    OOPSLA 2014), with the constants of Stafford's variant 13.
    """
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x


def keyed(key: NDArray[np.uint64], number: NDArray) -> NDArray[np.uint64]:
    """Keys of numbered things, such as nodes, made of the key of all of these."""
    return mix(key + number.astype(np.uint64) * GOLDEN)
