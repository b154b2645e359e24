"""Backends whose peers are on this host: Unix sockets under names that carry their owner.

An address looks like any other, ``uds://127.0.0.1:8786``, and stands for a Unix socket in the abstract
namespace. Such a name is gone with the process, however that ends. Both sides ask the system for the user
of the other (SO_PEERCRED), and refuse another user before a byte is read.
"""

from __future__ import annotations

import asyncio
import errno
import os
import random
import socket
import struct
from typing import Any, ClassVar

import dask
import psutil
from distributed.comm import CommClosedError
from distributed.comm.addressing import parse_host_port
from distributed.comm.core import BaseListener, Connector, FatalCommClosedError
from distributed.comm.tcp import BaseTCPBackend

from dgsuite.base import capabilities
from dgsuite.core.transports import slow_clocks
from dgsuite.core.transports.framed import Framed

HERE = "127.0.0.1"

PORTS = (1 << 14, 1 << 16)
"""Where a port is looked for if any will do."""


def name(scheme: str, port: int) -> str:
    """The socket behind an address."""
    return f"\0dgsuite-{scheme}-{os.geteuid()}-{port}"


def reject_strangers(sock: socket.socket) -> None:
    """Make sure that the process on the other side belongs to the same user.

    Raises
    ------
    FatalCommClosedError
        It does not.
    """
    credentials = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid, user, _ = struct.unpack("3i", credentials)
    if user != os.geteuid():
        raise FatalCommClosedError(
            f"process {pid} of user {user} is refused: this is user {os.geteuid()}"
        )


class Local(BaseTCPBackend, Connector):
    """A backend by its scheme and kind of comm, which also connects to processes on this host."""

    scheme: ClassVar[str]
    comm_class: ClassVar[type[Framed]]
    needs: ClassVar[tuple[str, ...]] = ("passed files",)
    """Capabilities; see `dgsuite.base.capabilities`."""

    def __init__(self) -> None:
        slow_clocks()

    def get_connector(self) -> Connector:
        return self

    def get_listener(
        self, loc: str, handle_comm: Any, deserialize: bool, **connection_args: Any
    ) -> LocalListener:
        return LocalListener(self, loc, handle_comm, deserialize, **connection_args)

    def resolve_address(self, loc: str) -> str:
        return f"{HERE}:{parse_host_port(loc)[1]}"

    def get_local_address_for(self, loc: str) -> str:
        return HERE

    def check(self, loc: str, arguments: dict[str, Any]) -> None:
        """Refuse what cannot be done.

        Raises
        ------
        InputError
            The system lacks what the scheme takes.
        RuntimeError
            Encryption is required.
        FatalCommClosedError
            An address on another host.
        """
        capabilities.need(*self.needs, user=f"{self.scheme}://", instead="tcp://")
        if arguments.get("require_encryption"):
            raise RuntimeError(
                "encryption required by Dask configuration, "
                f"refusing communication from/to '{self.scheme}://{loc}'"
            )
        host = parse_host_port(loc, 0)[0]
        anywhere = "", "0.0.0.0", "::", "localhost", socket.gethostname()
        own = (a.address for found in psutil.net_if_addrs().values() for a in found)
        if not (host in anywhere or host.startswith("127.") or host in own):
            raise FatalCommClosedError(
                f"{self.scheme}:// reaches processes on this host, and {host} is another; use tcp://"
            )

    def address(self, sock: socket.socket) -> str:
        """A name for the end of a connection that has no port: its inode."""
        return f"{self.scheme}://{HERE}:{os.fstat(sock.fileno()).st_ino}"

    async def connect(
        self, address: str, deserialize: bool = True, **connection_args: Any
    ) -> Framed:
        self.check(address, connection_args)
        there = f"{self.scheme}://{address}"
        port = parse_host_port(address)[1]
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        try:
            # a Unix socket connects at once or not at all; the caller tries again
            sock.connect(name(self.scheme, port))
            reject_strangers(sock)
        except OSError as error:
            sock.close()
            if isinstance(error, CommClosedError):
                raise
            raise CommClosedError(f"no process listens at {there}: {error}") from error
        comm = self.comm_class(sock, self.address(sock), there, deserialize)
        try:
            await comm._open()
        except BaseException:
            comm.abort()
            raise
        return comm


class LocalListener(BaseListener):
    """Listens for processes on this host."""

    def __init__(
        self,
        backend: Local,
        address: str,
        comm_handler: Any,
        deserialize: bool = True,
        allow_offload: bool = True,
        default_port: int = 0,
        **connection_args: Any,
    ) -> None:
        super().__init__()
        backend.check(address, connection_args)
        self.prefix = f"{backend.scheme}://"
        self._backend = backend
        self._port = parse_host_port(address, default_port)[1]
        self.comm_handler = comm_handler
        self.deserialize = deserialize
        self.allow_offload = allow_offload
        self._sock: socket.socket | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        dice = random.SystemRandom()
        try:
            for port in iter(lambda: self._port or dice.randrange(*PORTS), None):
                try:
                    sock.bind(name(self._backend.scheme, port))
                except OSError as error:
                    if self._port or error.errno != errno.EADDRINUSE:
                        raise
                else:
                    self._port = port
                    break
            sock.listen(int(dask.config.get("distributed.comm.socket-backlog")))
        except BaseException:
            sock.close()
            raise
        self._sock = sock
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(sock, self._accept)

    def stop(self) -> None:
        sock, self._sock = self._sock, None
        if sock is not None:
            if not self._loop.is_closed():
                self._loop.remove_reader(sock)
            sock.close()

    def _accept(self) -> None:
        assert self._sock is not None
        try:
            sock, _ = self._sock.accept()
        except OSError:
            return  # the caller is gone already
        sock.setblocking(False)
        task = self._loop.create_task(self._welcome(sock))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _welcome(self, sock: socket.socket) -> None:
        try:
            reject_strangers(sock)
            if self._sock is None:  # stopped meanwhile: the handshake would not end
                raise CommClosedError("the listener was stopped")
        except CommClosedError:
            sock.close()
            return
        comm = self._backend.comm_class(
            sock, self.contact_address, self._backend.address(sock), self.deserialize
        )
        comm.allow_offload = self.allow_offload
        try:
            await comm._open()
            await self.on_connection(comm)
        except OSError:
            comm.abort()  # the caller is gone before the end of the handshake
            return
        await self.comm_handler(comm)

    @property
    def listen_address(self) -> str:
        return f"{self.prefix}{HERE}:{self._port}"

    contact_address = listen_address

    def get_host_port(self) -> tuple[str, int]:
        """Where it listens."""
        return HERE, self._port
