"""Compiled loops over counters: each number depends on its own counter alone."""

import numpy as np

from dgsuite.base.compiling import compiled
from dgsuite.base.mixing import GOLDEN, mix

ONE, HALF = np.uint32(1), np.uint64(32)

mixed = compiled(mix)


@compiled
def draw(key, at, out):
    """``out[:] = mix(at * GOLDEN + key)``"""
    for i in range(len(at)):
        out[i] = mixed(at[i] * GOLDEN + key)


@compiled
def permute(x, largest, mask, shift, keys):
    """As `counters.permute`, in place. The other arguments are of the type of `x`."""
    for r in range(len(keys)):  # rounds outside, so that each is a loop without branches
        factor, offset = keys[r]
        for i in range(len(x)):
            x[i] = step(x[i], factor, offset, mask, shift)
    if largest == mask:
        return
    for i in range(len(x)):
        while x[i] > largest:
            for factor, offset in keys:
                x[i] = step(x[i], factor, offset, mask, shift)


@compiled
def step(x, factor, offset, mask, shift):
    y = (x * factor + offset) & mask
    return y ^ (y >> shift)


@compiled
def quadrants(at, keys, right, lower, corner, src, dst):
    """As `families.quadrants`, of which `keys` has one a level; ends are 0 before."""
    for level in range(0, len(keys), 2):
        key, both = keys[level], level + 1 < len(keys)
        for i in range(len(at)):
            word = mixed(at[i] * GOLDEN + key)
            ends = choose(np.uint32(word), right, lower, corner, src[i], dst[i])
            if both:
                ends = choose(np.uint32(word >> HALF), right, lower, corner, *ends)
            src[i], dst[i] = ends


@compiled
def choose(half, right, lower, corner, src, dst):
    """Append a bit to each end."""
    below = half >= lower
    beside = ((half >= right) ^ below) | (half >= corner)
    return src << ONE | np.uint32(below), dst << ONE | np.uint32(beside)
