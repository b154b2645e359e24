"""Compiled loops of workloads: one takes time, one fills the cache; both release the GIL."""

from __future__ import annotations

import numpy as np

from dgsuite.base.compiling import compiled


@compiled
def spin(lanes, operations):
    """Do so many integer operations, a multiplication or an addition each, on uint32 lanes.

    Each depends on the one before in its lane, so that none can be left out; lanes are side by side,
    so that they fill the processor's vectors.
    """
    width = len(lanes)
    a, b = np.uint32(1664525), np.uint32(1013904223)
    for _ in range(operations // (2 * width)):
        for i in range(width):
            lanes[i] = lanes[i] * a + b
    rest = operations % (2 * width)
    for i in range(rest // 2):
        lanes[i] = lanes[i] * a + b
    for i in range(rest % 2):
        lanes[i] += b


@compiled
def walk(buffer, times):
    """Read every eighth word of a uint64 buffer (every cache line), so many times over."""
    total = np.uint64(0)
    for _ in range(times):
        for i in range(0, len(buffer), 8):
            total ^= buffer[i] + total
    return total
