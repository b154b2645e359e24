"""Compiled loops of workloads: one takes time, one fills the cache; both release the GIL."""

import numpy as np

from dgsuite.base.compiling import compiled


@compiled
def spin(value, factor, addend, operations):
    """Do so many uint32 operations, multiplications and additions in turn, each on the result of the last.

    The factor and the addend are arguments, since the compiler could fold constants into fewer operations.
    """
    for _ in range(operations // 2):
        value = np.uint32(value * factor + addend)
    if operations % 2:
        value = np.uint32(value * factor)
    return value


@compiled
def walk(buffer, times):
    """Read every eighth word of a uint64 buffer (every cache line), so many times over."""
    total = np.uint64(0)
    for _ in range(times):
        for i in range(0, len(buffer), 8):
            total ^= buffer[i] + total
    return total
