"""A mesh: how the tasks of a clocked run are joined, and exchange messages at the end of a phase.

Tasks have comms of their own, on the event loop of each: a message goes from socket to task without a change
of threads, and the worker's loop stays free. A few tasks are joined each to each at the start. Many are
joined to their partners in a collective alone; a task connects to another one when it first has a parcel for
it.

Votes of a few tasks go from each to each, with the parcels. Those of many go by a collective, whose result
has the number of parcels that each task is to wait for. So tasks that have no parcels for each other exchange
no message. On one host votes go through memory.

A mesh and its event loop may outlive the task: see `dgsuite.core.workers.plugin`. Entry points
``dgsuite.meshes`` have other meshes, by the names that ``dgsuite.clocked.transport`` or a style gives them.
"""

from __future__ import annotations

import asyncio
import pickle
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import cache, cached_property
from importlib.metadata import entry_points
from typing import Any

import dask
import numpy as np
from distributed.comm import get_address_host, parse_address
from distributed.comm.core import Comm
from distributed.core import rpc
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, RunError
from dgsuite.core.engine.collectives import MAX_ALL_TO_ALL, Combine, Contribution, partners, tree
from dgsuite.core.engine.program import COMMON, SILENT, reduce_votes
from dgsuite.core.exchange.channels import Channels, Message, begun, cancelling, smaller
from dgsuite.core.exchange.comms import FITS, SHARED, Listener, connected, room
from dgsuite.core.exchange.gate import LOOK_OUT, Gate, Word
from dgsuite.core.transports import fastest, memory
from dgsuite.core.workers.plugin import PeerLost, RunPlugin
from dgsuite.kernels.bsp import Vote

NO_MEMORY = " through shared memory (dgsuite.clocked.transport 'comm' has workers use the network)"

PLAIN = {vote: bytes([number]) for number, vote in enumerate(COMMON)}
PLAIN_VOTES = {said: vote for vote, said in PLAIN.items()}
"""What common votes are at the gate: one byte, which no pickle is."""

SHARING = 16
"""Workers of a host that share memory, at most: any two have two buffers, of 4 MiB each by default."""


