"""A counter in memory that processes of one host share: a fetch is one instruction of the processor.

Where a transport has such memory no message is sent, and the process that has the counter need not wake up.
"""

from __future__ import annotations

import os
from weakref import finalize

import numpy as np
from distributed.comm.addressing import parse_address
from numpy.typing import NDArray

from dgsuite.core.transports import memory
from dgsuite.core.transports.flags import SIZE

SCHEMES = ("mpb", "rcce")
"""Transports whose buffers all processes reach; a section of ``mpimpb`` belongs to two of them."""


class Counter:
    """An iterator over numbers, each of which one process gets.

    Parameters
    ----------
    held
        Memory, whose first 8 bytes are the next number.
    fd
        Its file, which stays open as long as others may attach; -1 if it was another process's.
    """

    def __init__(self, held: NDArray[np.uint8], fd: int = -1) -> None:
        if fd >= 0:
            finalize(self, os.close, fd)
        self._fd = fd
        from dgsuite.core.transports._compiled import fetch_add  # Numba is slow to import

        self._add = fetch_add
        self._cell = held[:8].view(np.int64)

    @classmethod
    def made(cls, first: int) -> Counter:
        """A new one, from a number on."""
        counter = cls(*memory.make("counter", SIZE))
        counter._cell[0] = first
        return counter

    @classmethod
    def attached(cls, where: memory.Where) -> Counter | None:
        """Another process's; None if this process does not find its memory."""
        held = memory.attach_of(where)
        return None if held is None else cls(held)

    @property
    def where(self) -> memory.Where:
        """Where other processes find it."""
        return memory.Where.of(self._fd)

    def __iter__(self) -> Counter:
        return self

    def __next__(self) -> int:
        return int(self._add(self._cell))


def shared(address: str) -> bool:
    """Whether workers at addresses such as this one share memory for a counter."""
    return parse_address(address)[0] in SCHEMES
