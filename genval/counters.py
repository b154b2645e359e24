"""Counter-based random numbers and permutations.

The i-th number does not depend on those before it. So any process can make any part of a graph, and the
graph is the same however it is divided into parts.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base import mixing
from dgsuite.base.mixing import GOLDEN, keyed, mix, unit
from dgsuite.base.thresholds import compiles

ALL = (1 << 64) - 1

ROUNDS, MORE_ROUNDS, FEW_BITS = 4, 12, 12
"""Rounds of a permutation; more on words of at most `FEW_BITS` bits, where each round mixes less."""

Words = NDArray[np.uint64]

_ready: Any = None
"""The compiled forms, once they are imported."""


def fast(elements: int) -> Any:
    """The compiled forms for many elements, or for any number once they are imported; else None."""
    global _ready
    if _ready is None and compiles(elements):
        from dgsuite.genval import _draws

        _ready = _draws
    return _ready


ODD = np.array([1, 0], np.uint64)
"""Makes a factor odd, so that the map is a permutation, and leaves what is added."""


@lru_cache
def subkey(key: int, stream: int) -> int:
    """A separate 64-bit key for each use of a seed."""
    word = np.array([key & ALL], np.uint64)
    return int(mix(mix(word) + np.uint64((stream + 1) * int(GOLDEN) & ALL))[0])


@lru_cache
def subkeys(key: int, count: int) -> Words:
    """`subkey` of the streams 0 to ``count - 1``."""
    word = np.array([key & ALL], np.uint64)
    return mix(mix(word) + np.arange(1, count + 1, dtype=np.uint64) * GOLDEN)


def draw(key: int, at: Words) -> Words:
    """Random 64-bit words.

    Parameters
    ----------
    at
        uint64, any shape: indices into the key's sequence of random words.

    Returns
    -------
    uint64, of the same shape.
    """
    if (compiled := fast(at.size)) is None:
        return mix(at * GOLDEN + np.uint64(key))
    found = np.empty(at.shape, np.uint64)
    compiled.draw(np.uint64(key), at.ravel(), found.ravel())
    return found


def below(words: Words, bound: int | Words) -> Words:
    """Convert random words to numbers from 0 to ``bound - 1``, with bound at most 2^32.

    The probabilities of two numbers may differ by a factor of up to ``1 + bound / 2^32``.
    """
    return ((words >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32)


def of_nodes(seed: int, nodes: NDArray, number: int) -> NDArray[np.float64]:
    """Numbers from 0 to 1, without 1: those that kernels draw for nodes, such as one for each round.

    Parameters
    ----------
    seed
        Of the run.
    nodes
        Node ids.
    number
        Which draw, from 0.
    """
    return unit(keyed(mixing.key(seed, number), nodes))


def permute(at: Words, size: int, key: int) -> Words:
    """Apply a random permutation of 0 to ``size - 1``.

    A few rounds of affine maps and shifts permute the words of as many bits as size needs. Results of at
    least size are mapped again until they are below it (cycle walking: Black and Rogaway, Ciphers with
    arbitrary finite domains, CT-RSA 2002), on average at most twice.

    Parameters
    ----------
    at
        uint64, from 0 to ``size - 1``.
    size
        From 1 to 2^63.

    Returns
    -------
    uint64, of the same shape: from 0 to ``size - 1``, distinct for distinct arguments.
    """
    bits = max((size - 1).bit_length(), 1)
    keys = subkeys(key, 2 * (ROUNDS if bits > FEW_BITS else MORE_ROUNDS)).reshape(-1, 2)
    keys = keys | ODD
    mask, shift = np.uint64((1 << bits) - 1), np.uint64((bits + 1) // 2)
    if (compiled := fast(at.size)) is not None:
        found, kind = at.copy(), at.dtype.type
        limits = (kind(limit) for limit in (size - 1, mask, shift))
        compiled.permute(found.ravel(), *limits, keys.astype(kind))
        return found
    found = _rounds(at, mask, shift, keys)
    if size <= mask:
        outside = np.flatnonzero(found >= size)
        while len(outside):
            again = _rounds(found[outside], mask, shift, keys)
            found[outside] = again
            outside = outside[again >= size]
    return found


def _rounds(x: Words, mask: np.uint64, shift: np.uint64, keys: Words) -> Words:
    for factor, offset in keys:
        x = x * factor
        x += offset
        x &= mask
        x ^= x >> shift
    return x
