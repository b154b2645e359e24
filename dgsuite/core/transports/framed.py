"""A comm over a stream of bytes: how a message is cut into frames, and the way there on one host.

A message is the number of bytes that follow, the number of frames, the length of each, and the
frames: as many bytes as over Dask's TCP, so that counts of bytes do not depend on the transport.
Large frames are received into memory of their own, so that each is freed with the array it is of.
"""

from __future__ import annotations

import asyncio
import logging
import struct
import sys
from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from itertools import accumulate, pairwise
from socket import socket
from typing import Any
from weakref import finalize, ref

from distributed.comm import CommClosedError
from distributed.comm.core import Comm
from distributed.comm.utils import from_frames, to_frames
from distributed.protocol.utils import host_array
from distributed.system import MEMORY_LIMIT
from distributed.utils import ensure_memoryview, nbytes
from msgpack import packb, unpackb

logger = logging.getLogger(__name__)

WORD = 8
"""Bytes of a number in a header."""

START, ONE = struct.Struct("<2Q"), struct.Struct("<3Q")
"""How a header begins, and the whole of a header for one frame."""

ALONE = 1 << 16
"""Bytes from which a frame is sent from where it is, and received into memory of its own."""


class Framed(Comm):
    """A comm over a connected Unix socket; subclasses send and receive its bytes.

    Parameters
    ----------
    sock
        Connected and not blocking.
    local, peer
        Addresses, scheme included.
    deserialize
        Whether messages are made into objects.
    """

    exchange = False
    """Whether it belongs to a clocked run, which sets it: bytes need no more than what Dask makes of them."""

    look_out = 0.0
    """Seconds that a reader polls for a message before it sleeps; a clocked run sets it."""

    _sock: socket | None = None
    """None before the beginning, when Dask may look at a comm already, and after the end."""

    def __init__(self, sock: socket, local: str, peer: str, deserialize: bool = True) -> None:
        self._closed = False
        super().__init__(deserialize=deserialize)
        self._local_addr, self._peer_addr = local, peer
        self._sock = sock
        self._loop = asyncio.get_running_loop()
        self._reading: asyncio.Future[None] | None = None
        self._writing: asyncio.Future[None] | None = None
        self._turn = asyncio.Lock()
        self._finalizer = finalize(self, _dangling, sock, self._loop, f"from {local} to {peer}")
        self._finalizer.atexit = False

    # what a transport does

    @abstractmethod
    async def _fill(self, out: memoryview) -> None:
        """Receive exactly as many bytes as there is room for."""

    @abstractmethod
    async def _put(self, views: Sequence[memoryview]) -> None:
        """Send bytes, none of the views empty; what they are of may change once this returns."""

    def _at_once(self, message: memoryview) -> bool:
        """Send a whole message without waiting for anything, if that can be."""
        return False

    @abstractmethod
    def _ready(self) -> None:
        """The socket can be read."""

    async def _open(self) -> None:
        """The handshake of both ends before the first message."""

    # what Dask asks of a comm

    @property
    def local_address(self) -> str:
        return self._local_addr

    @property
    def peer_address(self) -> str:
        return self._peer_addr

    async def read(self, deserializers: Any = None) -> Any:
        if self._closed:
            raise CommClosedError(f"{self} is closed")
        try:
            frames = await self._receive()
        except BaseException:
            # it is unknown how much of a message was read
            self.abort()
            raise
        if self.exchange and len(frames) == 1:
            return unpackb(frames[0])
        try:
            return await from_frames(
                frames, self.deserialize, deserializers, allow_offload=self.allow_offload
            )
        except EOFError:
            self.abort()
            raise CommClosedError(f"{self}: a message was cut off") from None

    async def write(self, msg: Any, serializers: Any = None, on_error: str = "message") -> int:
        if self._closed:
            raise CommClosedError(f"{self} is closed")
        if self.exchange and type(msg) is bytes:  # most rounds of a run send one of these
            views, size = joined([packb(msg)])
        else:
            views, size = joined(await self._serialised(msg, serializers, on_error))
        if size < ALONE and not self._turn.locked() and self._at_once(views[0]):
            return size
        async with self._turn:
            try:
                await self._put(views)
            except BaseException:
                # half a message may have left: nothing that follows could be understood
                self.abort()
                raise
        return size

    async def write_bytes(self, data: bytes) -> None:
        """Send bytes that are no message: the other end takes them by `read_bytes`."""
        await self._put([memoryview(data)])

    async def read_bytes(self, size: int) -> bytes:
        """So many bytes that are no message."""
        return bytes(await self._next(size))

    async def close(self) -> None:
        if not self._closed:
            async with self._turn:  # what is being written leaves first
                self.abort()

    def abort(self) -> None:
        self._closed = True
        sock, self._sock = self._sock, None
        if sock is not None:
            self._finalizer.detach()
            _leave(sock, self._loop)
            wake(self._reading)
            wake(self._writing)

    def closed(self) -> bool:
        return self._closed

    # messages and frames

    async def _serialised(self, msg: Any, serializers: Any, on_error: str) -> list[Any]:
        """The frames of a message."""
        peers = {"sender": self.local_info, "recipient": self.remote_info}
        frames: list[Any] = await to_frames(
            msg,
            allow_offload=self.allow_offload,
            serializers=serializers,
            on_error=on_error,
            context={**peers, **self.handshake_options},
            frame_split_size=sys.maxsize,
        )
        if self._closed:
            raise CommClosedError(f"{self} is closed")
        return frames

    async def _receive(self) -> list[memoryview]:
        """The frames of the next message."""
        size, count = START.unpack(await self._next(START.size))
        check(size, count)
        if size < ALONE:
            rest = await self._next(size - WORD)
            return split(rest[WORD * count :], struct.unpack_from(f"<{count}Q", rest))
        frames: list[memoryview] = []
        small: list[int] = []
        lengths = struct.unpack(f"<{count}Q", await self._next(WORD * count))
        if sum(lengths) != size - WORD * (1 + count):
            raise CommClosedError("the frames of a message are not as long as the message")
        for length in (*lengths, ALONE):
            if length < ALONE:
                small.append(length)
                continue
            if small:
                frames += split(await self._next(sum(small)), small)
                small = []
            if len(frames) < count:
                frames.append(host_array(length))
                await self._fill(frames[-1])
        return frames

    async def _next(self, size: int) -> memoryview:
        """The next few bytes, in memory of their own."""
        out = memoryview(bytearray(size))
        await self._fill(out)
        return out

    # waiting

    def _watch(self) -> None:
        """Have `_ready` called while the socket can be read; the loop does not keep the comm alive."""
        assert self._sock is not None
        self._loop.add_reader(self._sock, partial(_call, ref(self), type(self)._ready))

    async def _wait_readable(self) -> None:
        """Wait until `_ready` or an end wakes the reader."""
        self._reading = self._loop.create_future()
        try:
            await self._reading
        finally:
            self._reading = None
        if self._closed:
            raise CommClosedError(f"{self} was closed")

    async def _wait_writable(self) -> None:
        """Wait until the socket takes more."""
        if self._sock is None:
            raise CommClosedError(f"{self} was closed")
        sock, self._writing = self._sock, self._loop.create_future()
        self._loop.add_writer(sock, wake, self._writing)
        try:
            await self._writing
        finally:
            self._writing = None
            if self._sock is not None:
                self._loop.remove_writer(sock)
        if self._closed:
            raise CommClosedError(f"{self} was closed")


