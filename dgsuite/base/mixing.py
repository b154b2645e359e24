"""Random words as functions of keys and numbers, by the mixing function (finaliser) of SplitMix64."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

GOLDEN = np.uint64(0x9E3779B97F4A7C15)

APART = 0xD1342543DE82EF95
"""Multiples of it set the seeds of domains apart: an odd number, so that they differ."""


class Domain(IntEnum):
    """What random words are for. Those of two domains have nothing to do with each other, whatever their
    numbers are.
    """

    KERNEL = 0
    """What nodes draw."""
    DAEMON = 1
    """Which nodes a daemon picks."""
    LOSS = 2
    """Which messages are lost."""
    LIES = 3
    """What nodes say that lie."""
    CRASHES = 4
    """When nodes crash."""
    LIARS = 5
    """Which nodes lie."""
    DELAYS = 6
    """How long the messages of rounds take."""
    LATE_TASKS = 7
    """How long the messages of tasks take."""
    DUPLICATES = 8
    """Which messages arrive twice."""
    CORRUPTION = 9
    """Which messages are corrupted, and what they then say."""
    SWIZZLE = 10
    """Which nodes an adversary cuts off and lets back in, and in which order."""
    CLOCKS = 11
    """How fast clocks run."""


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


def key(seed: int, number: int, domain: Domain = Domain.KERNEL) -> NDArray[np.uint64]:
    """The key of a seed's words for one use, shape (1,), such as those of all nodes in a round.

    Parameters
    ----------
    number
        Of the use, from 0, among those of the domain.
    """
    word = (int(seed) ^ domain * APART) % 2**64
    first = mix(np.array([word], np.uint64) + GOLDEN)
    return keyed(first, np.array([number]))


def unit(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Random words as numbers in [0, 1): multiples of 2^-53."""
    return np.multiply(words >> np.uint64(11), 2.0**-53, dtype=np.float64)
