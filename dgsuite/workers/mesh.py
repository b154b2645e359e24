"""A mesh: the tasks of a clocked run, each joined to each by a comm of its own.

The comms are distributed's (any transport, TLS included), opened on the task's own event loop: a
message goes from socket to task without a change of threads, and the worker's loop stays free.
"""

from __future__ import annotations

import asyncio
import pickle
import secrets
from collections.abc import Awaitable, Coroutine, Mapping, Sequence
from fractions import Fraction
from typing import Any

import dask
from dask.utils import parse_timedelta
from distributed.comm import CommClosedError, get_address_host, listen, parse_address
from distributed.comm.addressing import unparse_host_port
from distributed.comm.core import Comm
from distributed.comm.registry import get_backend
from distributed.comm.tcp import TCP, TLS
from distributed.core import rpc
from distributed.protocol.serialize import ToPickle
from tornado.iostream import StreamClosedError

from dgsuite.engine.batches import MessageBatch
from dgsuite.engine.broadcasts import BroadcastBatch
from dgsuite.workers.plugin import PeerLost, RunPlugin
from kernels.base import Vote
from partition.errors import RunError

WORD = 2**63 - 1
"""The largest number that goes unpickled."""

SHORT = 1 << 16
"""Bytes of a parcel that goes in a piece with the vote, as plain values: copied, not pickled."""

DIRECT = 1 << 20
"""Bytes of a parcel that may be written before anything is read where that locks nobody up; of more, both
ways at once are faster."""

FITS = 1 << 12
"""The same where it might: so much fits into any transport's buffers."""

LOOK_OUT = 500e-6
"""Seconds that a task with a processor of its own looks out for a message, on a comm that can: to be woken
up takes 50 to 100 us, in every exchange."""


