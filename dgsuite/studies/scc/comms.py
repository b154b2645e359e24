"""What Dask's comms cost between two workers: a message, a byte, a fetch from a counter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from distributed import Client

    from dgsuite.studies.scc.ledger import Transport

OPERATIONS = 300
"""Operations that are timed."""


def _ask(run: str, place: str, epoch: str, large: int) -> tuple[float, float, float]:
    """Seconds of a message to another worker's loop from a task, of a byte more, and of a fetch from a
    counter there.
    """
    import asyncio

    from distributed import get_worker

    from dgsuite.core.workers.counting import counter

    here = get_worker()
    ask = counter(run, place, epoch, 0)

    async def echo(data: bytes) -> None:
        await here.rpc(place).echo(data=data)

    def there_and_back(size: int, times: int) -> float:
        data = bytes(size)
        loop = here.loop.asyncio_loop
        return median(lambda: asyncio.run_coroutine_threadsafe(echo(data), loop).result(), times)

    empty = there_and_back(1, OPERATIONS)
    byte = (there_and_back(large, 20) - empty) / (2 * large)
    return empty / 2, max(byte, 0.0), median(lambda: ask()(), OPERATIONS)


def timed(call: Callable[[], object], times: int) -> NDArray:
    """Seconds of some calls."""
    taken = np.empty(times)
    for i in range(times):
        begin = perf_counter()
        call()
        taken[i] = perf_counter() - begin
    return taken


def median(call: Callable[[], object], times: int) -> float:
    """Seconds of a call, the median of some."""
    return float(np.median(timed(call, times)))


def _ask_by_mpi(large: int) -> tuple[float, float, float]:
    """The same over MPI, between the two processes of a job: one asks, the other answers."""
    from dgsuite.core.exchange.mpi import Job, pack

    job = Job.here
    assert job is not None
    world, first = job.world, job.world.rank == 0
    peer = 1 - world.rank

    def there_and_back(size: int) -> None:
        data, room = pack(bytes(size)), pack(bytes(size))
        if first:
            world.Recv(room, peer)
            world.Send(data, peer)
        else:
            world.Send(data, peer)
            world.Recv(room, peer)

    empty = median(lambda: there_and_back(1), OPERATIONS)
    both_ways = median(lambda: there_and_back(large), 20)
    return empty / 2, max(both_ways - empty, 0.0) / (2 * large), empty


def measure(
    client: Client, name: str, places: Sequence[str], repeats: int = 5, chunk: int = 0
) -> Transport:
    """What messages cost between two workers that do nothing else: half of a question and its answer.

    They go by the workers' own comms; over MPI they are its messages, without anything of Dask around them.

    Parameters
    ----------
    chunk
        Bytes that a buffer of the transport holds, where a longer message waits for each piece.
    """
    from dgsuite.core.transports.counter import shared
    from dgsuite.core.workers import plugin as worker
    from dgsuite.core.workers.placement import new_run
    from dgsuite.partition.client.session import Session
    from dgsuite.studies.scc.ledger import Transport, large
    from dgsuite.studies.transports.carriers import MPI

    worker.install(client)
    size = large(chunk)
    epoch = Session.of(client).workers()[places[0]]["epoch"]

    def once() -> tuple[float, float, float]:
        if name in MPI:
            both = [client.submit(_ask_by_mpi, size, workers=[p], pure=False) for p in places[:2]]
            return client.gather(both)[0]
        asking = client.submit(
            _ask, new_run(), places[0], epoch, size, workers=[places[1]], pure=False
        )
        return asking.result()

    message, byte, fetch = np.min([once() for _ in range(repeats)], axis=0).tolist()
    return Transport(name, message, byte, chunk=chunk, fetch=fetch if shared(places[0]) else 0.0)


def _nothing(density: NDArray) -> NDArray:
    return density


def setup(client: Client, density: NDArray, places: Sequence[str]) -> float:
    """Least seconds of a build without units: density there, and a matrix back."""
    return float(
        timed(
            lambda: client.submit(_nothing, density, workers=[places[0]], pure=False).result(), 20
        ).min()
    )
