"""A plugin for Dask's scheduler: it reports the state of workers and queues runs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from operator import attrgetter
from time import monotonic, time
from typing import Any

from distributed import Scheduler, SchedulerPlugin
from distributed.scheduler import TaskState

from dgsuite.partition.client.results import Results, may_run_again
from dgsuite.partition.client.sending import MARK, hurry
from dgsuite.partition.client.tasks import MOVABLE, TOGETHER

NAME = "dgsuite"

KILLED = "worker-restart-memory"
"""Topic of the events that Dask's nannies log when they kill a worker for the memory that it uses."""

WAITING = "dgsuite-waiting"
"""In place of the worker of a task whose turn has not come."""


class DgsuiteSchedulerPlugin(SchedulerPlugin):
    """Handles requests for the state of workers, and queues tasks that need all their workers at once.

    Two runs that each held one of two workers would wait for each other for ever. A run leaves the queue when
    its tasks have ended, or no client wants them any more.

    Attributes
    ----------
    queue
        Of each graph of such tasks: those that have not ended, with their workers.
    """

    name = NAME
    idempotent = True

    async def start(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self.queue: list[dict[Any, set[str] | None]] = []
        self.results = Results(scheduler)
        self._marks: dict[str, int] = {}
        self._unties = False
        scheduler.stream_handlers[MARK] = self.mark
        scheduler.handlers["dgsuite_workers"] = self.workers
        scheduler.handlers["dgsuite_repeatable"] = self.repeatable
        scheduler.handlers["dgsuite_hopeless"] = self.hopeless
        scheduler.handlers["dgsuite_renew"] = self.renew
        scheduler.handlers["dgsuite_memory_kills"] = self.memory_kills

    def mark(self, client: str, number: int) -> None:
        """Note that all is there that a client has sent before a mark."""
        self._marks[client] = number

    def workers(
        self, keys: Sequence[Any] = (), client: str = "", mark: int = 0, bound: float = inf
    ) -> dict[str, Any]:
        """RPC: the state of each worker, and which tasks will have no result.

        Parameters
        ----------
        keys
            Keys of the tasks that the caller waits for.
        client
            Id of the caller.
        mark
            Number of a mark of the caller. A task that is not there when the mark is has been forgotten;
            before, it may be on its way.
        bound
            Seconds without a heartbeat after which a worker is taken for lost, and in which a worker must
            be found for a task.

        Returns
        -------
        ``"workers"``: the states by address. A worker is ``"awaited"`` if it has one of the tasks, or if it
        is silent and one of them needs a task that it has. ``"lost"``: keys of tasks that the scheduler does
        not have, that nobody wants, that have failed, or that no worker can run.
        """
        now, known = time(), self.scheduler.tasks
        tasks = {key: known[key] for key in keys if key in known}
        wanted = set(tasks.values())
        have = {task.processing_on for task in wanted}
        states = {}
        for address, state in self.scheduler.workers.items():
            silent = now - state.last_seen
            states[address] = {
                "name": state.name,
                "epoch": state.server_id,
                "status": state.status.name,
                "silent": silent,
                "busy": [str(task.key) for task in state.executing],
                "memory": state.metrics.get("memory", 0),
                "memory_limit": state.memory_limit,
                "nthreads": state.nthreads,
                "awaited": state in have
                or (silent > bound and not wanted.isdisjoint(_needing(state.processing))),
            }
        stuck = _needing(task for task in self.scheduler.unrunnable if self._is_stuck(task, bound))
        arrived = self._marks.get(client, 0) >= mark
        lost = [
            key
            for key in keys
            if (
                arrived
                if (task := tasks.get(key)) is None
                else task in stuck or not task.who_wants or task.state in ("released", "erred")
            )
        ]
        return {"workers": states, "lost": lost}

    def _is_stuck(self, task: TaskState, bound: float) -> bool:
        """Whether a task that has no worker will have none."""
        if task.worker_restrictions == {WAITING}:
            return False
        if self._is_tied_to_lost(task):
            return MOVABLE not in (task.annotations or {})
        return monotonic() - self.scheduler.unrunnable[task] > bound

    def _is_tied_to_lost(self, task: TaskState) -> bool:
        tied = task.worker_restrictions
        return bool(tied) and tied.isdisjoint(self.scheduler.workers)

    def memory_kills(self, workers: Sequence[str], seconds: float) -> dict[str, int]:
        """RPC: which of some workers Dask has killed for their memory in the last seconds.

        Returns
        -------
        Bytes that each of them used then, by address.
        """
        since = time() - seconds
        kills = [event for at, event in self.scheduler.get_events(KILLED) if at >= since]
        return {kill["worker"]: kill["rss"] for kill in kills if kill["worker"] in workers}

    def repeatable(self, keys: Sequence[Any]) -> bool:
        """RPC: whether tasks could run again if all workers lost what they hold."""
        return self._lineage(keys, everything=True) is not None

    def hopeless(self, keys: Sequence[Any]) -> list[Any]:
        """RPC: the keys of tasks whose results were lost and that cannot run again."""
        return [key for key in keys if self._lineage([key]) is None]

    def remove_worker(self, scheduler: Scheduler, worker: str, **kwargs: Any) -> None:
        self._untie()

    def _untie(self) -> None:
        """Have tasks of graphs that are tied to a worker that is gone run on any other.

        Dask runs tasks again whose results were lost, but would have these wait for the worker for ever.
        """
        self._unties = False
        tied = [
            task
            for task in self.scheduler.unrunnable
            if MOVABLE in (task.annotations or {}) and self._is_tied_to_lost(task)
        ]
        tied.sort(key=attrgetter("priority"), reverse=True)  # Dask takes the last one first
        self.scheduler.set_restrictions({task.key: None for task in tied})
        self.scheduler.transitions(
            {task.key: "processing" for task in tied}, f"dgsuite-untie-{time()}"
        )

    def _lineage(self, keys: Sequence[Any], everything: bool = False) -> list[TaskState] | None:
        """Tasks that must run so that some have results; None if one of them cannot.

        Parameters
        ----------
        everything
            Whether results that are there are to be made again, too.
        """
        found: dict[Any, TaskState] = {}
        todo = list(keys)
        while todo:
            key = todo.pop()
            task = self.scheduler.tasks.get(key)
            if task is None:
                return None
            if key in found or (task.state == "memory" and not everything):
                continue
            if not may_run_again(task) or task.has_lost_dependencies or task.state == "erred":
                return None
            found[key] = task
            todo += [needed.key for needed in task.dependencies]
        return list(found.values())

    async def renew(self, workers: Sequence[str]) -> None:
        """RPC: have workers killed and started anew that no longer answer, as Dask does after its worker-ttl.

        Those without a nanny are removed.
        """
        stimulus = f"dgsuite-renew-{time()}"
        known = self.scheduler.workers
        frozen = {address: known[address].server_id for address in workers if address in known}
        await self.scheduler.restart_workers(
            list(frozen), wait_for_workers=False, on_error="return", stimulus_id=stimulus
        )
        for address, epoch in frozen.items():
            if address in known and known[address].server_id == epoch:
                await self.scheduler.remove_worker(address, stimulus_id=stimulus)

    def update_graph(
        self, scheduler: Scheduler, annotations: Mapping[str, Mapping[Any, Any]], **_: Any
    ) -> None:
        """Of tasks that need all their workers at once, let those of one graph begin at a time.

        Dask calls it before it sends any task of the graph to a worker.
        """
        if keys := annotations.get(TOGETHER, {}).keys():
            self.queue.append({key: scheduler.tasks[key].worker_restrictions for key in keys})
            if len(self.queue) > 1:
                scheduler.set_restrictions(dict.fromkeys(keys, WAITING))

    def _leave(self, key: Any) -> None:
        """Have the next tasks begin when the last one at the head of the queue has ended."""
        for tasks in [tasks for tasks in self.queue if key in tasks]:
            is_head = tasks is self.queue[0]
            del tasks[key]
            if not tasks:
                self.queue.remove(tasks)
                if is_head and self.queue:
                    asyncio.get_running_loop().call_soon(self._begin)

    def _begin(self) -> None:
        """Have the tasks at the head of the queue run."""
        tasks = self.queue[0] if self.queue else {}
        self.scheduler.set_restrictions(tasks)
        waits = [key for key in tasks if self.scheduler.tasks[key].state == "no-worker"]
        self.scheduler.transitions(dict.fromkeys(waits, "processing"), f"dgsuite-begin-{time()}")

    def transition(self, key: Any, start: str, finish: str, *args: Any, **kwargs: Any) -> None:
        if (start, finish) == ("memory", "erred"):
            # it needs an actor that was lost; Dask makes this message itself, and does not send it
            freed = {"op": "free-keys", "keys": [key], "stimulus_id": f"dgsuite-free-{time()}"}
            self.scheduler.send_all({}, {worker: [freed] for worker in self.scheduler.workers})
        if finish == "no-worker" and not self._unties:
            # it may be tied to a worker that has gone before it came
            self._unties = True
            asyncio.get_running_loop().call_soon(self._untie)
        self.results.transition(key, finish)
        if finish in ("memory", "erred", "forgotten"):
            self._leave(key)
        elif finish == "processing" and self.queue and key in self.queue[0]:
            asyncio.get_running_loop().call_soon(self._send_now, key)

    def _send_now(self, key: str) -> None:
        """Have the message leave that a worker is to run a task: the others of its run wait for it."""
        task = self.scheduler.tasks.get(key)
        if task is not None and task.processing_on is not None:
            hurry(self.scheduler.stream_comms.get(task.processing_on.address))

    def remove_client(self, scheduler: Scheduler, client: str) -> None:
        self._marks.pop(client, None)


def _needing(tasks: Iterable[TaskState]) -> set[TaskState]:
    """Some tasks, and those that wait for one of them."""
    found = set(tasks)
    todo = list(found)
    while todo:
        for task in todo.pop().dependents:
            if task.state == "waiting" and task not in found:
                found.add(task)
                todo.append(task)
    return found
