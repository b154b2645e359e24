"""Compiled loops: bits of a bitmap."""

from __future__ import annotations

import numpy as np

from dgsuite.base.compiling import compiled


@compiled
def bit(bits, slot):
    """Bit of a slot in a little-endian bitmap. A bitmap takes an eighth of a mask, so it stays in cache.

    Slots are counted within a site, so they fit 32 bits.
    """
    i = np.uint32(slot)
    return np.int32((bits[i >> np.uint32(3)] >> (i & np.uint32(7))) & np.uint32(1))
