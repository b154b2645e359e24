"""Random numbers that are functions of (seed, node, round): the same on any cluster or worker."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.mixing import GOLDEN, Domain, key, keyed, mix, unit
from dgsuite.base.thresholds import compiles
from dgsuite.partition.arrays.segments import lent

BLOCK = 1 << 13
"""Numbers made at a time: their intermediate results stay in the processor's first cache."""


Numbers = Literal["counter", "imsuite", "imsuite-2.6"]
"""Generators: "counter", keyed by (seed, node, draw); or IMSuite's, one per node, seeded with the
node's index: under X10 2.3 (the paper's) a Mersenne Twister, under X10 2.6 SplitMix64."""


def uniform(
    rng: Numbers, seed: int, nodes: NDArray, draw: int | NDArray, domain: Domain = Domain.KERNEL
) -> NDArray[np.float64]:
    """One number in [0, 1) for each node.

    Parameters
    ----------
    rng
        Which generator; IMSuite's ignore `seed`.
    nodes
        Node ids.
    draw
        Which draw, from 0: usually the round; or one per node.
    domain
        What the numbers are for; IMSuite's generators ignore it.

    Examples
    --------
    >>> import numpy as np
    >>> from dgsuite.kernels.tools.rng import uniform
    >>> uniform("counter", 101, np.array([0, 1]), 0).round(3)
    array([0.114, 0.978])
    >>> uniform("counter", 101, np.array([1]), 0).round(3)
    array([0.978])
    """
    nodes = np.asarray(nodes, np.int64)
    if not isinstance(draw, int):
        out = np.empty(len(nodes))
        for number in np.unique(draw).tolist():
            out[draw == number] = uniform(rng, seed, nodes[draw == number], number, domain)
        return out
    if rng == "imsuite":
        return _mersenne_twister(nodes, draw)
    if rng == "imsuite-2.6":
        return _x10_splitmix(nodes, draw)
    return _splitmix(key(seed, draw, domain), nodes)


def paired(
    key: NDArray[np.uint64], first: NDArray, second: NDArray, number: NDArray | None = None
) -> NDArray[np.uint64]:
    """A random word for each pair of numbers, such as the nodes of a message.

    Parameters
    ----------
    key
        Shape (1,).
    number
        Of each pair, how many times it was there before; by default never.
    """
    if compiles(len(first)):
        from dgsuite.kernels.tools import _draws

        words = _draws.paired(key[0], lent(first), lent(second))
    else:
        words = keyed(keyed(key, first), second)
    return words if number is None else np.where(number > 0, keyed(words, number), words)


def _splitmix(first: NDArray[np.uint64], nodes: NDArray) -> NDArray[np.float64]:
    out = np.empty(len(nodes))
    for start in range(0, len(nodes), BLOCK):
        x = nodes[start : start + BLOCK].astype(np.uint64)
        x *= GOLDEN
        x += first
        mix(x)
        x >>= np.uint64(11)
        np.multiply(x, 2.0**-53, out=out[start : start + BLOCK])
    return out


def _x10_splitmix(seeds: NDArray[np.int64], draw: int) -> NDArray[np.float64]:
    """Draw number `draw` of x10.util.Random(seed) of X10 2.6."""
    x = seeds.astype(np.uint64) + np.array([draw + 1], np.uint64) * GOLDEN
    x ^= x >> np.uint64(33)
    x *= np.uint64(0xFF51AFD7ED558CCD)
    x ^= x >> np.uint64(33)
    x *= np.uint64(0xC4CEB9FE1A85EC53)
    x ^= x >> np.uint64(33)
    return unit(x)


SAME = 4357
"""The seed that the original takes for 0."""

_WORDS = 624

# mt[i] = 69069 mt[i - 1] + 1 mod 2^32 is linear in the seed: mt[i] = A[i] seed + B[i]
_A = np.cumprod([1] + [69069] * (_WORDS - 1), dtype=np.uint32)
_B = np.cumsum(_A, dtype=np.uint32) - _A


def _twist(mt: NDArray[np.uint32]) -> None:
    """Next block of 624 words of each row, in place (Matsumoto and Nishimura 1998)."""

    def step(k: slice, after: slice, ahead: slice) -> None:
        y = (mt[:, k] & np.uint32(0x80000000)) | (mt[:, after] & np.uint32(0x7FFFFFFF))
        mt[:, k] = mt[:, ahead] ^ (y >> np.uint32(1)) ^ ((y & np.uint32(1)) * np.uint32(0x9908B0DF))

    # three vector steps, none of which reads a word it has yet to write, and the wrap-around
    step(slice(0, 227), slice(1, 228), slice(397, 624))
    step(slice(227, 454), slice(228, 455), slice(0, 227))
    step(slice(454, 623), slice(455, 624), slice(227, 396))
    step(slice(623, 624), slice(0, 1), slice(396, 397))


def _mersenne_twister(seeds: NDArray[np.int64], draw: int) -> NDArray[np.float64]:
    """Draw number `draw` of x10.util.Random(seed) of X10 2.3: MT19937 with Knuth's seeding.

    There seed 0 stands for 4357, and nodes 0 and 4357 would draw the same for ever; so the numbers
    of 4357 are the next smaller floats.
    """
    first = np.where(seeds == 0, SAME, seeds).astype(np.uint32)
    mt = first[:, None] * _A + _B
    block, word = divmod(2 * draw, _WORDS)
    for _ in range(block + 1):
        _twist(mt)
    y = mt[:, word : word + 2].copy()
    y ^= y >> np.uint32(11)
    y ^= (y << np.uint32(7)) & np.uint32(0x9D2C5680)
    y ^= (y << np.uint32(15)) & np.uint32(0xEFC60000)
    y ^= y >> np.uint32(18)
    bits = (y[:, 0].astype(np.uint64) << np.uint64(32)) | y[:, 1]
    draws = unit(bits)
    return np.where(seeds == SAME, np.nextafter(draws, 0), draws)
