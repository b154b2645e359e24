"""Channels: the comms between the tasks of a run, read at all times.

Messages of a channel arrive in their order. A comm that ends is news like a message: what to make of it is up
to the protocol above (`dgsuite.core.exchange.lazy`, `dgsuite.core.exchange.termination`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from distributed.comm.core import Comm

from dgsuite.core.exchange.comms import flush
from dgsuite.core.workers.plugin import PeerLost


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
    gone
        By the rank of a peer: the error with which a comm of it ended.
    """

    def __init__(
        self,
        comms: Mapping[int, Comm],
        lost: Callable[[int], PeerLost],
        take: Callable[[int, Any], None],
    ) -> None:
        self.gone: dict[int, Exception] = {}
        self._comms = comms
        self._lost = lost
        self._take = take
        self._news = asyncio.Event()
        self._readers: list[asyncio.Future[None]] = []
        self._written: set[int] = set()

    def read(self, peer: int, comm: Comm) -> None:
        """Read a comm from now on, until it ends."""
        self._readers.append(begun(self._read(peer, comm)))

    async def _read(self, peer: int, comm: Comm) -> None:
        try:
            while True:
                self._take(peer, await comm.read())
                self._news.set()
        except Exception as error:
            self.gone[peer] = error
            self._news.set()

    async def news(self) -> None:
        """Wait until a message comes, or a comm ends, after this call."""
        self._news.clear()
        await self._news.wait()

    async def write(self, peer: int, message: Any) -> int:
        """Write to a peer, and return how many bytes; perhaps they leave only with `flush`."""
        self._written.add(peer)
        try:
            written: int = await self._comms[peer].write(message)
        except OSError as error:
            raise self._lost(peer) from error
        return written

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

    def close(self) -> None:
        """Stop reading."""
        for reader in self._readers:
            reader.cancel()


def begun(coroutine: Coroutine[Any, Any, Any]) -> asyncio.Future[Any]:
    """A task whose error is dropped if another one is raised first."""
    task = asyncio.ensure_future(coroutine)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return task