SECRET = 32
"""Bytes that a task must send to be let in; only the workers tell them, to each other."""


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

    Attributes
    ----------
    comms
        One to each other task, by rank.
    rooms
        Bytes that can be written to each from both ends though nobody reads.
    wire
        Bytes that the last exchange sent.
    alone
        Whether the task has a processor to itself, and may look out for a message before it sleeps.
    """

    alone = False

    ordered = False
    """Whether tasks compute one after the other, so that each phase needs an exchange."""

    def __init__(self, run: str, places: Sequence[str], epochs: Sequence[str], rank: int) -> None:
        self.run = run
        self.places = places
        self.epochs = epochs
        self.rank = rank
        self.wire = 0
        self.comms: dict[int, Comm] = {}
        self.rooms: dict[int, int] = {}
        self._full = asyncio.Event()
        self._secret = secrets.token_bytes(SECRET)
        self._listener: Any = None

    async def open(
        self, plugin: RunPlugin, key: str, connect_args: dict[str, Any], listen_args: dict[str, Any]
    ) -> None:
        """Listen, tell the worker where, connect to all lower ranks, wait for all higher ones."""
        if len(self.places) == 1:
            address = ""
        else:
            scheme = parse_address(self.places[self.rank])[0]
            host = get_address_host(self.places[self.rank])
            where = (
                f"{scheme}://" if scheme == "inproc" else f"{scheme}://{unparse_host_port(host)}"
            )
            self._listener = listen(
                where, self._welcome, deserialize=True, allow_offload=False, **listen_args
            )
            self._listener.on_connection = self._admit
            await self._listener.start()
            address = self._listener.contact_address
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        meeting = (address, self._secret)
        plugin.enter(key, self.run, meeting, lambda: loop.call_soon_threadsafe(task.cancel))
        for peer in range(self.rank):
            try:
                async with rpc(self.places[peer], connection_args=connect_args) as worker:
                    there, secret = await worker.dgsuite_meet(run=self.run, epoch=self.epochs[peer])
                comm = await _connect(there, secret, connect_args)
                comm.allow_offload = False
                await comm.write({"rank": self.rank})
            except OSError as error:
                raise PeerLost(f"worker {self.places[peer]} cannot be reached: {error}") from error
            self._join(peer, comm)
        if len(self.places) > 1:
            await self._full.wait()

    async def _admit(self, comm: Comm, handshake_overrides: Any = None) -> None:
        """Let in who knows the secret: in place of Dask's handshake, which unpickles what anybody sends."""
        stream = getattr(comm, "stream", None)
        if stream is not None:
            try:
                said = await stream.read_bytes(SECRET)
            except StreamClosedError as error:
                raise CommClosedError(f"{comm.peer_address} has left") from error
            if not secrets.compare_digest(said, self._secret):
                comm.abort()
                raise CommClosedError(f"{comm.peer_address} does not know the secret of the run")
        _agree(comm)

    async def _welcome(self, comm: Comm) -> None:
        """A task of the run has connected."""
        rank = (await comm.read())["rank"]
        if rank in self.comms or not self.rank < rank < len(self.places):
            comm.abort()
            return
        comm.allow_offload = False
        self._join(rank, comm)

    def _join(self, peer: int, comm: Comm) -> None:
        comm.exchange = True  # a throttle may be for exchanges alone
        self.comms[peer] = comm
        self.rooms[peer] = room(comm)
        if len(self.comms) == len(self.places) - 1:
            self._stop_listening()
            self._full.set()

    def _stop_listening(self) -> None:
        listener, self._listener = self._listener, None
        if listener is not None:
            listener.stop()

    async def turn(self) -> None:
        """Wait until this task may compute a phase: here at once."""

    async def exchange(
        self, number: int, parcels: Mapping[int, MessageBatch], vote: Vote
    ) -> tuple[dict[int, MessageBatch], list[Vote]]:
        """Send each peer its parcel and the vote, and wait for theirs: the barrier of a phase.

        Parameters
        ----------
        number
            Of the phase; a peer at another one is an error.
        """
        self.wire = 0
        found: dict[int, MessageBatch] = {}
        votes: list[Vote] = []
        peer = self.rank
        if not self.comms:
            await asyncio.sleep(0)  # lets the run be cancelled
        try:
            messages = {p: _message(number, vote, parcels.get(p)) for p in self.comms}
            reads: dict[int, Awaitable[Any]] = {}
            writes: dict[int, Awaitable[int]] = {}
            if parcels and not (len(self.comms) == 1 and self._fit(parcels)):
                # reading starts first: a transport whose writes wait for the reader must not deadlock
                reads = {p: _begun(c.read()) for p, c in self.comms.items()}
                if len(reads) > 1:  # side by side: on a slow link a write waits until all has left
                    writes = {p: _begun(c.write(messages[p])) for p, c in self.comms.items()}
            for peer, comm in self.comms.items():
                self.wire += await (writes[peer] if writes else comm.write(messages[peer]))
            for peer, comm in self.comms.items():
                if reads:
                    message = await reads[peer]
                else:  # nothing is left to send, and nobody else waits for this loop
                    comm.look_out = LOOK_OUT if self.alone else 0.0
                    message = await comm.read()
                    comm.look_out = 0.0
                theirs, their_vote, parcel = _content(message)
                if theirs != number:
                    raise RunError(f"worker {self.places[peer]} is at phase {theirs}, not {number}")
                votes.append(their_vote)
                if parcel is not None:
                    found[peer] = parcel
            for comm in self.comms.values():
                await flush(comm)
        except OSError as error:
            raise PeerLost(f"worker {self.places[peer]} was lost") from error
        return found, votes

    def _fit(self, parcels: Mapping[int, MessageBatch]) -> bool:
        """Whether parcels can be written before anything is read."""
        return all(_smaller(parcel, self.rooms[p]) for p, parcel in parcels.items())

    async def close(self) -> None:
        """Close all comms."""
        self._stop_listening()
        for comm in self.comms.values():
            await comm.close()

    def abort(self) -> None:
        """Drop all comms at once, so that peers notice."""
        self._stop_listening()
        for comm in self.comms.values():
            comm.abort()


