"""What things cost, measured on this machine: units of work, messages on a transport, and the set-up of a
Fock build.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from distributed import Client
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.kernels.bsp import Kernel, Model, Program, Round, State, ship
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.client.workers import worker_addresses
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.report.statistics import interval
from dgsuite.studies.transports.carriers import chosen
from dgsuite.studies.transports.chip import Buffer

LARGE, PIECES = 1 << 20, 64
"""Bytes of the message that bandwidth is measured with, or pieces of it where each has to be waited for."""


TURNS = 3
"""Turns of each transport, of which the least counts."""


class Pieces(NamedTuple):
    """What a transport sends at a time: a `chunk`, of a `buffer` or of any size; see `Transport`."""

    chunk: int
    buffer: int = 0

    @classmethod
    def of(cls, scheme: str, settings: Buffer) -> Pieces:
        """Of "mpb", what flags leave of a buffer; of "mpimpb" a section."""
        if scheme == "mpb":
            return cls(settings.payload(), settings.buffer)
        return cls(settings.section())


@dataclass(frozen=True)
class Transport:
    """What messages cost between two workers, in seconds.

    Attributes
    ----------
    name
        Of the transport, such as "tcp".
    message
        To send one message and take in one, both ways at once: an empty clocked round of two places.
    byte
        A byte more in such a message.
    task
        A task that does nothing, one of many: what Dask's scheduler takes for each.
    chunk
        Bytes that a buffer holds, where a longer message waits for each piece to be read; 0 where pieces
        need not wait.
    buffer
        Bytes of a core's buffer, where flags of all places leave the rest of it to a message; else 0.
    message_half, byte_half
        Half of the 95 % intervals of `message` and `byte`; 0 where they were not measured repeatedly.
    """

    name: str
    message: float
    byte: float
    task: float = 0.0
    chunk: int = 0
    buffer: int = 0
    message_half: float = 0.0
    byte_half: float = 0.0

    def at(self, end: int) -> Transport:
        """The same with costs at one end of their intervals: -1 or 1."""
        message = max(self.message + end * self.message_half, 0.0)
        byte = max(self.byte + end * self.byte_half, 0.0)
        return replace(self, message=message, byte=byte)

    @property
    def counter(self) -> float:
        """A fetch from a counter at another place."""
        return 2 * self.message

    def among(self, places: int) -> Transport:
        """The same where so many cores take part: a buffer holds what their flags leave of it.

        A piece takes as long whatever it holds. More cores than the buffer has flags for change nothing.
        """
        room = Buffer(self.buffer, places).room
        return self if room <= 0 else replace(self, chunk=room, byte=self.byte * self.chunk / room)

    def seconds(self, nbytes: Any, sender: Any, receiver: Any) -> Any:
        """Seconds of a message between two places; of arrays of any of these, that of each.

        What was measured between two processes of a machine is the same for any two places.
        """
        more = nbytes // self.chunk * self.chunk if self.chunk else nbytes
        return self.message + self.byte * more

    def why_not(self, places: int, held: float) -> str:
        """Why so many places that hold so many bytes each cannot be simulated; "" if they can."""
        return ""


@dataclass(frozen=True)
class Ledger:
    """What a program costs on one place.

    Attributes
    ----------
    units
        Seconds of each unit of work, shape (units,), in the order in which blocks are dealt.
    setup
        Seconds that every place spends before its first unit.
    payload
        Bytes of the result that places add up at the end.
    """

    units: NDArray[np.float64]
    setup: float
    payload: int


@dataclass(frozen=True)
class Echo(Kernel):
    """Each of two clusters sends the other some numbers, round after round."""

    rounds: int = 100
    size: int = 0

    name = "echo"
    obeys = Model("clusters")
    outputs = {}
    fields = {"value": np.float64}
    undirected = False

    def program(self, net: Any) -> Program:
        for _ in range(self.rounds):
            yield Round(self.send)

    def start(self, cluster: Any) -> State:
        return State(data=np.zeros(self.size))

    def send(self, cluster: Any, state: State, inbox: Any) -> Any:
        if self.size:
            other = np.full(self.size, 1 - cluster.index, np.int32)
            return ship(other, value=state.data)
        return None


def transports(
    clients: Mapping[str, Client], repeats: int = 3, pieces: Mapping[str, Pieces] | None = None
) -> list[Transport]:
    """Measure the transports of Dask clusters with two workers or more, in turns.

    Parameters
    ----------
    clients
        By name of the transport, such as "mpb" or "mpi".
    pieces
        By name of a transport, where a longer message waits for each piece.
    repeats
        Lots of `TURNS`; the least of a lot counts, and of the lots the mean.

    Raises
    ------
    InputError
        There are not two workers.
    """
    held = {name: (pieces or {}).get(name, Pieces(0)) for name in clients}
    sizes = {name: min(LARGE, PIECES * each.chunk or LARGE) for name, each in held.items()}
    for name, client in clients.items():
        if len(worker_addresses(client)) < 2:
            raise InputError(f"{name} is measured between two workers; the cluster has fewer")
        with chosen(name):
            _rounds(client, 20, 0)
            _rounds(client, 2, sizes[name] // 8)
        _tasks(client, 100)
    # short, so that some fall between what others do on the machine
    rounds = {name: np.empty((repeats, TURNS, 2)) for name in clients}
    tasks = dict.fromkeys(clients, np.inf)
    for lot in range(repeats):
        for turn in range(TURNS):
            for name, client in clients.items():
                with chosen(name):
                    empty, full = _rounds(client, 40, 0), _rounds(client, 4, sizes[name] // 8)
                rounds[name][lot, turn] = empty, full
        tasks = {name: min(least, _tasks(clients[name], 50)) for name, least in tasks.items()}
    return [_measured(n, rounds[n].min(1), tasks[n], sizes[n], held[n]) for n in clients]


def _measured(name: str, lots: NDArray, task: float, size: int, pieces: Pieces) -> Transport:
    """A transport by the seconds of an empty round and of a full one in each lot."""
    empty, full = lots.T
    byte = np.maximum(full - empty, 0.0) / size
    message, each = interval(empty), interval(byte)
    halves = np.nan_to_num([message.half, each.half]).tolist()
    return Transport(name, message.mean, each.mean, task, *pieces, *halves)


def _rounds(client: Client, count: int, size: int) -> float:
    """Seconds of a round in which each of two places sends the other some numbers."""
    from dgsuite.core.running.runner import run

    pair = Graph.from_edges([0], [1], n=2, clusters=2)
    found = run(Echo(rounds=count, size=size), pair, style="clocked", client=client)
    return float(found.attrs["seconds"]) / count


def _tasks(client: Client, count: int) -> float:
    """Seconds of one of some tasks that do nothing."""
    begin = perf_counter()
    Watch(client, "timing tasks").gather(client.map(_nothing, range(count), pure=False))
    return (perf_counter() - begin) / count


def _nothing[T](value: T) -> T:
    return value


def units(
    work: Callable[[int], object], count: int, repeats: int = 3, clock: Callable = perf_counter
) -> NDArray[np.float64]:
    """Seconds of each unit of work, the least of some passes over all of them.

    Parameters
    ----------
    work
        Does the unit of a number from 0 to ``count - 1``.
    clock
        Such as `time.thread_time` where others share the processor.

    Returns
    -------
    float64, shape (count,).
    """
    work(0)
    best = np.full(count, np.inf)
    for _ in range(repeats):
        ticks = np.empty(count + 1)
        ticks[0] = clock()
        for unit in range(count):
            work(unit)
            ticks[unit + 1] = clock()
        np.minimum(best, np.diff(ticks), out=best)
    return best


def block(count: int, places: int) -> NDArray[np.int64]:
    """The place of each unit by the original's rule: equal blocks, the last with the remainder."""
    return np.minimum(np.arange(count) // max(count // places, 1), places - 1)


def cyclic(order: Sequence[int] | NDArray, places: int) -> NDArray[np.int64]:
    """The place of each unit when units are dealt one by one in some order."""
    owner = np.empty(len(order), np.int64)
    owner[np.asarray(order)] = np.arange(len(order)) % places
    return owner


def setup(client: Client, density: NDArray, places: Sequence[str]) -> float:
    """Least seconds of a build without units: density there, and a matrix back."""
    watch = Watch(client, "timing a build", places)

    def build() -> float:
        begin = perf_counter()
        watch.gather([client.submit(_nothing, density, workers=[places[0]], pure=False)])
        return perf_counter() - begin

    return min(build() for _ in range(20))
