"""``uds://``: Dask over Unix sockets, on one host."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Any

from distributed.comm import CommClosedError

from dgsuite.core.transports.framed import Framed, wake
from dgsuite.core.transports.local import Local

AHEAD = 1 << 16
"""Bytes that are read ahead, so that a small message takes one system call."""

PIECES = 1 << 9
"""Most views of a system call; the system's own limit is 1024."""


class UDS(Framed):
    """A comm over a Unix socket."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._ahead = memoryview(b"")
        self._watched = False

    async def _put(self, views: Sequence[memoryview]) -> None:
        left = list(views)
        while left:
            if self._sock is None:
                raise CommClosedError(f"{self} was closed")
            try:
                sent = self._sock.sendmsg(left[:PIECES])
            except BlockingIOError:
                await self._wait_writable()
                continue
            except OSError as error:
                raise CommClosedError(f"{self}: {error}") from error
            while left and sent >= left[0].nbytes:
                sent -= left.pop(0).nbytes
            if sent:
                left[0] = left[0][sent:]

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

    async def _fill(self, out: memoryview) -> None:
        have = 0
        while have < out.nbytes:
            if self._ahead:
                part = self._ahead[: out.nbytes - have]
                out[have : have + part.nbytes] = part
                self._ahead = self._ahead[part.nbytes :]
                have += part.nbytes
                continue
            if self._sock is None:
                raise CommClosedError(f"{self} was closed")
            try:
                if out.nbytes - have < AHEAD:
                    self._ahead = memoryview(self._sock.recv(AHEAD))
                    got = self._ahead.nbytes
                else:
                    got = self._sock.recv_into(out[have:])
                    have += got
            except BlockingIOError:
                if not self._watched:
                    self._watch()
                    self._watched = True
                await self._wait_readable()
                continue
            except OSError as error:
                raise CommClosedError(f"{self}: {error}") from error
            if not got:
                raise CommClosedError(f"{self}: the peer closed it")

    def _ready(self) -> None:
        if self._reading is not None:
            wake(self._reading)
        elif self._sock is not None:  # no read is under way: the loop need not watch
            self._loop.remove_reader(self._sock)
            self._watched = False

    def closed(self) -> bool:
        if not self._closed and self._sock is not None and not self._ahead and not self._reading:
            try:
                if not self._sock.recv(1, socket.MSG_PEEK):
                    self.abort()
            except BlockingIOError:
                pass
            except OSError:
                self.abort()
        return self._closed


class UnixSockets(Local):
    """The scheme ``uds``."""

    scheme = "uds"
    comm_class = UDS
