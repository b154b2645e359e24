"""``rcce://`` and ``mpimpb://``: message-passing buffers as the Single-Chip Cloud Computer has them.

On the SCC each core has a few KiB of memory that all cores can reach. RCCE-X10 (Chapman, Hussein, Hosking:
"X10 on the Single-Chip Cloud Computer", X10 Workshop 2011) has a sender deposit a message in its own buffer
and set a flag at the receiver, which reads it there and acknowledges; a longer message goes in chunks, and a
core that waits for an acknowledgement continues to receive. The chip's MPI gives each sender a section of its
own in the receiver's buffer to write to.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self
from weakref import WeakValueDictionary, finalize

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.transports import memory, mpb
from dgsuite.partition.client.settings import setting

FLAG = 32
"""Bytes of a cache line of the SCC, which is what a flag takes in its buffers."""

BUFFERS = {name: {"buffer": "8 KiB", "places": 48} for name in ("dgsuite.rcce", "dgsuite.mpimpb")}
"""Settings as on the SCC."""


@dataclass(frozen=True)
class Buffer:
    """How large a buffer is: ``dgsuite.rcce`` and ``dgsuite.mpimpb``.

    Attributes
    ----------
    buffer
        Bytes.
    places
        Cores that share the chip. ``rcce``: 2 flags of 32 bytes for each are taken off the buffer of an
        event loop, as of a core. ``mpimpb``: sections that the buffer has.
    """

    buffer: int
    places: int | None

    @classmethod
    def configured(cls, scheme: str) -> Self:
        """What Dask's configuration says.

        Raises
        ------
        InputError
            A value that cannot be.
        """
        return cls.made(scheme, setting(f"dgsuite.{scheme}"))

    @classmethod
    def made(cls, scheme: str, values: Mapping[str, Any]) -> Self:
        """What some values say."""
        places = values["places"]
        if places is not None and places < 1:
            raise InputError(f"dgsuite.{scheme}.places must be at least 1, got {places}")
        return cls(mpb.parsed(f"dgsuite.{scheme}.buffer", values["buffer"]), places)

    @property
    def room(self) -> int:
        """Bytes that flags leave; none, or less, where there are too many places."""
        return self.buffer - 2 * FLAG * (self.places or 0)

    def payload(self) -> int:
        """Bytes of a buffer that flags leave to messages: 5120 of 8 KiB at 48 places."""
        size = self.room
        if size <= 0:
            raise InputError(
                f"dgsuite.rcce.buffer of {self.buffer} bytes holds but the flags of {self.places} places"
            )
        return size

    def section(self) -> int:
        """Bytes of a sender's section, whole lines: 160 of 8 KiB at 48 places."""
        size = self.buffer // (self.places or 1) // FLAG * FLAG
        if not size:
            raise InputError(
                f"dgsuite.mpimpb.buffer of {self.buffer} bytes has no line for each of {self.places} places"
            )
        return size


class OneChunk(mpb.MPB):
    """A comm whose chunks wait for the one before, and fill the buffer."""

    early = False

    def _room(self) -> int:
        room = super()._room()
        return 0 if self._taken < self._said else room

    async def _wait_taken(self) -> None:
        """Look out for an acknowledgement for a moment first: to sleep and wake up takes longer."""
        taken, end = self._taken, time.perf_counter() + mpb.MOMENT
        while self._taken == taken and not self._ended and time.perf_counter() < end:
            self._ready()
        await asyncio.sleep(0)  # others on this loop have their turn between chunks
        if self._taken == taken:
            await super()._wait_taken()

    def _ready(self) -> None:
        super()._ready()
        if self._reading is None:
            self._take_in()

    async def _receive(self) -> list[memoryview]:
        frames = await super()._receive()
        self._take_in()
        return frames

    def _thank(self, more: bool) -> None:
        if self._got == self._there:
            self._tell()


class Core:
    """The one buffer of an event loop for all that it sends, as a core of the chip has it."""

    _known: ClassVar[WeakValueDictionary[tuple[int, int], Core]] = WeakValueDictionary()

    def __init__(self, size: int) -> None:
        self.loop = asyncio.get_running_loop()
        self.turn = asyncio.Lock()
        self.buffer, self.fd = memory.make("rcce", size)
        finalize(self, os.close, self.fd)

    @classmethod
    def here(cls, size: int) -> Core:
        """The running loop's; it lives as long as comms do."""
        loop = asyncio.get_running_loop()
        core = cls._known.get((id(loop), size))
        if core is None or core.loop is not loop:
            core = cls._known[id(loop), size] = cls(size)
        return core


class RCCE(OneChunk):
    """A comm whose sender deposits in the buffer of its event loop."""

    _core: Core | None = None

    def _made(self) -> tuple[NDArray[np.uint8], int]:
        self._core = Core.here(Buffer.configured("rcce").payload())
        return self._core.buffer, os.dup(self._core.fd)

    @property
    def holds(self) -> int:
        """No bytes: other comms may have the buffer."""
        return 0

    async def _put(self, views: Sequence[memoryview]) -> None:
        assert self._core is not None
        async with self._core.turn:
            await super()._put(views)
            while self._taken < self._written:
                await self._wait_taken()

    def abort(self) -> None:
        super().abort()
        self._core = None


class MPIMPB(OneChunk):
    """A comm whose sender writes to a section of the receiver's."""

    remote_write = True
    """Whether an end writes to the memory that the other end gives."""

    def _made(self) -> tuple[NDArray[np.uint8], int]:
        return memory.make("mpimpb", Buffer.configured("mpimpb").section())

    def _assign(self, mine: NDArray, theirs: NDArray) -> None:
        self._out, self._in = theirs.data, mine.data


class Buffers(mpb.Buffers):
    """The scheme ``rcce``."""

    scheme = "rcce"
    comm_class = RCCE


class Sections(mpb.Buffers):
    """The scheme ``mpimpb``."""

    scheme = "mpimpb"
    comm_class = MPIMPB
