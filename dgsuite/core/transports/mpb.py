"""``mpb://``: message-passing buffers, memory that both processes have mapped.

A sender deposits in a buffer of its own, where the receiver reads. Flags are lines on a Unix socket, so
that a process sleeps until one comes, and so that what was written before it is seen after it on any
processor. A line has the number of bytes of the stream that were deposited, where in the buffer they begin,
and the number that were read in the other direction. It replaces all former lines, so one that finds the
socket full is merged with the next. The end of the socket says that the peer is gone.
"""

from __future__ import annotations

import logging
import os
import socket
import struct
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

import dask
import numpy as np
from distributed.comm import CommClosedError
from distributed.protocol.utils import host_array
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.transports import memory
from dgsuite.core.transports.framed import ALONE, Framed, wake
from dgsuite.core.transports.local import Local
from dgsuite.partition.client.settings import setting

logger = logging.getLogger(__name__)

LINE = struct.Struct("<3Q")
"""Bytes deposited, where the buffer's start is in the stream, bytes read."""

LINES = 1 << 7
"""Lines read at a time."""

HELLO = struct.Struct("<4sQ")
"""Version, bytes of the memory."""

VERSION = b"dgs3"

MOMENT = 1e-4
"""Seconds that a reader polls for the rest of a long message before it sleeps again."""

LARGEST, SMALLEST = 4, 32
"""Parts of a buffer that its largest and smallest chunks are; chunks are written while others are read. They
begin small, for the reader to wake up meanwhile, and end small, for it to have little left to read."""

INBOX = 1 << 26
"""Bytes that may wait to be read beyond what is in a buffer."""


