"""A plugin for Dask's scheduler: it reports the state of workers and queues runs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import time
from typing import Any, NamedTuple

from distributed import Scheduler, SchedulerPlugin

NAME = "dgsuite"

UNFINISHED = ("waiting", "queued", "processing")
"""States of a task that the scheduler is still going to run."""


class QueuedRun(NamedTuple):
    """An entry of the queue of runs that need all workers.

    Attributes
    ----------
    run
        Id of the run.
    client
        Id of its client.
    keys
        Keys of the tasks that the run submits.
    """

    run: str
    client: str
    keys: Sequence[str]


class DgsuiteSchedulerPlugin(SchedulerPlugin):
    """Handles requests for the state of workers, and keeps a queue of runs that need all workers at once.

    A run leaves the queue when its client says so or the client's connection ends. It also leaves when
    the client has sent no heartbeat for some time and none of the run's tasks is unfinished.
    """

    name = NAME
    idempotent = True

    async def start(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self.queue: list[QueuedRun] = []
        self._changed = asyncio.Event()
        scheduler.handlers["dgsuite_workers"] = self.workers
        scheduler.handlers["dgsuite_take_turn"] = self.take_turn
        scheduler.handlers["dgsuite_end_turn"] = self.end_turn
        scheduler.handlers["dgsuite_keep"] = self.keep
        scheduler.handlers["dgsuite_annotate"] = self.annotate

    def workers(self, keys: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
        """RPC: the state of each worker, by address.

        Parameters
        ----------
        keys
            Keys of the tasks that the caller waits for.
        """
        now = time()
        states = {}
        for address, state in self.scheduler.workers.items():
            states[address] = {
                "name": state.name,
                "epoch": state.server_id,
                "status": state.status.name,
                "silent": now - state.last_seen,
                "busy": [str(task.key) for task in state.executing],
                "memory": state.metrics.get("memory", 0),
                "memory_limit": state.memory_limit,
                "nthreads": state.nthreads,
                "awaited": False,
            }
        for key in keys:
            task = self.scheduler.tasks.get(key)
            if task is not None and task.processing_on is not None:
                states[task.processing_on.address]["awaited"] = True
        return states

    def keep(self, keys: Sequence[str]) -> None:
        """RPC: never run tasks again whose results are lost with their worker.

        They are tied to that worker, so what needs them would wait for ever. Now it fails.
        """
        for key in keys:
            self.scheduler.tasks[key].run_spec = None

    def annotate(self, key: str, span: dict[str, Any]) -> None:
        """RPC: put data that a client has sent into a span.

        Dask itself opens a new span for such data whenever the cluster was idle.
        """
        if key in self.scheduler.tasks:
            self.scheduler.tasks[key].annotations = {"span": span}

    async def take_turn(
        self, run: str, client: str, keys: Sequence[str], seconds: float, bound: float
    ) -> dict[str, Any]:
        """RPC: enter the queue, and wait until the run is its head.

        Parameters
        ----------
        seconds
            Seconds to wait at most.
        bound
            Seconds without a heartbeat after which a client is taken for lost.

        Returns
        -------
        An empty dictionary if the run is the head of the queue, else the run and client that are, and the
        seconds since that client's last heartbeat.
        """
        mine = QueuedRun(run, client, tuple(keys))
        if client in self.scheduler.clients and mine not in self.queue:
            self.queue.append(mine)
        deadline = time() + seconds
        while self.queue and self.queue[0] != mine:
            head = self.queue[0]
            if self._abandoned(head, bound):
                self._remove(head)
                continue
            try:
                await asyncio.wait_for(self._changed.wait(), max(0.0, deadline - time()))
            except TimeoutError:
                head = self.queue[0]
                return {"run": head.run, "client": head.client, "silent": self._silent(head)}
        return {}

    def end_turn(self, run: str) -> None:
        """RPC: leave the queue, from whatever position."""
        for queued in [queued for queued in self.queue if queued.run == run]:
            self._remove(queued)

    def remove_client(self, scheduler: Scheduler, client: str) -> None:
        for queued in [queued for queued in self.queue if queued.client == client]:
            self._remove(queued)

    def _remove(self, queued: QueuedRun) -> None:
        self.queue.remove(queued)
        self._changed.set()
        self._changed = asyncio.Event()

    def _silent(self, queued: QueuedRun) -> float:
        """Seconds since the last heartbeat of a run's client."""
        return time() - self.scheduler.clients[queued.client].last_seen

    def _abandoned(self, queued: QueuedRun, bound: float) -> bool:
        if self._silent(queued) < bound:
            return False
        tasks = [self.scheduler.tasks.get(key) for key in queued.keys]
        return not any(task is not None and task.state in UNFINISHED for task in tasks)
