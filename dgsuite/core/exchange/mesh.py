"""A mesh: the tasks of a clocked run, each joined to each by a comm of its own.

The comms are opened on the task's own event loop: a message goes from socket to task without a change of
threads, and the worker's loop stays free. A mesh and its loop may outlive the task: see
`dgsuite.core.workers.kept`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from distributed.comm import get_address_host, parse_address
from distributed.comm.core import Comm
from distributed.core import rpc

from dgsuite.base.errors import RunError
from dgsuite.core.engine.message_type import MessageBatch
from dgsuite.core.engine.program import SILENT, reduce_votes
from dgsuite.core.exchange.channels import begun
from dgsuite.core.exchange.comms import SHARED, Listener, can_share, connected, flush, room
from dgsuite.core.exchange.messages import joint, of_joint, of_said, smaller
from dgsuite.core.exchange.numbers import CHECK, CLOSING, TELLING
from dgsuite.core.exchange.one_host import LOOK_OUT, OneHost
from dgsuite.core.workers.plugin import PeerLost, RunPlugin
from dgsuite.kernels.bsp import Vote

NO_MEMORY = " through shared memory (dgsuite.clocked.transport 'comm' has workers use the network)"

SHARING = 16
"""Workers of a host that share memory, at most: any two have two buffers, of 4 MiB each by default."""


class Mesh:
    """This task's end of the mesh.

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

    Attributes
    ----------
    comms
        One to each other task, by rank.
    rooms
        Bytes of a parcel that can be written to each while it does nothing, as one that sleeps at the gate.
    wire
        Bytes written so far.
    processors
        Those that each task may use, by rank.
    alone
        Whether the task has a processor to itself, and may look out for a message before it sleeps.
    one_host
        What the tasks share, if all are on one host.
    """

    alone = False

    ordered = False
    """Whether tasks compute one after the other, so that each phase needs an exchange."""

    def __init__(
        self,
        run: str,
        places: Sequence[str],
        epochs: Sequence[str],
        rank: int,
        shares: bool = False,
    ) -> None:
        self.run = run
        self.shares = shares
        self.places = places
        self.epochs = epochs
        self.rank = rank
        self.wire = 0
        self.comms: dict[int, Comm] = {}
        self.rooms: dict[int, int] = {}
        self.processors: Mapping[int, frozenset[int]] = {}
        self.one_host = OneHost()
        self.runner = asyncio.Runner()
        self._partners = {peer for peer in range(len(places)) if peer != rank}
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

    async def resume(self, plugin: RunPlugin, key: str, run: str) -> bool:
        """Whether a mesh that was kept can be used for another run: all others have kept it, too.

        A task that has not kept it has closed its comms, or requests an address from this worker.
        """
        self.run = run
        task = asyncio.current_task()
        check = begun(self.exchange(CHECK, {}, Vote()))
        loop = asyncio.get_running_loop()

        def asked() -> None:
            with suppress(RuntimeError):  # closed: the task will soon tell a new address
                loop.call_soon_threadsafe(check.cancel)

        plugin.enter(key, run, None, cancelling(), asked)
        try:
            await check
        except PeerLost:
            return False
        except asyncio.CancelledError:
            if task is not None and task.cancelling():
                raise
            return False
        return True

    @property
    def scheme(self) -> str:
        """Of the comms between tasks; all tasks find the same one."""
        scheme = parse_address(self.places[self.rank])[0]
        if scheme != "tcp" or not self.shares or len(self.places) > SHARING:
            return scheme
        ends = {(parse_address(place)[0], get_address_host(place)) for place in self.places}
        return SHARED if len(ends) == 1 and can_share() else scheme

    @property
    def is_shared(self) -> bool:
        """Whether the tasks share memory."""
        return self.shares and bool(self._partners) and self.scheme == SHARED

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
        if not self._expects(rank):
            comm.abort()
            return
        comm.allow_offload = False
        self._join(rank, comm)

    def _expects(self, rank: int) -> bool:
        """Whether a task may connect."""
        return rank not in self.comms and self.rank < rank < len(self.places)

    def _join(self, peer: int, comm: Comm) -> None:
        self._add(peer, comm)
        if len(self.comms) == len(self.places) - 1:
            self._listener.stop()
            self._full.set()

    def _add(self, peer: int, comm: Comm) -> None:
        """Send to a peer over a comm from now on, unless there is one."""
        comm.exchange = True  # a throttle may be for exchanges alone
        self.comms.setdefault(peer, comm)  # whose messages stay in order
        self.rooms.setdefault(peer, room(comm))

    async def turn(self) -> None:
        """Wait until this task may compute a phase: here at once."""

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
        gate = self.one_host.gate
        if gate is None or combine is not reduce_votes or number in (CHECK, CLOSING):
            return await self._exchange(number, parcels, vote, combine)
        early = self._fit(parcels)
        if early:
            await self._send(number, parcels)
        words = await self.one_host.meet(self, gate, number, parcels, vote)
        sources = [peer for peer, word in enumerate(words) if word.due >> self.rank & 1]
        found: dict[int, MessageBatch] = {}
        if sources or not early:
            found = await self._fetch(number, {} if early else parcels, sources)
        votes = [of_said(word.said) for word in words if word.said is not None]
        if len(votes) == len(words):
            return found, reduce_votes(votes)
        return found, (await self._exchange(number, {}, vote, combine))[1]

    async def told(self, mine: Any) -> Mapping[int, Any]:
        """What each task tells all others, by rank; all tasks call it."""
        whole: Mapping[int, Any] = (await self.exchange(TELLING, {}, {self.rank: mine}, _union))[1]
        return whole

    async def _send(self, number: int, parcels: Mapping[int, MessageBatch]) -> None:
        """Send parcels."""
        for peer, parcel in parcels.items():
            try:
                written = await self.comms[peer].write(joint(number, SILENT, parcel))
            except OSError as error:
                raise self.lost(peer) from error
            self.wire += written

    async def _fetch(
        self, number: int, parcels: Mapping[int, MessageBatch], sources: Sequence[int]
    ) -> dict[int, MessageBatch]:
        """Send parcels, and receive one from each of some peers."""
        found: dict[int, MessageBatch] = {}
        reads = {peer: begun(self.comms[peer].read()) for peer in sources}
        writes = [begun(self._send(number, {peer: each})) for peer, each in parcels.items()]
        for write in writes:
            await write
        for peer, read in reads.items():
            try:
                _, _, parcel = of_joint(await read)
            except OSError as error:
                raise self.lost(peer) from error
            assert parcel is not None
            found[peer] = parcel
        return found

    async def _exchange(
        self,
        number: int,
        parcels: Mapping[int, MessageBatch],
        vote: Any,
        combine: Callable[[Sequence[Any]], Any],
    ) -> tuple[dict[int, MessageBatch], Any]:
        """The same by messages alone."""
        found: dict[int, MessageBatch] = {}
        votes: dict[int, Any] = {self.rank: vote}
        peer = self.rank
        if not self.comms:
            await asyncio.sleep(0)  # lets the run be cancelled
        try:
            messages = {p: joint(number, vote, parcels.get(p)) for p in self.comms}
            reads: dict[int, Awaitable[Any]] = {}
            writes: dict[int, Awaitable[int]] = {}
            if parcels and not (len(self.comms) == 1 and self._fit(parcels)):
                # reading starts first: a transport whose writes wait for the reader must not deadlock
                reads = {p: begun(c.read()) for p, c in self.comms.items()}
                if len(reads) > 1:  # side by side: on a slow link a write waits until all has left
                    writes = {p: begun(c.write(messages[p])) for p, c in self.comms.items()}
            for peer, comm in self.comms.items():
                self.wire += await (writes[peer] if writes else comm.write(messages[peer]))
            for peer, comm in self.comms.items():
                if reads:
                    message = await reads[peer]
                else:  # nothing is left to send, and no other task uses this loop
                    comm.look_out = LOOK_OUT if self.alone else 0.0
                    message = await comm.read()
                    comm.look_out = 0.0
                theirs, votes[peer], parcel = of_joint(message)
                if theirs != number:
                    raise RunError(f"worker {self.places[peer]} is at phase {theirs}, not {number}")
                if parcel is not None:
                    found[peer] = parcel
            for comm in self.comms.values():
                await flush(comm)
        except OSError as error:
            raise self.lost(peer) from error
        return found, combine([votes[rank] for rank in range(len(self.places))])

    def lost(self, peer: int, what: str = "was lost") -> PeerLost:
        """The error that names a peer."""
        place = self.places[peer]
        return PeerLost(f"worker {place} {what}", place)

    def _fit(self, parcels: Mapping[int, MessageBatch]) -> bool:
        """Whether parcels can be written while their receivers do nothing."""
        return all(
            peer in self.comms and smaller(parcel, self.rooms[peer])
            for peer, parcel in parcels.items()
        )

    async def close(self) -> None:
        """Close all comms."""
        self.one_host = OneHost()
        self._listener.stop()
        for comm in self.comms.values():
            await comm.close()

    def abort(self) -> None:
        """Drop all comms at once, so that peers notice, and the memory."""
        self.one_host = OneHost()
        self._listener.stop()
        for comm in self.comms.values():
            comm.abort()

    def dispose(self) -> None:
        """Give up a mesh whose loop does not run."""

        async def drop() -> None:
            self.abort()

        self.runner.run(drop())
        self.runner.close()


def _union(told: Sequence[Mapping[int, Any]]) -> dict[int, Any]:
    return {rank: what for each in told for rank, what in each.items()}


def cancelling() -> Callable[[], object]:
    """What cancels the calling task, from any thread."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def cancel() -> None:
        with suppress(RuntimeError):  # closed: the task has ended meanwhile
            loop.call_soon_threadsafe(task.cancel)

    return cancel
