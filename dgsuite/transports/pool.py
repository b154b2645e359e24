"""Memory for large frames that arrive, used again once nobody has the arrays that were in it.

New memory is given by the system page by page, each of which is cleared and costs a fault: for a message of
1 MiB that takes longer than to copy it. Dask's workers hand freed memory back at once, so that all would pay.
"""

from __future__ import annotations

import threading
from weakref import finalize

import numpy as np
from distributed.protocol.utils import host_array
from numpy.typing import NDArray

LARGEST = 1 << 25
"""Bytes of a frame from which the system gives memory in large pages, fast enough."""

KEEP = 1 << 26
"""Bytes kept at most."""


class Pool:
    """Blocks that are free, by size."""

    def __init__(self) -> None:
        self._free: dict[int, list[NDArray[np.uint8]]] = {}
        self._kept = 0
        # a block may come back in the middle of anything, on any thread
        self._lock = threading.RLock()

    def take(self, size: int) -> memoryview:
        """Memory of that many bytes, back in the pool when the last view of it is gone."""
        if size > LARGEST:
            return host_array(size)
        step = max(1 << 12, 1 << (size.bit_length() - 4))
        length = -(-size // step) * step
        with self._lock:
            free = self._free.get(length)
            block = free.pop() if free else None
            if block is not None:
                self._kept -= length
        if block is None:
            block = np.empty(length, np.uint8)
        lent = block[:size]
        finalize(lent, self._give, block).atexit = False
        return lent.data

    def _give(self, block: NDArray[np.uint8]) -> None:
        with self._lock:
            if self._kept + len(block) <= KEEP:
                self._free.setdefault(len(block), []).append(block)
                self._kept += len(block)


HERE = Pool()
