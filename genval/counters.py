"""Random numbers and permutations by counter: the i-th needs none before it, so any process makes
any part of a graph, and all parts together are the same however they are cut.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partition.mixing import GOLDEN, mix

ALL = (1 << 64) - 1

ROUNDS, MORE_ROUNDS, FEW_BITS = 4, 12, 12
"""Rounds of a permutation, and those on words of few bits, which mix less in each."""

Words = NDArray[np.uint64]


def subkey(key: int, stream: int) -> int:
    """A key of its own for each use of a seed, 64 bits."""
    word = np.array([key & ALL], np.uint64)
    return int(mix(mix(word) + np.uint64((stream + 1) * int(GOLDEN) & ALL))[0])


def _subkeys(key: int, count: int) -> Words:
    """`subkey` of the streams 0 to ``count - 1``."""
    word = np.array([key & ALL], np.uint64)
    return mix(mix(word) + np.arange(1, count + 1, dtype=np.uint64) * GOLDEN)


def draw(key: int, at: Words) -> Words:
    """Random 64-bit words.

    Parameters
    ----------
    at
        uint64, any shape: which of the key's numbers.

    Returns
    -------
    uint64, of the same shape.
    """
    return mix(at * GOLDEN + np.uint64(key))


def below(words: Words, bound: int | Words) -> Words:
    """Random words as numbers from 0 to ``bound - 1``, bound at most 2^32.

    One may be more frequent than another by a share of ``bound / 2^32``.
    """
    return ((words >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32)


def unit(words: Words) -> NDArray[np.float64]:
    """Random words as numbers from 0 up to 1, 1 excluded; multiples of 2^-53."""
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def permute(at: Words, size: int, key: int) -> Words:
    """Places of some numbers in a random order of 0 to ``size - 1``.

    A few rounds of affine map and shift are one to one on words of as many bits as size needs;
    what falls outside is mapped again until it falls inside (cycle walking: Black and Rogaway,
    Ciphers with arbitrary finite domains, CT-RSA 2002), twice on average at most.

    Parameters
    ----------
    at
        uint64, from 0 to ``size - 1``.
    size
        From 1 to 2^63.

    Returns
    -------
    uint64, of the same shape: from 0 to ``size - 1``, different for different numbers.
    """
    bits = max((size - 1).bit_length(), 1)
    keys = _subkeys(key, 2 * (ROUNDS if bits > FEW_BITS else MORE_ROUNDS)).reshape(-1, 2)
    found = _rounds(at, bits, keys)
    if size < 1 << bits:
        outside = np.flatnonzero(found >= size)
        while len(outside):
            again = _rounds(found[outside], bits, keys)
            found[outside] = again
            outside = outside[again >= size]
    return found


def _rounds(x: Words, bits: int, keys: Words) -> Words:
    mask, shift = np.uint64((1 << bits) - 1), np.uint64((bits + 1) // 2)
    for factor, offset in keys:
        x = x * (factor | np.uint64(1))
        x += offset
        x &= mask
        x ^= x >> shift
    return x
