"""Compiled loops: bits of a bitmap."""

import numpy as np

from dgsuite.base.compiling import compiled


@compiled
def bit(bits, slot):
    """Bit of a slot in a little-endian bitmap. A bitmap takes an eighth of a mask, so it stays in cache.

    A graph has fewer than 2^32 nodes (`dgsuite.partition.sources.piece.MOST_NODES`), so slots and node ids
    fit into 32 bits without a sign.
    """
    i = np.uint32(slot)
    return np.int32((bits[i >> np.uint32(3)] >> (i & np.uint32(7))) & np.uint32(1))
