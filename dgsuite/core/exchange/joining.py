"""How the tasks of a run are joined: by comms of their own, on the event loop of each task.

A message goes from socket to task without a change of threads, and the worker's loop stays free. A few tasks
are joined each to each at the start. Many are joined to their partners in a collective alone; a task connects
to another one when it first has a parcel for it.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import dask
from distributed.comm import get_address_host, parse_address
from distributed.comm.core import Comm
from distributed.core import rpc

from dgsuite.core.engine.collectives import FEW, partners
from dgsuite.core.engine.message_type import MessageBatch
from dgsuite.core.engine.program import reduce_votes
from dgsuite.core.exchange.channels import Channels
from dgsuite.core.exchange.comms import SHARED, Listener, can_share, connected, room
from dgsuite.core.exchange.numbers import TELLING
from dgsuite.core.transports import memory
from dgsuite.core.workers.plugin import PeerLost, RunPlugin

NO_MEMORY = " through shared memory (dgsuite.clocked.transport 'comm' has workers use the network)"

SHARING = 16
"""Workers of a host that share memory, at most: any two have two buffers, of 4 MiB each by default."""


class Joined(ABC):
    """A task that is joined to the other tasks of its run.

    Parameters
    ----------
    run
        Run id; comms of other runs are refused.
    places
        Worker addresses of all tasks.
    epochs
        Which process each of the workers is.
    rank
        Which of them is this one.
    shares
        Whether workers of one host share memory, instead of sending through Dask's TCP.
    joins_all
        Whether to join each task to each at the start, however many there are.

    Attributes
    ----------
    comms
        One to each other task that this one has joined, by rank.
    channels
        Reads and writes them.
    rooms
        Bytes of a parcel that can be written to each while it does nothing, as one that sleeps at the gate.
    processors
        Those that each task may use, by rank.
    configuration
        Of this worker, such as that of transports, when the mesh was made.
    alone
        Whether the task has a processor to itself, and may look out for a message before it sleeps.
    """

    alone = False

    def __init__(
        self,
        run: str,
        places: Sequence[str],
        epochs: Sequence[str],
        rank: int,
        shares: bool = False,
        joins_all: bool = False,
    ) -> None:
        self.run = run
        self.shares = shares
        self.places = places
        self.epochs = epochs
        self.rank = rank
        self.comms: dict[int, Comm] = {}
        self.rooms: dict[int, int] = {}
        self.processors: Mapping[int, frozenset[int]] = {}
        self.configuration = configuration()
        # the default loop of Windows does not watch sockets, as comms need it
        self.runner = asyncio.Runner(loop_factory=asyncio.SelectorEventLoop)
        self.channels = Channels(self.comms, self.lost, self._take)
        self._few = len(places) <= FEW
        everyone = {peer for peer in range(len(places)) if peer != rank}
        self._joins_all = self._few or joins_all
        self._partners = everyone if self._joins_all else partners(rank, len(places))
        if not self._few:  # which task sends a parcel is not known
            self.channels.listen()
        self._meetings: Mapping[int, tuple[str, bytes]] = {}
        self._full = asyncio.Event()
        self._listener = Listener(self._welcome)

    async def open(
        self, plugin: RunPlugin, key: str, connect_args: dict[str, Any], listen_args: dict[str, Any]
    ) -> None:
        """Listen, tell the worker where, connect to all lower ranks, wait for all higher ones."""
        self._connect_args = connect_args
        if self._partners:
            await self._listener.start(self.scheme, self.places[self.rank], listen_args)
        plugin.enter(key, self.run, self._listener.where, cancelling())
        for peer in sorted(peer for peer in self._partners if peer < self.rank):
            await self._connect(peer, *await self._meet(peer, connect_args))
        if self._partners:
            await self._full.wait()
        if self._joins_all:
            self._listener.stop()
        else:
            self._meetings = await self.told(self._listener.where)

    async def _meet(self, peer: int, connect_args: dict[str, Any]) -> Any:
        """Where a peer listens, once its worker knows."""
        where, asked = None, {"run": self.run, "epoch": self.epochs[peer]}
        try:
            async with rpc(self.places[peer], connection_args=connect_args) as worker:
                while where is None:
                    where = await worker.dgsuite_meet(**asked)
        except OSError as error:
            raise self.lost(peer, f"cannot be reached: {error}") from error
        return where

    @property
    def wire(self) -> int:
        """Bytes written so far."""
        return self.channels.wire

    @property
    def scheme(self) -> str:
        """Of the comms between tasks; all tasks find the same one."""
        return SHARED if self._is_local and can_share() else self._own_scheme

    @property
    def _own_scheme(self) -> str:
        """Of the comms between workers."""
        return parse_address(self.places[self.rank])[0]

    @property
    def _is_local(self) -> bool:
        """Whether the tasks may share memory though their workers talk over TCP: a few on one host."""
        if self._own_scheme != "tcp" or not self.shares or len(self.places) > SHARING:
            return False
        return len({(parse_address(p)[0], get_address_host(p)) for p in self.places}) == 1

    @property
    def is_shared(self) -> bool:
        """Whether the tasks share memory, whatever their comms are."""
        local = self._own_scheme == SHARED or (self._is_local and memory.is_there())
        return self.shares and bool(self._partners) and local

    async def _connect(self, peer: int, address: str, secret: bytes) -> None:
        """Join a peer that listens."""
        try:
            comm = await connected(address, secret, self._connect_args)
            comm.allow_offload = False
            await comm.write({"rank": self.rank})
        except OSError as error:
            how = "" if self.scheme != SHARED else NO_MEMORY
            raise self.lost(peer, f"cannot be reached{how}: {error}") from error
        self._join(peer, comm)

    async def _welcome(self, comm: Comm) -> None:
        """A task of the run has connected."""
        rank = (await comm.read())["rank"]
        if not 0 <= rank < len(self.places) or rank == self.rank:
            comm.abort()
            return
        comm.allow_offload = False
        self._join(rank, comm)

    def _join(self, peer: int, comm: Comm) -> None:
        """Take in a comm; send to the peer over it, unless there is one already."""
        comm.exchange = True  # a throttle may be for exchanges alone
        self.comms.setdefault(peer, comm)  # whose messages stay in order
        self.rooms.setdefault(peer, room(comm))
        self.channels.add(peer, comm)
        if self._partners <= self.comms.keys():
            self._full.set()

    @abstractmethod
    def _take(self, peer: int, message: Any) -> None:
        """Sort what has come from a peer."""

    @abstractmethod
    async def exchange(
        self,
        number: int,
        parcels: Mapping[int, MessageBatch],
        vote: Any,
        combine: Callable[[Sequence[Any]], Any] = reduce_votes,
    ) -> tuple[dict[int, MessageBatch], Any]:
        """Send each peer its parcel and the vote, and wait for theirs: the barrier of a phase.

        Parameters
        ----------
        number
            Of the phase; a peer at another one is an error.
        combine
            Makes one vote of several.

        Returns
        -------
        The parcels that came, by rank, and the votes of all tasks combined.
        """

    async def told(self, mine: Any) -> Mapping[int, Any]:
        """What each task tells all others, by rank; all tasks call it."""
        whole: Mapping[int, Any] = (await self.exchange(TELLING, {}, {self.rank: mine}, _union))[1]
        return whole

    def lost(self, peer: int, what: str = "was lost") -> PeerLost:
        """The error that names a peer."""
        place = self.places[peer]
        return PeerLost(f"worker {place} {what}", place)

    def abort(self) -> None:
        """Drop all comms at once, so that peers notice."""
        self._listener.stop()
        self.channels.abort()

    def dispose(self) -> None:
        """Give up a mesh whose loop does not run."""

        async def drop() -> None:
            self.abort()

        self.runner.run(drop())
        self.runner.close()


def _union(told: Sequence[Mapping[int, Any]]) -> dict[int, Any]:
    return {rank: what for each in told for rank, what in each.items()}


def configuration() -> str:
    """This worker's settings of dgsuite, as far as Dask's configuration goes."""
    return repr(dask.config.get("dgsuite", None))


def cancelling() -> Callable[[], object]:
    """What cancels the calling task, from any thread."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def cancel() -> None:
        with suppress(RuntimeError):  # closed: the task has ended meanwhile
            loop.call_soon_threadsafe(task.cancel)

    return cancel