def header(sizes: Sequence[int]) -> bytes:
    """What a message of such frames begins with."""
    count = len(sizes)
    if count == 1:
        return ONE.pack(2 * WORD + sizes[0], 1, sizes[0])
    return struct.pack(f"<{2 + count}Q", WORD * (1 + count) + sum(sizes), count, *sizes)


def joined(frames: Sequence[Any]) -> tuple[list[memoryview], int]:
    """Frames as what is to be sent, and its bytes."""
    sizes = [nbytes(frame) for frame in frames]
    head = header(sizes)
    size = len(head) + sum(sizes)
    if size < ALONE:
        return [memoryview(b"".join((head, *frames)))], size
    pieces: list[memoryview] = []
    small: list[Any] = [head]
    for frame, length in zip(frames, sizes, strict=True):
        if length < ALONE:
            small.append(frame)
            continue
        if small:
            pieces.append(memoryview(b"".join(small)))
            small = []
        pieces.append(ensure_memoryview(frame))
    if small:
        pieces.append(memoryview(b"".join(small)))
    return pieces, size


def check(size: int, count: int) -> None:
    """Refuse a header of what cannot be a message, before memory is taken for it.

    Parameters
    ----------
    size
        Bytes that follow the first number.
    count
        Frames.

    Raises
    ------
    CommClosedError
        The frames' lengths alone are more, or it is more than this process may have of memory.
    """
    if not WORD * (1 + count) <= size <= MEMORY_LIMIT:
        raise CommClosedError(f"a message cannot have {size} bytes and {count} frames")


def cut(message: memoryview, count: int) -> list[memoryview]:
    """The frames, so many, of a whole message."""
    head = WORD * (2 + count)
    if count == 1:
        return [message[head:]]
    return split(message[head:], struct.unpack_from(f"<{count}Q", message, 2 * WORD))


def split(joined: memoryview, lengths: Sequence[int]) -> list[memoryview]:
    """Frames that stand one after another.

    Raises
    ------
    CommClosedError
        They are not as long as all together.
    """
    ends = list(accumulate(lengths, initial=0))
    if ends[-1] != len(joined):
        raise CommClosedError("the frames of a message are not as long as the message")
    return [joined[a:b] for a, b in pairwise(ends)]


def _call(comm: ref[Any], method: Any) -> None:
    found = comm()
    if found is not None:
        method(found)


def wake(future: asyncio.Future[None] | None) -> None:
    if future is not None and not future.done():
        future.set_result(None)


def _leave(sock: socket, loop: asyncio.AbstractEventLoop) -> None:
    if not loop.is_closed():
        loop.remove_reader(sock)
        loop.remove_writer(sock)
    sock.close()


def _dangling(sock: socket, loop: asyncio.AbstractEventLoop, name: str) -> None:
    """Clean up after a comm that was garbage-collected without being closed."""
    logger.warning("Closing dangling comm %s", name)
    if not loop.is_closed():
        # the loop may run in another thread
        loop.call_soon_threadsafe(_leave, sock, loop)