class MPB(Framed):
    """A comm through shared memory."""

    early = True
    """Whether a long message goes in chunks that are smaller than the buffer; see `LARGEST`."""

    _ended = False
    """Whether the peer is gone."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._out = self._in = memoryview(b"")
        # positions in the stream of bytes: what I wrote, said, and know to be read; my buffer's start
        self._written = self._said = self._taken = self._start = 0
        # what the peer wrote, what of it I read, and said so; its buffer's start
        self._there = self._got = self._acknowledged = self._origin = 0
        self._behind = False
        self._inbox: deque[memoryview] = deque()
        self._held = 0

    # the beginning

    def _made(self) -> tuple[NDArray[np.uint8], int]:
        """The memory that this end gives to the comm, and its file, which the caller closes."""
        return memory.make("mpb", parsed("dgsuite.mpb.buffer", setting("dgsuite.mpb.buffer")))

    def _assign(self, mine: NDArray, theirs: NDArray) -> None:
        """Which memory is written, and which is read."""
        self._out, self._in = mine.data, theirs.data

    async def _open(self) -> None:
        assert self._sock is not None
        mine, fd = self._made()
        try:
            socket.send_fds(self._sock, [HELLO.pack(VERSION, len(mine))], [fd])
        except OSError as error:
            raise CommClosedError(f"{self}: {error}") from error
        finally:
            os.close(fd)
        self._watch()
        await self._wait_readable()
        self._assign(mine, self._heard())

    def _heard(self) -> NDArray[np.uint8]:
        """The memory that the other end gives."""
        assert self._sock is not None
        try:
            said, fds, _, _ = socket.recv_fds(self._sock, HELLO.size, 1, socket.MSG_CMSG_CLOEXEC)
        except OSError as error:
            raise CommClosedError(f"{self}: {error}") from error
        try:
            if len(said) < HELLO.size or len(fds) != 1:
                raise CommClosedError(f"{self}: the peer left before it gave a buffer")
            version, size = HELLO.unpack(said)
            if version != VERSION or os.fstat(fds[0]).st_size != size:
                raise CommClosedError(f"{self}: the peer runs another version of dgsuite")
            if not memory.sealed(fds[0]):
                raise CommClosedError(f"{self}: the peer gave memory that could shrink")
            if not size:
                raise CommClosedError(f"{self}: the peer gave no memory")
            return memory.attach(fds[0])
        finally:
            for fd in fds:
                os.close(fd)

    # the socket's lines

    def _tell(self) -> None:
        """Say what was written and read, now or as soon as the socket takes it."""
        if self._sock is None or self._ended or self._behind:
            return
        try:
            self._sock.send(LINE.pack(self._written, self._start, self._got))
        except BlockingIOError:
            self._behind = True
            self._loop.add_writer(self._sock, self._catch_up)
        except OSError:
            self._finish()
        else:
            self._said, self._acknowledged = self._written, self._got

    def _catch_up(self) -> None:
        assert self._sock is not None
        self._loop.remove_writer(self._sock)
        self._behind = False
        self._tell()

    @property
    def holds(self) -> int:
        """Bytes of a message that can be written while the other end does nothing, once that end has read
        all that came before: it may leave up to half a buffer unacknowledged.
        """
        return len(self._out) // 2

    def _ready(self) -> None:
        if self._sock is None:
            return
        if not self._in:  # before the handshake
            wake(self._reading)
            return
        try:
            lines = self._sock.recv(LINE.size * LINES)
        except BlockingIOError:
            return
        except OSError:
            lines = b""
        if not lines:
            self._finish()
            return
        there = taken = -1
        if len(lines) % LINE.size == 0:
            there, self._origin, taken = LINE.unpack_from(lines, len(lines) - LINE.size)
        if not (self._there <= there <= self._got + len(self._in) and taken <= self._written):
            logger.warning("%s: the peer published an impossible position in the stream", self)
            self._finish()
            return
        self._there = there
        if taken > self._taken:
            self._taken = taken
            wake(self._writing)
        if self._there > self._got:
            if self._reading is not None:
                wake(self._reading)
            elif self._writing is not None:
                self._take_in()

    def _finish(self) -> None:
        """The peer is gone; the bytes that it deposited can still be read."""
        self._ended = True
        if self._sock is not None:
            self._loop.remove_reader(self._sock)
        wake(self._writing)
        wake(self._reading)

    def closed(self) -> bool:
        if self._ended and not self._closed and not self._inbox and self._there == self._got:
            self.abort()
        return self._closed

    def abort(self) -> None:
        super().abort()
        self._out = self._in = memoryview(b"")
        self._inbox.clear()

    # sending

    async def _put(self, views: Sequence[memoryview]) -> None:
        left = sum(view.nbytes for view in views)
        least, most = (max(1, len(self._out) // parts) for parts in (SMALLEST, LARGEST))
        # a long message's head goes ahead: its reader wakes up meanwhile
        step = views[0].nbytes if self.early and left > least else left
        for view in views:
            at = 0
            while at < view.nbytes:
                room = self._room()
                if room <= 0:
                    if self._said < self._written:
                        self._tell()
                    await self._wait_taken()
                    continue
                size = min(room, view.nbytes - at, step)
                copy(self._out, (self._written - self._start) % len(self._out), view, at, size)
                self._written += size
                at += size
                left -= size
                if self._written - self._said >= step and left:
                    self._tell()
                    step = max(least, min(2 * step, most, left // 2))
                    if left - step < least:
                        step = left
        if self._said < self._written:
            self._tell()
        if self._ended:
            raise CommClosedError(f"{self}: the peer closed it")

    def _room(self) -> int:
        """Bytes that can be written in one go."""
        if self._closed or self._ended:
            raise CommClosedError(f"{self}: the peer closed it")
        size = len(self._out)
        if self._taken == self._written:
            self._start = self._written  # begin again where memory is warm
            return size
        used = self._written - self._taken
        offset = (self._written - self._start) % size
        return min(size - used, size - offset)

    async def _wait_taken(self) -> None:
        """Wait until the peer has read more, and go on receiving meanwhile."""
        if self._closed or self._ended:
            raise CommClosedError(f"{self}: the peer closed it")
        self._writing = self._loop.create_future()
        if self._reading is None:
            self._take_in()
        try:
            await self._writing
        finally:
            self._writing = None

    # receiving

    async def _fill(self, out: memoryview) -> None:
        at = 0
        while at < out.nbytes:
            if self._inbox:
                part = self._inbox.popleft()
                size = min(part.nbytes, out.nbytes - at)
                copy(out, at, part, 0, size)
                if size < part.nbytes:
                    self._inbox.appendleft(part[size:])
                self._held -= size
                at += size
            elif self._there > self._got:
                at += self._copy(out[at:])
            elif self._ended:
                raise CommClosedError(f"{self}: the peer closed it")
            else:
                begun = at > 0 or out.nbytes >= ALONE
                await self._wait(MOMENT if begun else 0.0)

    async def _receive(self) -> list[memoryview]:
        if not self._there_is():
            await self._wait(self.look_out)
        frames = await super()._receive()
        if self._writing is not None:
            self._take_in()
        return frames

    def _copy(self, out: memoryview) -> int:
        """Take bytes out of the buffer; how many."""
        offset = (self._got - self._origin) % len(self._in)
        size = min(self._there - self._got, out.nbytes, len(self._in) - offset)
        copy(out, 0, self._in, offset, size)
        self._got += size
        self._thank(size < out.nbytes)
        return size

    def _thank(self, more: bool) -> None:
        """Say what was read, if it is time: early if there is more to come, or else an answer may do."""
        if (4 if more else 2) * (self._got - self._acknowledged) >= len(self._in):
            self._tell()

    def _take_in(self) -> None:
        """Make room in the buffer while no read is under way, up to the bound."""
        while self._there > self._got and self._held < INBOX:
            part = host_array(min(self._there - self._got, len(self._in)))
            size = self._copy(part)
            self._inbox.append(part[:size])
            self._held += size

    async def _wait(self, seconds: float) -> None:
        """Wait for something to read, or the end, at first without sleeping."""
        end = time.perf_counter() + seconds
        self._ready()  # which lets other threads of the process run
        while not self._there_is() and time.perf_counter() < end:
            self._ready()
        if not self._there_is():
            await self._wait_readable()

    def _there_is(self) -> bool:
        return self._there > self._got or bool(self._inbox) or self._ended


def copy(out: memoryview, start: int, data: memoryview, at: int, size: int) -> None:
    """Copy some bytes; many of them without holding the interpreter."""
    if size < ALONE:
        out[start : start + size] = data[at : at + size]
    else:
        target = np.frombuffer(out, np.uint8, size, start)
        target[:] = np.frombuffer(data, np.uint8, size, at)


def parsed(key: str, given: Any) -> int:
    """Bytes of a buffer, as Dask's configuration has them.

    Raises
    ------
    InputError
        They are none.
    """
    try:
        size: int = dask.utils.parse_bytes(given)
    except (TypeError, ValueError) as error:
        raise InputError(f"{key}: {error}") from None
    if size < 1:
        raise InputError(f"{key} must be at least 1 byte, got {size}")
    return size


class Buffers(Local):
    """The scheme ``mpb``."""

    scheme = "mpb"
    comm_class = MPB
    needs = ("memory files", "passed files")
