"""A counter that the tasks of a build share: at one worker, which answers requests for the next number.

Where the transport has memory that all workers reach, the counter is there: a fetch is one instruction of
the processor, no message is sent, and the process that has the counter need not wake up.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from itertools import count
from typing import Any
from weakref import finalize

import numpy as np
from distributed import Client, Worker, WorkerPlugin, get_worker
from distributed.comm.addressing import parse_address
from numpy.typing import NDArray

from dgsuite.base.errors import RunError
from dgsuite.core.transports import memory
from dgsuite.core.workers import plugin as worker
from dgsuite.partition.client.session import Session
from dgsuite.partition.client.waiting import Watch

SCHEMES = ("mpb", "rcce")
"""Transports whose buffers all processes reach; a section of ``mpimpb`` belongs to two of them."""

SIZE = 64
"""Bytes of memory for a counter: a line of the processor's cache."""


class Counter:
    """An iterator over numbers, each of which one process gets.

    Parameters
    ----------
    held
        Memory, whose first 8 bytes are the next number.
    fd
        Its file, which stays open as long as others may attach; -1 if it was another process's.
    """

    def __init__(self, held: NDArray[np.uint8], fd: int = -1) -> None:
        if fd >= 0:
            finalize(self, os.close, fd)
        self._fd = fd
        from dgsuite.studies.chem._compiled import fetch_add  # Numba is slow to import

        self._add = fetch_add
        self._cell = held[:8].view(np.int64)

    @classmethod
    def made(cls, first: int) -> Counter:
        """A new one, from a number on."""
        counter = cls(*memory.make("counter", SIZE))
        counter._cell[0] = first
        return counter

    @classmethod
    def attached(cls, where: memory.Where) -> Counter | None:
        """Another process's; None if this process does not find its memory."""
        held = memory.attach_of(where)
        return None if held is None else cls(held)

    @property
    def where(self) -> memory.Where:
        """Where other processes find it."""
        return memory.Where.of(self._fd)

    def __iter__(self) -> Counter:
        return self

    def __next__(self) -> int:
        return int(self._add(self._cell))


def shared(address: str) -> bool:
    """Whether workers at addresses such as this one share memory for a counter."""
    return parse_address(address)[0] in SCHEMES


class CountingPlugin(WorkerPlugin):
    """Answers requests for numbers on a worker."""

    name = "dgsuite-counting"

    def setup(self, worker: Worker) -> None:
        self._worker = worker
        worker.handlers["dgsuite_count"] = self._count
        worker.handlers["dgsuite_counter"] = self._counter

    def _count(self, run: str, first: int, epoch: str) -> int:
        """RPC: fetch and increment of a run's counter."""
        return int(next(_own(self._worker, run, first, epoch)))

    def _counter(self, run: str, first: int, epoch: str) -> memory.Where:
        """RPC: where the memory of a run's counter is."""
        found = _own(self._worker, run, first, epoch)
        assert isinstance(found, Counter)
        return found.where


def _own(here: Worker, run: str, first: int, epoch: str) -> Iterator[int]:
    """The counter of a run on this worker, made by the first who wants it."""
    worker.fence(here, epoch)
    plugin = here.plugins[worker.NAME]
    if run in plugin.over:
        raise RunError(f"run {run} is over")
    found: Iterator[int] | None = plugin.runs.get(run)
    if found is None:
        made = Counter.made(first) if shared(here.address) else count(first)
        found = plugin.runs.setdefault(run, made)
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
        return partial(_taken, held)

    async def call(operation: str) -> Any:
        return await getattr(here.rpc(place), operation)(run=run, first=first, epoch=epoch)

    def begun(operation: str) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(call(operation), here.loop.asyncio_loop)

    if shared(place):
        there = Counter.attached(memory.Where(*begun("dgsuite_counter").result()))
        if there is not None:  # else the worker is in another container
            return partial(_taken, there)
    return lambda: begun("dgsuite_count").result


def _taken(values: Iterator[int]) -> Callable[[], int]:
    """A number that is there at once."""
    value = int(next(values))
    return lambda: value
