"""What lives on a worker: its runs, found by run id.

Runs are kept apart by their ids: a message, task or request of a run that is over, or never was
here, finds nothing.
"""

from __future__ import annotations

import asyncio
import math
import pickle
from collections import deque
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any

from distributed import Client, Worker, WorkerPlugin, get_worker
from distributed.core import Status
from distributed.protocol import to_serialize
from tornado.ioloop import PeriodicCallback

from dgsuite.base.errors import WorkerLost
from dgsuite.base.memory import give_back, keep_as_before, keep_memory
from dgsuite.base.thresholds import compile_without_delay
from dgsuite.core.engine.progress import Progress
from dgsuite.core.workers.dashboard import DashboardPlugin
from dgsuite.core.workers.kept import KeptMeshes
from dgsuite.core.workers.spans import SpanPlugin
from dgsuite.partition.client.results import OP
from dgsuite.partition.client.session import POLL_SECONDS, Session
from dgsuite.partition.client.settings import setting
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.client.workers import worker_addresses

NAME = "dgsuite"

RELIEF = 1.0
"""Seconds between checks whether a worker is paused, or has had no run for some time."""

IDLE = 60.0
"""Seconds after its last run for which a worker keeps memory that was freed."""

GIVEN_UP = ("cancelled", "released", "forgotten")
"""States of a task on a worker whose key the scheduler has forgotten."""

REMEMBERED = 1 << 10
"""Finished runs whose ids a worker remembers."""


class PeerLost(WorkerLost):
    """Another worker of the run is gone; its own error, if it raised one, names the cause."""


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
    """

    name = NAME
    idempotent = True

    def setup(self, worker: Worker) -> None:
        compile_without_delay()  # runs on workers are timed
        self.worker = worker
        self._used: float | None = None  # when memory was last kept for a run
        if setting("dgsuite.worker.keep-memory"):
            relief = PeriodicCallback(self._relieve, RELIEF * 1000)
            worker.periodic_callbacks[NAME] = relief
            relief.start()
        self.runs: dict[str, Any] = {}
        self._ends: dict[str, Callable[[], object]] = {}
        self._over: deque[str] = deque(maxlen=REMEMBERED)
        self._addresses: dict[str, Any] = {}  # where tasks listen, by run
        self._seekers: dict[str, set[asyncio.Future[Any]]] = {}  # requests that wait for one
        self._told: dict[str, dict[str, Any]] = {}
        self.meshes = KeptMeshes(worker.loop.asyncio_loop)  # type: ignore[attr-defined]
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
        if NAME not in self.worker.periodic_callbacks:  # nothing would give it back
            return
        if self._used is None:
            keep_memory(self.worker.memory_manager.memory_limit or math.inf)
        self._used = monotonic()

    def _relieve(self) -> None:
        """Give back memory that was freed where no run needs it, or Dask pauses the worker."""
        if self._ends:
            self._used = monotonic()
        elif self._used is not None and monotonic() - self._used > IDLE:
            self._used = None
            keep_as_before()
        if self.worker.status == Status.paused:
            give_back()

    def teardown(self, worker: Worker) -> None:
        if (relief := worker.periodic_callbacks.pop(NAME, None)) is not None:
            relief.stop()
        if self._used is not None:
            keep_as_before()
        for end in list(self._ends.values()):
            end()
        self.meshes.clear()

    def transition(self, key: Any, start: str, finish: str, **kwargs: Any) -> None:
        if (told := self._told.pop(key, None)) is not None and finish == "memory":
            self.worker.batched_stream.send(told)
        if finish in GIVEN_UP and key in self._ends:
            self._ends.pop(key)()

    def wanted(self, key: str) -> bool:
        """Whether a client still needs a task's result."""
        task = self.worker.state.tasks.get(key)
        return task is not None and task.state not in GIVEN_UP

    def is_over(self, run: str) -> bool:
        """Whether a run has ended on this worker, not long ago."""
        return run in self._over

    def keep(self, key: str, run: str, part: Any) -> None:
        """Keep something for a run, for as long as the calling task's key lives. Thread-safe."""

        def end() -> None:
            self._over.append(run)
            self.runs.pop(run, None)

        def tell() -> None:
            if self.wanted(key):
                self._ends[key] = end
                self._keep_memory()
            else:  # given up before this came here
                end()

        self.runs[run] = part
        self.worker.loop.add_callback(tell)

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
                self._addresses[run] = address
                for seeker in self._seekers.pop(run, ()):
                    if not seeker.done():
                        seeker.set_result(address)

        self.worker.loop.add_callback(tell)

    def leave(self, key: str, run: str) -> None:
        """Called by a run's task when it ends. Thread-safe."""

        def tell() -> None:
            self._over.append(run)
            self._ends.pop(key, None)
            self._addresses.pop(run, None)

        self.worker.loop.add_callback(tell)

    async def _meet(self, run: str, epoch: str) -> Any:
        """RPC: the address at which a run's task on this worker listens; None if it has none for some time:
        the peer asks again, as long as it is there.
        """
        fence(self.worker, epoch)
        if run in self._over:
            raise PeerLost(f"run {run} is over on worker {self.worker.address}")
        if run in self._addresses:
            return self._addresses[run]
        seeker = asyncio.get_running_loop().create_future()
        seekers = self._seekers.setdefault(run, set())
        seekers.add(seeker)
        try:
            return await asyncio.wait_for(seeker, POLL_SECONDS)
        except TimeoutError:
            return None
        finally:
            seekers.discard(seeker)
            if not seekers:
                self._seekers.pop(run, None)

    def _votes(self, run: str, turn: int) -> Any:
        """RPC: this worker's votes of a turn of a run."""
        if run not in self.runs:
            raise PeerLost(
                f"run {run} is not on worker {self.worker.address}: it is over, or was lost"
            )
        return to_serialize(self.runs[run].votes(turn))

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
        for each in (RunPlugin(), SpanPlugin(), DashboardPlugin()):
            watch.call(partial(client.register_plugin, each))
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


def security_args() -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments (TLS contexts) to connect and to listen as the calling task's worker does."""
    worker = get_worker()
    return worker.connection_args, worker.security.get_listen_args("worker")
