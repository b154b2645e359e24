"""Fock builds on one place, on the workers of a client, and as tasks that Dask balances."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import count, takewhile
from time import perf_counter

import numpy as np
from distributed import Client, get_worker
from numpy.typing import NDArray

from dgsuite.core.workers import placement as tasks
from dgsuite.core.workers import plugin as worker
from dgsuite.partition.client.tasks import new_key, submitted
from dgsuite.partition.client.waiting import Watch
from dgsuite.studies.chem.counters import counter, install, taken
from dgsuite.studies.chem.fock import Fock, Share, Work, compute

Shares = list[tuple[str, Share]]
"""What each place did, by its address."""

TASKS = 16
"""Tasks per worker with balance "dask": few enough for the scheduler, enough to balance the load."""


def dealt(
    work: Work,
    density: NDArray,
    rank: int,
    places: int,
    ask: Callable[[], Callable[[], int]] | None,
    wanted: Callable[[], bool] = lambda: True,
) -> Share:
    """One place's share of a build: units rank, rank + places, ..., or those that a counter assigns.

    `ask` requests the next value of the counter and returns a function that waits for it. A place starts with
    block `rank` of units, and requests the next one before it computes, so that the answer travels meanwhile.
    It stops when its share is no longer `wanted`.
    """
    total = len(work.units())

    def computed(units: Iterable[int]) -> Fock:
        return compute(work, density, takewhile(lambda _: wanted(), units))

    if ask is None:
        return computed(range(rank, total, places)).share()
    waited, fetches = 0.0, 0

    def numbers() -> Iterator[int]:
        nonlocal waited, fetches
        block = rank
        while block * work.fetch < total:
            answer = ask()
            fetches += 1
            yield from range(block * work.fetch, min((block + 1) * work.fetch, total))
            before = perf_counter()
            block = answer()
            waited += perf_counter() - before

    fock = computed(numbers())
    return fock.share(waited, fetches)


def alone(work: Work, density: NDArray) -> Shares:
    """A build in this process."""
    ask = partial(taken, count(1)) if work.counted else None
    return [("this process", dealt(work, density, 0, 1, ask))]


def spread(work: Work, density: NDArray, client: Client, places: Sequence[str]) -> Shares:
    """A build on workers: one long task each, as many places as there are workers.

    Raises
    ------
    RunError
        A worker was lost.
    """
    install(client)
    run = tasks.new_run()
    watch = Watch(client, tasks.of(work), places, key_part=run)
    watch.check_workers()
    epochs = [watch.epochs[place] for place in places]
    sent = {}
    for rank, place in enumerate(places):
        task = partial(_place, run, work, density, rank, epochs)
        sent[f"{work.name}-{run}-{rank}"] = place, task, places
    found = tasks.results(tasks.submit(client, sent), watch)
    return list(zip(places, found, strict=True))


def _place(
    run: str, work: Work, density: NDArray, rank: int, epochs: Sequence[str], places: Sequence[str]
) -> Share:
    worker.fence(get_worker(), epochs[rank])
    wanted = partial(worker.plugin().wanted, worker.task_key())
    try:
        ask = counter(run, places[0], epochs[0], len(places)) if work.counted else None
        return dealt(work, density, rank, len(places), ask, wanted)
    except OSError as error:
        raise worker.PeerLost(f"worker {places[0]}, which has the counter, was lost") from error


def tasked(work: Work, density: NDArray, client: Client, places: Sequence[str]) -> Shares:
    """A build as tasks, largest units first, which Dask runs on idle workers and repeats if a worker is lost.

    Raises
    ------
    RunError
        Tasks were lost again and again, or no worker is left.
    """
    total = len(work.units())
    size = work.fetch or max(1, -(-total // (TASKS * len(places))))
    starts = range(0, total, size)
    # made by a task, so that it too can be repeated when its worker is lost
    sent = submitted(client, np.asarray, density, part=work.name)
    futures = client.map(
        _task,
        [work] * len(starts),
        [sent] * len(starts),
        [range(total - 1 - s, max(total - 1 - s - size, -1), -1) for s in starts],
        key=[new_key(_task, work.name) for _ in starts],
    )
    totals: dict[str, Share] = {}
    for place, share in tasks.results(futures, Watch(client, tasks.of(work))):
        totals[place] = totals[place].plus(share) if place in totals else share
    return list(totals.items())


def _task(work: Work, density: NDArray, units: range) -> tuple[str, Share]:
    return str(get_worker().address), compute(work, density, units).share()
