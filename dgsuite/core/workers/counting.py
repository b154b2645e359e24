"""A counter that the tasks of a run share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from typing import Any

from distributed import get_worker

from dgsuite.core.transports.counter import Counter, shared
from dgsuite.core.transports.memory import Where
from dgsuite.core.workers.plugin import fence, plugin, task_key


def counter(run: str, place: str, epoch: str, first: int) -> Callable[[], Callable[[], int]]:
    """A counter at the worker of one of a run's tasks, while that task's key lives.

    Where the transport has memory that all workers reach, the counter is there, and no message is sent.

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
    own = plugin()
    if place == here.address:  # a peer may have asked already
        fence(here, epoch)
        held = own.counter(run, first)
        own.keep(task_key(), run, held)
        return partial(_taken, held)

    async def call(operation: str) -> Any:
        return await getattr(here.rpc(place), operation)(run=run, first=first, epoch=epoch)

    def begun(operation: str) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(call(operation), here.loop.asyncio_loop)

    if shared(place):
        there = Counter.attached(Where(*begun("dgsuite_counter").result()))
        if there is not None:  # else the worker is in another container
            return partial(_taken, there)
    return lambda: begun("dgsuite_count").result


def _taken(values: Iterator[int]) -> Callable[[], int]:
    """A number that is there at once."""
    value = int(next(values))
    return lambda: value
