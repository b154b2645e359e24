"""What Dask's comms cost between two workers: a counter operation, a byte, a task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from distributed import Client

    from dgsuite.scc.ledger import Transport

OPERATIONS = 300
"""Counter operations that are timed."""

LARGE = 1 << 20
"""Bytes of the message that bandwidth is measured with."""


def _ask(run: str, place: str, epoch: str) -> tuple[float, float]:
    """Seconds of a counter operation from another worker's task, and of a byte sent there."""
    import asyncio

    from distributed import get_worker

    from dgsuite.workers import plugin as worker

    here = get_worker()
    ask = worker.counter(run, place, epoch, 0)

    async def echo(data: bytes) -> None:
        await here.rpc(place).echo(data=data)

    def there_and_back(size: int) -> float:
        data = bytes(size)
        loop = here.loop.asyncio_loop
        return float(
            np.median(
                timed(lambda: asyncio.run_coroutine_threadsafe(echo(data), loop).result(), 20)
            )
        )

    byte = (there_and_back(LARGE) - there_and_back(1)) / (2 * LARGE)
    return float(np.median(timed(lambda: ask()(), OPERATIONS))), max(byte, 0.0)


def timed(call: Callable[[], object], times: int) -> NDArray:
    """Seconds of some calls."""
    taken = np.empty(times)
    for i in range(times):
        begin = perf_counter()
        call()
        taken[i] = perf_counter() - begin
    return taken


def measure(client: Client, name: str, places: Sequence[str], repeats: int = 5) -> Transport:
    """What messages cost between two workers that do nothing else: half of a counter operation each.

    Matrices travel as the counter's answers do, by the workers' own comms.
    """
    from dgsuite.scc.ledger import Transport
    from dgsuite.workers import plugin as worker
    from dgsuite.workers.placement import new_run
    from partition.client.queries import worker_states

    worker.install(client)
    epoch = worker_states(client)[places[0]]["epoch"]
    found = [
        client.submit(_ask, new_run(), places[0], epoch, workers=[places[1]], pure=False).result()
        for _ in range(repeats)
    ]
    counter, byte = np.min(found, axis=0)
    return Transport(name, float(counter) / 2, float(byte))


def _nothing(density: NDArray) -> NDArray:
    return density


def installed(protocol: str) -> bool:
    """Whether distributed has a transport of that name, set up."""
    from dgsuite.experiment.clusters import check_protocol
    from partition.errors import InputError

    try:
        check_protocol(protocol)
    except InputError:
        return False
    return True


def setup(client: Client, density: NDArray, places: Sequence[str]) -> float:
    """Least seconds of a build without units: density there, and a matrix back."""
    return float(
        timed(
            lambda: client.submit(_nothing, density, workers=[places[0]], pure=False).result(), 20
        ).min()
    )
