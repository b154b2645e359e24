"""``mpb://`` and ``mpimpb://``: message-passing buffers, after the Single-Chip Cloud Computer.

On the SCC each core has a few KiB of memory that all cores can reach. RCCE-X10 (Chapman, Hussein, Hosking:
"X10 on the Single-Chip Cloud Computer", X10 Workshop 2011) has a sender deposit a message in its own buffer
and set a flag at the receiver, which reads it there and acknowledges; a longer message goes in chunks, and a
core that waits for an acknowledgement continues to receive. The chip's MPI gives each sender a section of its
own in the receiver's buffer to write to.
"""

from __future__ import annotations

import asyncio
import os
from typing import ClassVar
from weakref import WeakValueDictionary, finalize

import numpy as np
from numpy.typing import NDArray

from dgsuite.core.transports import memory
from dgsuite.core.transports.flags import SIZE
from dgsuite.core.transports.local import Local
from dgsuite.core.transports.shared import Shared


class Core:
    """The one buffer of an event loop for all that it sends, as a core of the chip has it."""

    _known: ClassVar[WeakValueDictionary[tuple[int, int], Core]] = WeakValueDictionary()

    def __init__(self, size: int) -> None:
        self.loop = asyncio.get_running_loop()
        self.turn = asyncio.Lock()
        self.buffer, self.fd = memory.make("mpb", size)
        finalize(self, os.close, self.fd)

    @classmethod
    def here(cls, size: int) -> Core:
        """The running loop's; it lives as long as comms do."""
        loop = asyncio.get_running_loop()
        core = cls._known.get((id(loop), size))
        if core is None or core.loop is not loop:
            core = cls._known[id(loop), size] = cls(size)
        return core


class MPB(Shared):
    """A comm whose sender deposits in a buffer of its own."""

    scheme = "mpb"
    _core: Core | None = None

    def _made(self) -> tuple[NDArray[np.uint8], int, bool]:
        if self.settings.places is None:
            return *memory.make(self.scheme, SIZE + self.settings.payload()), False
        self._core = Core.here(self.settings.payload())
        self._chip = self._core.turn
        return self._core.buffer, os.dup(self._core.fd), True

    def abort(self) -> None:
        super().abort()
        self._core = None


class MPIMPB(Shared):
    """A comm whose sender writes to a section of the receiver's."""

    scheme = "mpimpb"
    remote_write = True

    def _made(self) -> tuple[NDArray[np.uint8], int, bool]:
        return *memory.make(self.scheme, self.settings.section()), True


class Buffers(Local):
    """The scheme ``mpb``."""

    scheme = "mpb"
    comm_class = MPB
    needs = ("memory files", "passed files")


class Sections(Local):
    """The scheme ``mpimpb``."""

    scheme = "mpimpb"
    comm_class = MPIMPB
    needs = ("memory files", "passed files")