def _begun(coroutine: Coroutine[Any, Any, Any]) -> asyncio.Future[Any]:
    """A task whose error is nobody's concern if another one is raised first."""
    task = asyncio.ensure_future(coroutine)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return task


async def _connect(address: str, secret: bytes, arguments: dict[str, Any]) -> Comm:
    """A comm to a listener that asks for a secret.

    Raises
    ------
    OSError
        Nobody listens there.
    """
    scheme, where = parse_address(address)
    connector = get_backend(scheme).get_connector()
    timeout = parse_timedelta(dask.config.get("distributed.comm.timeouts.connect"))
    comm: Comm = await asyncio.wait_for(
        connector.connect(where, deserialize=True, **arguments), timeout
    )
    if (stream := getattr(comm, "stream", None)) is not None:
        await stream.write(secret)
    _agree(comm)
    return comm


def _agree(comm: Comm) -> None:
    """What Dask's handshake would find out: the other end has the same versions and settings."""
    own = comm.handshake_info()
    comm.handshake_options = comm.handshake_configuration(own, own)


def _smaller(parcel: Any, size: int) -> bool:
    return getattr(parcel, "nbytes", size) < size


def room(comm: Comm) -> int:
    """Bytes that can be written to a comm from both ends though nobody reads."""
    if type(comm) in (TCP, TLS):  # queues
        return DIRECT
    return max(FITS, min(DIRECT, getattr(comm, "takes_in", 0)))


def _message(number: int, vote: Any, parcel: Any) -> Any:
    """What travels: numbers and short parcels as they are, which takes Dask less than to pickle them."""
    plain = type(vote) is Vote and _fits_words(vote)  # a recursion's ticks say more than a vote
    if not plain or (parcel is not None and not _smaller(parcel, SHORT)):
        return ToPickle((number, vote, parcel))
    if parcel is None:
        return (number, *_plain(vote))
    if type(parcel) is BroadcastBatch:
        return (number, *_plain(vote), *parcel.plain())
    return (number, *_plain(vote), pickle.dumps(parcel, 5))


def _fits_words(vote: Vote) -> bool:
    """Whether a vote's numbers go unpickled; most votes have none."""
    if not vote.sum and vote.min is None and vote.max is None:
        return True
    whole = vote._replace(sum=0) if type(vote.sum) is Fraction else vote
    return all(abs(value or 0) <= WORD for value in whole)  # type: ignore[operator]


def _plain(vote: Vote) -> tuple[Any, ...]:
    """A vote as plain values: a fraction, whose denominator is a power of two, as bytes and the power."""
    if type(vote.sum) is not Fraction:
        return vote
    top, bottom = vote.sum.numerator, vote.sum.denominator
    data = top.to_bytes(top.bit_length() // 8 + 1, "little", signed=True)
    return (vote.any, (data, bottom.bit_length() - 1), *vote[2:])


def _content(message: Any) -> tuple[int, Vote, MessageBatch | None]:
    """What arrived; within a process Dask pickles nothing, and the wrapper arrives with its content."""
    if type(message) is not tuple or len(message) == 3:
        content: tuple[int, Vote, MessageBatch | None] = getattr(message, "data", message)
        return content
    number, any_, sum_, least, most, given, *rest = message
    if type(sum_) is not int:
        sum_ = Fraction(int.from_bytes(sum_[0], "little", signed=True), 1 << sum_[1])
    parcel: MessageBatch | None = None
    if rest:
        parcel = pickle.loads(rest[0]) if len(rest) == 1 else BroadcastBatch.of(*rest)
    return number, Vote(any_, sum_, least, most, given), parcel


async def flush(comm: Comm) -> None:
    """Wait until all that was written has left.

    A socket comm only queues; what is still queued would wait while this task computes.
    """
    stream = getattr(comm, "stream", None)
    if stream is not None and stream.writing():
        await stream.write(b"")
