"""What lives on a worker: its runs, found by run id.

Runs are kept apart by their ids: a message, task or request of a run that is over, or never was
here, finds nothing.

A worker keeps meshes between runs, so that the next run on the same workers need not open one. The loop of a
kept mesh does not run. A task takes the mesh out and makes sure that all other tasks of its run have kept
theirs (`Mesh.resume`); if not, they all open one anew. A run that fails keeps none.
"""

from __future__ import annotations

import asyncio
import math
import pickle
from collections import deque
from collections.abc import Callable, Hashable
from functools import partial
from threading import Lock
from time import monotonic
from typing import Any

from distributed import Client, Worker, WorkerPlugin, get_worker
from distributed.core import Status
from distributed.protocol import to_serialize
from tornado.ioloop import PeriodicCallback

from dgsuite.base import threads
from dgsuite.base.errors import WorkerLost
from dgsuite.base.memory import give_back, keep_as_before, keep_memory
from dgsuite.base.thresholds import compile_without_delay
from dgsuite.core.engine.progress import Progress
from dgsuite.partition.client.scheduler import OP
from dgsuite.partition.client.session import POLL_SECONDS, Session
from dgsuite.partition.client.settings import setting
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.client.workers import worker_addresses

NAME = "dgsuite"

RELIEF = 1.0
"""Seconds between checks of what a worker keeps."""

IDLE = 60.0
"""Seconds after its last run for which a worker keeps memory that was freed."""

GIVEN_UP = ("cancelled", "released", "forgotten")
"""States of a task on a worker whose key the scheduler has forgotten."""

REMEMBERED = 1 << 10
"""Finished runs whose ids a worker remembers."""


MAX_MESHES = 4
"""Meshes that a worker keeps."""


class PeerLost(WorkerLost):
    """Another worker of the run is gone; its own error, if it raised one, names the cause."""


class KeptMeshes:
    """Meshes that a worker keeps, by their members. Thread-safe."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, tuple[Any, float]] = {}  # each with the time at which it ends
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def take(self, key: Hashable) -> Any:
        """The mesh that is kept under a key, or None; from now on it is the caller's."""
        with self._lock:
            return self._kept.pop(key, (None, 0.0))[0]

    def keep(self, key: Hashable, mesh: Any, seconds: float) -> None:
        """Keep a mesh for some time, in place of the one that was used least lately."""
        with self._lock:
            surplus = [self._kept.pop(key)] if key in self._kept else []
            self._kept[key] = mesh, monotonic() + seconds
            if len(self._kept) > MAX_MESHES:
                surplus.append(self._kept.pop(next(iter(self._kept))))
        for found, _ in surplus:
            found.dispose()

    def close(self, until: float = math.inf) -> None:
        """Close all meshes that end by some time.

        This does not wait: a mesh has a loop of its own, and Dask may cancel a close that takes long.
        """
        with self._lock:
            ended = [key for key, (_, end) in self._kept.items() if end <= until]
            meshes = [self._kept.pop(key)[0] for key in ended]
        for mesh in meshes:
            threads.start(mesh.dispose)