class Mesh:
    """One task's end of the mesh: comms to the other tasks of its run.

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
    notes
        By number: messages of a protocol that uses the channels as well, each with its sender.
    rooms
        Bytes of a parcel that can be written to each while it does nothing, as one that sleeps at the gate.
    processors
        Those that each task may use, by rank.
    configuration
        Of this worker, such as that of transports, when the mesh was made.
    gate
        Where the tasks meet in memory, if they do.
    values
        Memory in which the tasks store values of nodes; empty if one of them cannot get it.
    number
        Of the last exchange; all tasks count them alike.
    alone
        Whether the task has a processor to itself, and may look out for a message before it sleeps.
    """

    alone = False

    ordered = False
    """Whether tasks compute one after the other, so that each phase needs an exchange."""

    can_be_kept = True
    """Whether the tasks of another run can use it."""

    in_rounds = False
    """Whether it has no channels: tasks exchange messages at the end of a phase alone."""

    joins_all = False
    """Whether each task is joined to each, however many there are."""

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
        self.gate: Gate | None = None
        self.values: NDArray[np.uint8] | None = None
        self.number = -1
        # the default loop of Windows does not watch sockets, as comms need it
        self.runner = asyncio.Runner(loop_factory=asyncio.SelectorEventLoop)
        self.channels = Channels(self.comms, self.lost, self._take)
        self.notes: defaultdict[int, list[tuple[int, Any]]] = defaultdict(list)
        self._steps: defaultdict[int, deque[tuple[int, Contribution]]] = defaultdict(deque)
        self._parcels: defaultdict[int, dict[int, Any]] = defaultdict(dict)
        self._few = len(places) <= MAX_ALL_TO_ALL
        everyone = {peer for peer in range(len(places)) if peer != rank}
        self._joins_all = self._few or joins_all or self.joins_all
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

    async def open_gate(self) -> None:
        """Have the tasks meet in memory, if they share memory; all tasks call it."""
        if self.is_shared and Gate.is_there():
            made = await self._memory("gate", Gate.nbytes(len(self.places)))
            self.gate = None if made is None else Gate(made, self.rank, len(self.places))

    async def values_of(self, size: int) -> NDArray[np.uint8] | None:
        """Memory that all tasks have for values of nodes; None if one of them cannot get it.

        All tasks call it.

        Parameters
        ----------
        size
            Bytes, at least.
        """
        if self.values is None or 0 < len(self.values) < size:
            self.values = None  # before there is more
            made = await self._memory("values", size)
            self.values = np.empty(0, np.uint8) if made is None else made
        return self.values[:size] if len(self.values) else None

    async def _memory(self, label: str, size: int) -> NDArray[np.uint8] | None:
        """New memory for all tasks, made by the first; None if one of them cannot get it."""
        offered = nullcontext((None, None)) if self.rank else memory.offered(label, size)
        with offered as (mine, offer):
            where = (await self.told(offer))[0]
            if mine is None and where is not None:
                mine = memory.attach_of(where)
            there = await self.told(mine is not None)
        return mine if all(there.values()) else None

    @property
    def wire(self) -> int:
        """Bytes written so far."""
        return self.channels.wire

    @cached_property
    def scheme(self) -> str:
        """Of the comms between tasks, which all find the same one: the fastest there is between a few workers
        of one host that talk over TCP, else that of the workers.
        """
        own = parse_address(self.places[self.rank])[0]
        if own != "tcp" or not self.shares or len(self.places) > SHARING:
            return own
        hosts = {(parse_address(p)[0], get_address_host(p)) for p in self.places}
        return fastest() if len(hosts) == 1 else own

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

    def lost(self, peer: int, what: str = "was lost") -> PeerLost:
        """The error that names a peer."""
        place = self.places[peer]
        return PeerLost(f"worker {place} {what}", place)

    def abort(self) -> None:
        """Drop all comms at once, so that peers notice, and the memory."""
        self.gate = self.values = None
        self._listener.stop()
        self.channels.abort()

    def dispose(self) -> None:
        """Give up a mesh whose loop does not run."""

        async def drop() -> None:
            self.abort()

        self.runner.run(drop())
        self.runner.close()

    async def resume(self, plugin: RunPlugin, key: str, run: str) -> bool:
        """Whether a mesh that was kept can be used for another run: all others have kept it, too.

        A task that has not kept it has closed its comms.
        """
        self.run = run
        plugin.enter(key, run, None, cancelling())
        try:
            await self.exchange({}, SILENT)
        except PeerLost:
            return False
        return True

    def _take(self, peer: int, message: Any) -> None:
        """Sort what has come."""
        number, said, parcel, note = Message.unpacked(message)
        if said is not None:
            self._steps[peer].append((number, said))
        if parcel is not None:
            self._parcels[number][peer] = parcel
        if note is not None:
            self.notes[number].append((peer, note))

    async def turn(self) -> None:
        """Wait until this task may compute a phase: here at once."""

    async def exchange(
        self, parcels: Mapping[int, Any], vote: Any, combine: Combine = reduce_votes
    ) -> tuple[dict[int, Any], Any]:
        """Send each peer its parcel and the vote, and wait for theirs: the barrier of a phase.

        Parameters
        ----------
        combine
            Makes one vote of several.

        Returns
        -------
        The parcels that came, by rank, and the votes of all tasks combined.
        """
        self.number += 1
        if self.gate is None:
            return await self._exchange(parcels, vote, combine)
        early = not parcels or self._fit(parcels)
        if parcels and early:
            await self._send(parcels)
        said = PLAIN.get(vote) if type(vote) is Vote else pickle.dumps([vote], 5)
        if said is None:
            said = pickle.dumps(tuple(vote), 5)  # in a third of the time that a named tuple takes
        word = Word(self.number, sum(1 << peer for peer in parcels), said)
        words = await self.gate.meet(word, self.alone, self._check_comms)
        for peer, heard in enumerate(words):
            self._check_number(peer, heard.number)
        sources = [peer for peer, word in enumerate(words) if word.due >> self.rank & 1]
        found: dict[int, Any] = {}
        if not early:
            reading = begun(self._received(sources))
            await self._send(parcels)
            found = await reading
        elif sources:
            found = await self._received(sources)
        votes = [word.said for word in words if word.said is not None]
        if len(votes) < len(words):
            return found, (await self._exchange({}, vote, combine))[1]
        return found, combine([PLAIN_VOTES.get(each) or _vote(each) for each in votes])

    async def told(self, mine: Any) -> Mapping[int, Any]:
        """What each task tells all others, by rank; all tasks call it."""
        whole: Mapping[int, Any] = (await self.exchange({}, {self.rank: mine}, _union))[1]
        return whole

    async def _exchange(
        self, parcels: Mapping[int, Any], vote: Any, combine: Combine
    ) -> tuple[dict[int, Any], Any]:
        """The same by messages alone."""
        if not self.comms:
            await asyncio.sleep(0)  # lets the run be cancelled
        if self._few:
            return await self._swap(parcels, vote, combine)
        if parcels:
            await self._send(parcels)
        mine = Contribution.of(vote, parcels, len(self.places))
        whole = await self._agree(mine, Contribution.combining(combine))
        return await self._arrived(whole.expected(self.rank)), whole.vote

    async def _swap(
        self, parcels: Mapping[int, Any], vote: Any, combine: Combine
    ) -> tuple[dict[int, Any], Any]:
        """Each of a few tasks sends each its vote, and with it the parcel."""
        self.channels.look_out = LOOK_OUT if self.alone else 0.0
        reads: dict[int, asyncio.Future[Contribution]] = {}
        if not self._fit(parcels):  # transports may write only while both ends read
            reads = {peer: begun(self._heard(peer)) for peer in self.comms}
        mine = Contribution(vote)
        await self._write({p: Message(self.number, mine, parcels.get(p)) for p in self.comms})
        votes = {self.rank: vote}
        for peer in self.comms:
            votes[peer] = (await (reads[peer] if reads else self._heard(peer))).vote
        await self.channels.flush()
        return self._parcels.pop(self.number, {}), combine([votes[r] for r in range(len(votes))])

    async def _send(self, parcels: Mapping[int, Any]) -> None:
        """Send parcels, to tasks that are joined first if need be."""
        if strangers := parcels.keys() - self.comms.keys():
            there = ((peer, *self._meetings[peer]) for peer in sorted(strangers))
            await asyncio.gather(*(self._connect(*each) for each in there))
        await self._write({p: Message(self.number, parcel=each) for p, each in parcels.items()})

    async def _agree(self, mine: Contribution, combine: Combine) -> Contribution:
        """The contributions of all tasks together, by a collective."""
        collective = tree(self.rank, len(self.places), mine, combine)
        heard: Any = None
        try:
            while True:
                sends, hears = collective.send(heard)
                for peer, said in sends.items():
                    await self.channels.write(peer, Message(self.number, said).packed())
                heard = [await self._heard(peer) for peer in hears]
        except StopIteration as end:
            whole: Contribution = end.value
            return whole

    async def _write(self, out: Mapping[int, Message]) -> None:
        """Write messages."""
        write = self.channels.write
        if len(out) == 1 or all(m.parcel is None or smaller(m.parcel, FITS) for m in out.values()):
            for peer, message in out.items():
                await write(peer, message.packed())
        else:  # side by side: on a slow link a write waits until all has left
            await asyncio.gather(*(write(peer, m.packed()) for peer, m in out.items()))

    async def _heard(self, peer: int) -> Contribution:
        """The next contribution of a partner."""
        came = self._steps[peer]
        while not came:
            await self.channels.receive(peer)
        theirs, said = came.popleft()
        self._check_number(peer, theirs)
        return said

    def _check_number(self, peer: int, number: int) -> None:
        """Raise an error if a peer is at another exchange."""
        if number != self.number:
            place = self.places[peer]
            raise RunError(f"worker {place} is at exchange {number}, not {self.number}")

    def _check_comms(self) -> None:
        """Raise an error if a peer is lost before it came to the gate."""
        for peer, comm in self.comms.items():
            if comm.closed() and self.gate is not None and not self.gate.is_open():
                raise self.lost(peer)

    async def _received(self, sources: Sequence[int]) -> dict[int, Any]:
        """The parcels of some tasks."""
        found = self._parcels[self.number]
        for peer in sources:
            while peer not in found:
                await self.channels.receive(peer)
        return await self._arrived(len(sources))

    async def _arrived(self, count: int) -> dict[int, Any]:
        """So many parcels; then all that this task has written has left, too."""
        found = self._parcels[self.number]
        while len(found) < count:
            for peer in self.channels.gone:
                raise self.channels.lost(peer)
            await self.channels.news()
        del self._parcels[self.number]
        await self.channels.flush()
        return found

    def _fit(self, parcels: Mapping[int, Any]) -> bool:
        """Whether parcels can be written while their receivers do nothing."""
        return all(
            peer in self.comms and smaller(parcel, self.rooms[peer])
            for peer, parcel in parcels.items()
        )

    async def close(self) -> None:
        """Close all comms, when all tasks have what they wait for: a comm that ends before is a lost task."""
        await self.exchange({}, SILENT)
        self.abort()


def _vote(said: bytes) -> Any:
    """A vote, or what a task tells, of the bytes that it said."""
    found = pickle.loads(said)
    return Vote(*found) if type(found) is tuple else found[0]


def _union(told: Sequence[Mapping[int, Any]]) -> dict[int, Any]:
    return {rank: what for each in told for rank, what in each.items()}


@cache
def mesh_kind(name: str) -> type[Mesh]:
    """The class of meshes with a name: `Mesh`, or an entry point of ``dgsuite.meshes``.

    Raises
    ------
    InputError
        There is none of the name.
    """
    if name in ("fastest", "comm"):
        return Mesh
    others = entry_points(group="dgsuite.meshes")
    if name not in others.names:
        names = ", ".join(["fastest", "comm", *sorted(others.names)])
        raise InputError(f"dgsuite.clocked.transport must be one of {names}, got {name!r}")
    kind: type[Mesh] = others[name].load()
    return kind


def configuration() -> str:
    """This worker's settings of dgsuite, as far as Dask's configuration goes."""
    return repr(dask.config.get("dgsuite", None))
