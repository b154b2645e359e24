"""A scheduler and workers for trials: processes forked from one that has imported everything."""

import asyncio
import logging
import multiprocessing
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any, Self

import dask
from distributed import Client, Nanny, Scheduler, Worker
from distributed.utils import get_mp_context

from tests.faults.board import FIRST, PLACES, SCHEDULER, WORKERS, Board, state
from tests.faults.hooks import ADDRESSES, Onlooker, of_worker, patched

LONG = 60.0
"""Seconds in which processes must start."""

TIMEOUT = 3.0
"""Seconds of ``dgsuite.timeout`` in trials, and on workers."""


class HookedWorker(Worker):
    """A worker whose process passes hooks, and tells the board its process."""

    def __init__(self, *arguments: Any, board: Path, **options: Any) -> None:
        place = FIRST + int(options["name"])
        _quiet(board.with_name("log"))
        found = Board(board, place)
        for patch in of_worker():
            patched(found, patch)
        super().__init__(*arguments, **options)


def _quiet(log: Path) -> None:
    """Have this process write what it says into a file."""
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(out, 1)
    os.dup2(out, 2)


def _short(config: dict[str, Any]) -> dict[str, Any]:
    """The settings of another process."""
    return config | {"dgsuite": config["dgsuite"] | {"timeout": TIMEOUT}}


def _serve(make: Callable[..., Any], config: dict[str, Any], log: Path, report: Any) -> None:
    """In a process of its own: a scheduler or a worker, until it ends or its parent does."""
    _quiet(log)
    dask.config.set(config)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()

    async def serve() -> None:
        async with make() as server:
            report.send(server.address)
            await server.finished()

    asyncio.run(serve())
    os._exit(0)


def new_scheduler(board: Path) -> Scheduler:
    made = Scheduler(host="127.0.0.1", port=0, dashboard=False)
    made.add_plugin(Onlooker(Board(board, SCHEDULER)))
    return made


class Processes:
    """A scheduler and workers, as a context manager.

    Parameters
    ----------
    nannies
        Whether workers have nannies, which start them anew; nannies are in this process.

    Attributes
    ----------
    address
        Of the scheduler.
    board
        On which all of them tell what they pass.
    """

    def __init__(self, nannies: bool) -> None:
        self.nannies = nannies

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            self._context = get_mp_context()
            self.board = Board(self.folder / "board", 0)
            self._loop = asyncio.new_event_loop()
            thread = threading.Thread(target=self._loop.run_forever, daemon=True)
            thread.start()
            stack.callback(thread.join)
            stack.callback(self._loop.call_soon_threadsafe, self._loop.stop)
            self._processes: dict[int, Any] = {}
            self._nannies: dict[int, Nanny] = {}
            stack.callback(self._end)
            self.address = self._fork(SCHEDULER, partial(new_scheduler, self.folder / "board"))
            for number in range(WORKERS):
                self._start(number)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _fork(self, place: int, make: Callable[..., Any]) -> str:
        ours, theirs = self._context.Pipe()
        given = make, _short(dask.config.config), self.folder / "log", theirs
        process = self._context.Process(target=_serve, args=given)
        process.daemon = True
        process.start()
        self._processes[place] = process
        theirs.close()
        if not ours.poll(LONG):
            raise TimeoutError(f"process {place} has not started")
        address: str = ours.recv()
        return address

    def _start(self, number: int) -> None:
        """Start a worker."""
        options = {"nthreads": 1, "name": str(number), "host": "127.0.0.1", "memory_limit": 0}
        options |= {"local_directory": str(self.folder), "board": self.folder / "board"}
        if not self.nannies:
            options.pop("memory_limit")
            make = partial(HookedWorker, self.address, dashboard=False, **options)
            self._fork(FIRST + number, make)
            return

        async def start() -> Nanny:
            return await Nanny(
                self.address,
                worker_class=HookedWorker,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
                **options,
            )

        self._nannies[number] = self._on_loop(start())

    def _on_loop[T](self, coroutine: Coroutine[Any, Any, T], seconds: float = LONG) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(seconds)

    def settle(self, client: Client) -> None:
        """Have all workers there: others in the place of those that are gone, or stopped for good."""
        deadline = time.monotonic() + LONG
        while not self._settled(client):
            if time.monotonic() > deadline:
                raise TimeoutError(f"there are not {WORKERS} workers")
            time.sleep(0.02)

    def _settled(self, client: Client) -> bool:
        there = {place: state(int(self.board.pids[place])) for place in range(FIRST, PLACES)}
        known = client.run_on_scheduler(_known)
        for place, is_ in there.items():
            if is_ == "T":
                self.kill(place)
            elif not is_ and not self.nannies and str(place - FIRST) not in known:
                self._start(place - FIRST)
                return False
        if len(known) < WORKERS or not all(is_ and is_ != "T" for is_ in there.values()):
            return False
        pids = client.run(os.getpid, on_error="ignore")
        return sorted(pids.values()) == sorted(self.board.pids[FIRST:].tolist())

    def addresses(self, place: int) -> list[str]:
        """The addresses that a process has had."""
        if place == SCHEDULER:
            return [self.address]
        lines = map(str.split, (self.folder / ADDRESSES).read_text().splitlines())
        return [address for of, address in lines if int(of) == place]

    def kill(self, place: int) -> None:
        """Kill a process."""
        with suppress(ProcessLookupError):
            os.kill(int(self.board.pids[place]), signal.SIGKILL)

    def _end(self) -> None:
        for place in range(FIRST, PLACES) if self.nannies else ():
            if state(int(self.board.pids[place])) == "T":  # its nanny would wait for it
                self.kill(place)
        for nanny in self._nannies.values():
            with suppress(Exception):
                self._on_loop(nanny.close(timeout=1), 10)
        for process in self._processes.values():
            process.kill()
            process.join()


def _known(dask_scheduler: Scheduler) -> list[str]:
    """On the scheduler: names of the workers."""
    return [str(worker.name) for worker in dask_scheduler.workers.values()]