class RunPlugin(WorkerPlugin):
    """Holds a worker's part of every run.

    A part lives as long as a task key: when its client gives the key up, or is gone altogether, the
    scheduler forgets the key and the part ends. Tasks of several runs may call it from their threads at once:
    all tables but `runs` and those of results are used on the worker's event loop alone, and those two
    are changed one entry at a time.

    Attributes
    ----------
    runs
        What each run keeps on this worker between its tasks, by run id.
    over
        Ids of runs that have ended on this worker, not long ago.
    """

    name = NAME
    idempotent = True

    def setup(self, worker: Worker) -> None:
        compile_without_delay()  # runs on workers are timed
        self.worker = worker
        self._keeps_memory = setting("dgsuite.worker.keep-memory")
        self._used: float | None = None  # when memory was last kept for a run
        worker.periodic_callbacks[NAME] = relief = PeriodicCallback(self._relieve, RELIEF * 1000)
        relief.start()
        self.runs: dict[str, Any] = {}
        self._ends: dict[str, Callable[[], object]] = {}
        self.over: deque[str] = deque(maxlen=REMEMBERED)
        self._addresses: dict[str, asyncio.Future[Any]] = {}  # where tasks listen, by run
        self._told: dict[str, dict[str, Any]] = {}
        self.meshes = KeptMeshes()
        worker.handlers["dgsuite_meet"] = self._meet
        worker.handlers["dgsuite_votes"] = self._votes

    def __reduce__(self) -> tuple[Callable[[], WorkerPlugin], tuple[()]]:
        """Travel by value: a worker that cannot import dgsuite stays, so that a run can name it."""

        def make() -> WorkerPlugin:
            try:
                from dgsuite.core.workers.plugin import RunPlugin
            except ImportError:
                from distributed import WorkerPlugin

                return WorkerPlugin()
            return RunPlugin()

        return make, ()

    def _keep_memory(self) -> None:
        """Keep memory that is freed, from the first run on, until there has been none for some time."""
        if not self._keeps_memory:
            return
        if self._used is None:
            keep_memory(self.worker.memory_manager.memory_limit or math.inf)
        self._used = monotonic()

    def _relieve(self) -> None:
        """Close meshes and give back memory that no run has needed for some time.

        Also if Dask pauses the worker.
        """
        self.meshes.close(monotonic())
        if self._ends and self._used is not None:
            self._used = monotonic()
        elif self._used is not None and monotonic() - self._used > IDLE:
            self._used = None
            keep_as_before()
        if self._keeps_memory and self.worker.status == Status.paused:
            give_back()

    def teardown(self, worker: Worker) -> None:
        if (relief := worker.periodic_callbacks.pop(NAME, None)) is not None:
            relief.stop()
        if self._used is not None:
            keep_as_before()
        for end in list(self._ends.values()):
            end()
        self.meshes.close()

    def transition(self, key: Any, start: str, finish: str, **kwargs: Any) -> None:
        if (told := self._told.pop(key, None)) is not None and finish == "memory":
            self.worker.batched_stream.send(told)
        if finish in GIVEN_UP and key in self._ends:
            self._ends.pop(key)()

    def wanted(self, key: str) -> bool:
        """Whether a client still needs a task's result."""
        task = self.worker.state.tasks.get(key)
        return task is not None and task.state not in GIVEN_UP

    def keep(self, key: str, run: str, part: Any) -> None:
        """Keep something for a run, for as long as the calling task's key lives. Thread-safe."""

        def end() -> None:
            self.over.append(run)
            self.runs.pop(run, None)

        self.runs[run] = part
        self.enter(key, run, None, end)

    def enter(self, key: str, run: str, address: Any, abort: Callable[[], object]) -> None:
        """Called by a run's task: where its peers find it, and how to end it. Thread-safe.

        Parameters
        ----------
        address
            None where they have it from an earlier run.
        """

        def tell() -> None:
            if not self.wanted(key):  # given up before this came here
                abort()
                return
            self._ends[key] = abort
            self._keep_memory()
            if address is not None:
                self._address(run).set_result(address)

        self.worker.loop.add_callback(tell)

    def leave(self, key: str, run: str) -> None:
        """Called by a run's task when it ends. Thread-safe."""

        def tell() -> None:
            self.over.append(run)
            self._ends.pop(key, None)
            self._addresses.pop(run, None)

        self.worker.loop.add_callback(tell)

    async def _meet(self, run: str, epoch: str) -> Any:
        """RPC: the address at which a run's task on this worker listens; None if it has none for some time:
        the peer asks again, as long as it is there.
        """
        fence(self.worker, epoch)
        if run in self.over:
            raise PeerLost(f"run {run} is over on worker {self.worker.address}")
        address = self._address(run)
        await asyncio.wait([address], timeout=POLL_SECONDS)
        if address.done():
            return address.result()
        if self._addresses.get(run) is address:  # else it is that of a newer request
            del self._addresses[run]
        return None

    def _address(self, run: str) -> asyncio.Future[Any]:
        """What will be the address at which a run's task on this worker listens."""
        return self._addresses.setdefault(run, self.worker.loop.asyncio_loop.create_future())  # type: ignore[attr-defined]

    def part(self, run: str) -> Any:
        """What a run keeps on this worker."""
        try:
            return self.runs[run]
        except KeyError:
            raise PeerLost(
                f"run {run} is not on worker {self.worker.address}: it is over, or was lost"
            ) from None

    def _votes(self, run: str, turn: int) -> Any:
        """RPC: this worker's votes of a turn of a run."""
        return to_serialize(self.part(run).votes(turn))

    def tell(self, key: str, nbytes: int, what: Any) -> None:
        """Called by a run's task before it returns a result of some bytes: send what the client is to know of
        it with the message that the task is done. Thread-safe.
        """
        self._told[key] = {"op": OP, "key": key, "nbytes": nbytes, "data": pickle.dumps(what)}


def fence(worker: Worker, epoch: str) -> None:
    """Make sure that a worker is the process that a run began with, which has the run's state.

    Raises
    ------
    RunError
        It is another process, started at the same address.
    """
    if worker.id != epoch:
        raise PeerLost(f"worker {worker.address} was lost; a new one has started at its address")


def plugin() -> RunPlugin:
    """The plugin of the worker that the calling task runs on."""
    found: RunPlugin = get_worker().plugins[NAME]
    return found


def install(client: Client) -> None:
    """Put the plugin on all workers of a client, those to come included.

    It does so once a connection: a scheduler that has been restarted knows nothing of it.

    Raises
    ------
    RunError
        A worker is gone, or does not answer.
    """
    session = Session.of(client)
    if session.installed_over is not client.scheduler_comm:
        watch = Watch(client, "putting dgsuite on the workers", worker_addresses(client))
        watch.check_workers()
        watch.call(partial(client.register_plugin, RunPlugin()))
        session.installed_over = client.scheduler_comm


def reports(client: Client) -> tuple[str, dict[str, Callable[[int, Progress], object]]]:
    """The topic under which sites report their progress, and the function called for each run, with the
    number of the site.

    There is one topic per client, because a scheduler never removes a topic.
    """
    topic = f"dgsuite-{client.id}"

    def subscribed() -> dict[str, Callable[[int, Progress], object]]:
        found: dict[str, Callable[[int, Progress], object]] = {}

        def tell(event: tuple[float, tuple[str, int, Progress]]) -> None:
            run, site, progress = event[1]
            if (called := found.get(run)) is not None:
                called(site, Progress(*progress))

        client.subscribe_topic(topic, tell)
        return found

    return topic, Session.of(client).kept.get("reports", subscribed)


def task_key() -> str:
    """Key of the calling task."""
    return str(get_worker().get_current_task())
