"""A counter that the tasks of a build share: at one worker, which answers requests for the next number.

A fetch takes two messages on every transport, as in the paper: its counter is a number at the first place,
which other places ask for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any

from distributed import Client, Worker, WorkerPlugin, get_worker

from dgsuite.base.errors import RunError
from dgsuite.core.workers import plugin as worker
from dgsuite.partition.client.session import Session
from dgsuite.partition.client.waiting import Watch


class CountingPlugin(WorkerPlugin):
    """Answers requests for numbers on a worker."""

    name = "dgsuite-counting"

    def setup(self, worker: Worker) -> None:
        self._worker = worker
        worker.handlers["dgsuite_count"] = self._count

    def _count(self, run: str, first: int, epoch: str) -> int:
        """RPC: fetch and increment of a run's counter."""
        return int(next(_own(self._worker, run, first, epoch)))


def _own(here: Worker, run: str, first: int, epoch: str) -> Iterator[int]:
    """The counter of a run on this worker, made by the first who wants it."""
    worker.fence(here, epoch)
    plugin = here.plugins[worker.NAME]
    if run in plugin.over:
        raise RunError(f"run {run} is over")
    found: Iterator[int] = plugin.runs.setdefault(run, count(first))
    return found


def install(client: Client) -> None:
    """Have all workers of a client answer requests for numbers, once a connection."""

    def register() -> None:
        watch = Watch(client, "putting counters on the workers")
        watch.call(partial(client.register_plugin, CountingPlugin()))

    worker.install(client)
    Session.of(client).kept.get(f"counters over {id(client.scheduler_comm)}", register)


def counter(run: str, place: str, epoch: str, first: int) -> Callable[[], Callable[[], int]]:
    """A counter at the worker of one of a run's tasks, while that task's key lives.

    Parameters
    ----------
    place
        Address of the worker that has it.
    epoch
        Which process that worker is.
    first
        Its first value.

    Returns
    -------
    A function that asks for the next value at once, and returns one that waits for the answer. There, a
    place that is gone is an OSError.
    """
    here = get_worker()
    if place == here.address:  # a peer may have asked already
        held = _own(here, run, first, epoch)
        worker.plugin().keep(worker.task_key(), run, held)
        return partial(taken, held)

    async def call() -> Any:
        return await here.rpc(place).dgsuite_count(run=run, first=first, epoch=epoch)

    return lambda: asyncio.run_coroutine_threadsafe(call(), here.loop.asyncio_loop).result


def taken(values: Iterator[int]) -> Callable[[], int]:
    """A function that returns the next number, which is there at once."""
    value = int(next(values))
    return lambda: value
