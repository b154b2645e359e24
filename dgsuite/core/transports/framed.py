"""A comm over a stream of bytes: how a message is cut into frames, and the way there on one host.

A message is the number of bytes that follow, the number of frames, the length of each, and the
frames: as many bytes as over Dask's TCP, so that counts of bytes do not depend on the transport.
Frames are received into memory of their own, so that each is freed with the array it is of.
"""

from __future__ import annotations

import asyncio
import logging
import struct
import sys
from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
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

START = struct.Struct("<2Q")
"""How a header begins."""

ALONE = 1 << 16
"""Bytes from which a message is sent in pieces, from where its frames are."""


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
        """Send bytes; what they are of may change once this returns."""

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
            views = joined([packb(msg)])
        else:
            views = await serialised(self, msg, serializers, on_error)
        async with self._turn:
            if self._closed:
                raise CommClosedError(f"{self} is closed")
            try:
                await self._put(views)
            except BaseException:
                # half a message may have left: nothing that follows could be understood
                self.abort()
                raise
        return sum(view.nbytes for view in views)

    async def write_bytes(self, data: bytes) -> None:
        """Send bytes that are no message: the other end takes them by `read_bytes`."""
        await self._put([memoryview(data)])

    async def read_bytes(self, size: int) -> bytes:
        """So many bytes that are no message."""
        found = bytearray(size)
        await self._fill(memoryview(found))
        return bytes(found)

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

    async def _receive(self) -> list[memoryview]:
        """The frames of the next message."""
        size, count = START.unpack(await self.read_bytes(START.size))
        if not WORD * (1 + count) <= size <= MEMORY_LIMIT:
            raise CommClosedError(f"a message cannot have {size} bytes and {count} frames")
        lengths = struct.unpack(f"<{count}Q", await self.read_bytes(WORD * count))
        if sum(lengths) != size - WORD * (1 + count):
            raise CommClosedError("the frames of a message are not as long as the message")
        frames: list[memoryview] = []
        for length in lengths:
            frames.append(host_array(length))
            await self._fill(frames[-1])
        return frames

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


async def serialised(
    comm: Comm, msg: Any, serializers: Any, on_error: str, most: int = sys.maxsize
) -> list[memoryview]:
    """A message of a comm, as what is to be sent; its frames have so many bytes at most."""
    peers = {"sender": comm.local_info, "recipient": comm.remote_info}
    frames = await to_frames(
        msg,
        allow_offload=comm.allow_offload,
        serializers=serializers,
        on_error=on_error,
        context={**peers, **comm.handshake_options},
        frame_split_size=most,
    )
    return joined(frames)


def joined(frames: Sequence[Any]) -> list[memoryview]:
    """A message of some frames, as what is to be sent: in one piece if it is short."""
    sizes = [nbytes(frame) for frame in frames]
    count, size = len(sizes), sum(sizes)
    head = struct.pack(f"<{2 + count}Q", WORD * (1 + count) + size, count, *sizes)
    if size < ALONE:
        return [memoryview(b"".join((head, *frames)))]
    return [memoryview(head), *map(ensure_memoryview, frames)]


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
