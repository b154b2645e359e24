"""Comms between the tasks of a run: how they are opened, and how much they take in.

The comms are distributed's (any transport, TLS included), on the event loop of the task that opens them.
"""

from __future__ import annotations

import asyncio
import errno
import re
import secrets
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import dask
from dask.utils import parse_timedelta
from distributed.comm import CommClosedError, get_address_host, listen, parse_address
from distributed.comm.addressing import unparse_host_port
from distributed.comm.core import Comm
from distributed.comm.registry import get_backend
from distributed.comm.tcp import TCP, TLS
from tornado.iostream import StreamClosedError

from dgsuite.base.errors import InputError, RunError
from dgsuite.core.transports.framed import Framed
from dgsuite.partition.client.settings import setting

DIRECT = 1 << 20
"""Bytes of a parcel that are written before anything is read, at most; of larger ones, writing and reading at
once is faster."""

FITS = 1 << 12
"""The same over transports that do not say what they hold: the system's buffers hold so much."""

HEAD = 1 << 10
"""Bytes that a message has besides the arrays of its parcel, at most."""

SHARED = "mpb"
"""Scheme of comms in memory that two processes share: see `dgsuite.core.transports.mpb`."""

HIGHEST_PORT = 65535

SECRET = 32
"""Bytes that a task must send to be accepted; the workers exchange them among themselves alone."""


class Listener:
    """Where a task lets the other tasks of its run connect.

    Parameters
    ----------
    welcome
        Called with the comm of each.

    Attributes
    ----------
    where
        Its address, and the secret that a task must send.
    """

    def __init__(self, welcome: Callable[[Comm], Awaitable[None]]) -> None:
        self._welcome = welcome
        self._secret = secrets.token_bytes(SECRET)
        self._open: Any = None
        self.where = "", self._secret

    async def start(self, scheme: str, place: str, listen_args: dict[str, Any]) -> None:
        """Let others connect.

        Parameters
        ----------
        scheme
            Of the comms.
        place
            Address of the task's worker.

        Raises
        ------
        RunError
            No port is free.
        """
        host = get_address_host(place)
        hosts = [""] if scheme == "inproc" else (unparse_host_port(host, port) for port in ports())
        for where in hosts:
            self._open = listen(
                f"{scheme}://{where}",
                self._welcome,
                deserialize=True,
                allow_offload=False,
                **listen_args,
            )
            self._open.on_connection = self._admit
            try:
                await self._open.start()
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
                self._open = None
                continue
            self.where = self._open.contact_address, self._secret
            return
        raise RunError(
            f"worker {place}: no port of dgsuite.clocked.port = "
            f"{setting('dgsuite.clocked.port')!r} is free; each worker of a host needs some of its own"
        )

    def stop(self) -> None:
        """Let no more of them connect."""
        if self._open is not None:
            self._open.stop()
            self._open = None

    async def _admit(self, comm: Comm, handshake_overrides: Any = None) -> None:
        """Accept a task that sends the secret; in place of Dask's handshake, which unpickles any input."""
        try:
            said = await asyncio.wait_for(_opening(comm), _patience())
        except TimeoutError:
            comm.abort()
            raise CommClosedError(f"{comm.peer_address} says nothing") from None
        if not isinstance(said, bytes) or not secrets.compare_digest(said, self._secret):
            comm.abort()
            raise CommClosedError(f"{comm.peer_address} does not know the secret of the run")
        _agree(comm)


def ports() -> Iterable[int]:
    """Ports that this worker may listen on, first choice first; 0 is one that the system chooses.

    The worker's own configuration decides: ``dgsuite.clocked.port`` is a port, or a range such as
    "9100:9199", both ends included, as of ``dask worker --worker-port``.

    Raises
    ------
    InputError
        The setting is neither.
    """
    chosen = setting("dgsuite.clocked.port")
    if chosen is None:
        return [0]
    if found := re.fullmatch(r"(\d+)(?::(\d+))?", str(chosen)):
        first, last = int(found[1]), int(found[2] or found[1])
        if first <= last <= HIGHEST_PORT:
            return range(first, last + 1)
    raise InputError(
        "dgsuite.clocked.port must be a port such as 9100, or a range such as '9100:9199', "
        f"got {chosen!r}"
    )


async def connected(address: str, secret: bytes, arguments: dict[str, Any]) -> Comm:
    """A comm to a listener that asks for a secret.

    Raises
    ------
    OSError
        No task listens there.
    """
    scheme, where = parse_address(address)
    connector = get_backend(scheme).get_connector()
    comm: Comm = await asyncio.wait_for(
        connector.connect(where, deserialize=True, **arguments), _patience()
    )
    if isinstance(comm, Framed):
        await comm.write_bytes(secret)
    elif (stream := getattr(comm, "stream", None)) is not None:
        await stream.write(secret)
    else:
        await comm.write(secret)
    _agree(comm)
    return comm


def _patience() -> float:
    """Seconds for both ends to join."""
    seconds: float = parse_timedelta(dask.config.get("distributed.comm.timeouts.connect"))
    return seconds


async def _opening(comm: Comm) -> Any:
    """As many bytes as a secret has, ahead of all messages; the first message of a comm that shows no bytes:
    such are Dask's of other schemes than tcp and tls.
    """
    if isinstance(comm, Framed):
        return await comm.read_bytes(SECRET)
    if (stream := getattr(comm, "stream", None)) is None:
        return await comm.read()
    try:
        return await stream.read_bytes(SECRET)
    except StreamClosedError as error:
        raise CommClosedError(f"{comm.peer_address} has left") from error


def _agree(comm: Comm) -> None:
    """What Dask's handshake would find out: the other end has the same versions and settings."""
    own = comm.handshake_info()
    comm.handshake_options = comm.handshake_configuration(own, own)


def room(comm: Comm) -> int:
    """Bytes of a parcel that can be written to a comm while the other end does nothing."""
    if type(comm) in (TCP, TLS):  # queues
        return DIRECT
    if (holds := getattr(comm, "holds", None)) is None:
        return FITS
    return min(DIRECT, max(0, holds - HEAD))


async def flush(comm: Comm) -> None:
    """Wait until all that was written has left.

    A socket comm only queues; what is still queued would wait while this task computes.
    """
    stream = getattr(comm, "stream", None)
    if stream is not None and stream.writing():
        await stream.write(b"")
