"""Channels: the comms between the tasks of a run, and how messages are read from them.

Messages of a channel arrive in their order. A comm that ends is news like a message: what to make of it is up
to the protocol above (`dgsuite.core.exchange.mesh`, `dgsuite.core.exchange.termination`). A task that knows
which peer will send a message reads it itself, which saves a fifth of an empty round over TCP. One that does
not know listens: all comms are read at all times.
"""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from distributed.comm.core import Comm
from distributed.protocol.serialize import ToPickle

from dgsuite.core.engine.collectives import Contribution
from dgsuite.core.engine.message_type import MessageBatch
from dgsuite.core.exchange.comms import flush
from dgsuite.core.workers.plugin import PeerLost

SHORT = 1 << 16
"""Bytes from which arrays of a parcel are not copied into one piece with the rest of a message."""


class Message(NamedTuple):
    """What one task sends to another in an exchange, or at any time."""

    number: int
    """Of the exchange."""
    said: Contribution | None = None
    parcel: MessageBatch | None = None
    note: Any = None
    """Anything else."""

    def packed(self) -> Any:
        """As it travels: in one piece if its parcel is short."""
        if self.note is None and (self.parcel is None or smaller(self.parcel, SHORT)):
            return pickle.dumps(tuple(self), 5)
        return ToPickle(self)

    @classmethod
    def unpacked(cls, message: Any) -> Message:
        """What `packed` made such a message of."""
        message = getattr(message, "data", message)  # within a process Dask leaves the wrapper on
        return message if type(message) is cls else cls(*pickle.loads(message))


def smaller(parcel: Any, size: int) -> bool:
    """Whether a parcel has fewer bytes."""
    return getattr(parcel, "nbytes", size) < size


class Channels:
    """This task's end of all channels.

    Parameters
    ----------
    comms
        By the rank of a peer: the comm that is written to.
    lost
        Makes the error that names a peer.
    take
        Called with the rank of a peer and a message that came from it.

    Attributes
    ----------
    wire
        Bytes written so far.
    look_out
        Seconds for which `receive` polls before it sleeps, on comms that can.
    gone
        By the rank of a peer: the error with which a comm of it ended.
    """

    def __init__(
        self,
        comms: Mapping[int, Comm],
        lost: Callable[[int], PeerLost],
        take: Callable[[int, Any], None],
    ) -> None:
        self.wire = 0
        self.look_out = 0.0
        self.gone: dict[int, Exception] = {}
        self._comms = comms
        self._lost = lost
        self._take = take
        self._ends: list[tuple[int, Comm]] = []  # two of a peer where both ends opened one
        self._listens = False
        self._news = asyncio.Event()
        self._readers: list[asyncio.Future[None]] = []
        self._written: set[int] = set()

    def add(self, peer: int, comm: Comm) -> None:
        """Take in a comm that has been opened."""
        self._ends.append((peer, comm))
        if self._listens:
            self._readers.append(begun(self._listen(peer, comm)))

    def listen(self) -> None:
        """Read all comms at all times from now on."""
        if not self._listens:
            self._listens = True
            self._readers += [begun(self._listen(peer, comm)) for peer, comm in self._ends]

    async def _listen(self, peer: int, comm: Comm) -> None:
        comm.look_out = 0.0
        try:
            while True:
                self._take(peer, await comm.read())
                self._news.set()
        except Exception as error:
            self.gone[peer] = error
            self._news.set()

    async def receive(self, peer: int) -> None:
        """Wait until a peer sends a message, or its comm ends; while listening, until any does.

        Raises
        ------
        PeerLost
            The comm of the peer has ended before.
        """
        if peer in self.gone:
            raise self.lost(peer)
        if self._listens:
            await self.news()
            return
        comm = self._comms[peer]
        comm.look_out = self.look_out
        try:
            self._take(peer, await comm.read())
        except Exception as error:
            self.gone[peer] = error

    async def news(self) -> None:
        """Wait until a message comes, or a comm ends, after this call; only while listening."""
        self._news.clear()
        await self._news.wait()

    async def write(self, peer: int, message: Any) -> None:
        """Write to a peer; perhaps the message leaves only with `flush`."""
        self._written.add(peer)
        try:
            written = await self._comms[peer].write(message)
        except OSError as error:
            raise self._lost(peer) from error
        self.wire += written

    async def flush(self) -> None:
        """Wait until all that was written has left."""
        for peer in self._written:
            try:
                await flush(self._comms[peer])
            except OSError as error:
                raise self._lost(peer) from error
        self._written.clear()

    def lost(self, peer: int) -> PeerLost:
        """The error of a peer whose comm has ended."""
        lost = self._lost(peer)
        lost.__cause__ = self.gone[peer]
        return lost

    def abort(self) -> None:
        """Drop all comms at once."""
        for reader in self._readers:
            reader.cancel()
        self._readers.clear()  # their errors keep frames, and so all that a run holds
        for _, comm in self._ends:
            comm.abort()


def begun(coroutine: Coroutine[Any, Any, Any]) -> asyncio.Future[Any]:
    """A task whose error is dropped if another one is raised first."""
    task = asyncio.ensure_future(coroutine)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return task


def cancelling() -> Callable[[], object]:
    """What cancels the calling task, from any thread."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def cancel() -> None:
        with suppress(RuntimeError):  # closed: the task has ended meanwhile
            loop.call_soon_threadsafe(task.cancel)

    return cancel
