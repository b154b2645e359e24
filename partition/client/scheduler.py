"""A plugin for Dask's scheduler: it reports the state of workers, queues runs and passes on their results.

A worker sends what a client is to know of a result together with the message that its task is done. So the
client gets it with the answer to one request, and the scheduler need not ask the workers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from operator import attrgetter
from time import monotonic, time
from typing import Any, NoReturn

from dask._task_spec import Task
from distributed import Scheduler, SchedulerPlugin
from distributed.scheduler import TaskState

from dgsuite.base.errors import WorkerLost
from dgsuite.partition.client.dashboard import add_page
from dgsuite.partition.client.sending import MARK, hurry
from dgsuite.partition.client.tasks import MOVABLE, SPAN, TOGETHER

NAME = "dgsuite"

KILLED = "worker-restart-memory"
"""Topic of the events that Dask's nannies log when they kill a worker for the memory that it uses."""

WAITING = "dgsuite-waiting"
"""In place of the worker of a task whose turn has not come."""

OP = "dgsuite-result"
"""Of a worker's message about a result: key, bytes of its arrays, and what the client is to know, pickled."""


MAX_GROUPS = 1 << 8
"""Groups of tasks, and descriptions of collections, that the span of dgsuite may have."""


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
        self._awaited: dict[asyncio.Event, set[Any]] = {}  # keys that a client waits for
        self._sent: dict[Any, tuple[int, bytes]] = {}
        self._marks: dict[str, int] = {}
        self._unties = False
        add_page(scheduler)
        scheduler.stream_handlers |= {MARK: self.mark, OP: self.receive}
        answers: list[Any] = [self.results, self.workers, self.repeatable, self.hopeless]
        answers += [self.renew, self.memory_kills]
        scheduler.handlers |= {f"dgsuite_{each.__name__}": each for each in answers}

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
        is silent and holds the result of one of them, or one of them needs a task that it has. ``"lost"``:
        keys of tasks that the scheduler does not have, that nobody wants, that have failed, or that no
        worker can run.
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
                or (
                    silent > bound
                    and not wanted.isdisjoint(_needing(state.processing) | state.has_what)
                ),
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
        tied = task.worker_restrictions
        if tied == {WAITING}:
            return False
        if tied and tied.isdisjoint(self.scheduler.workers):
            return MOVABLE not in (task.annotations or {})
        return monotonic() - self.scheduler.unrunnable[task] > bound

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
        known = self.scheduler.workers
        tied = [
            task
            for task in self.scheduler.unrunnable
            if MOVABLE in (task.annotations or {})
            and task.worker_restrictions
            and task.worker_restrictions.isdisjoint(known)
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
            if task.run_spec is None or getattr(task.run_spec, "func", None) is lost:
                return None
            if task.has_lost_dependencies or task.state == "erred":
                return None
            found[key] = task
            todo += [needed.key for needed in task.dependencies]
        return list(found.values())

    def receive(self, key: Any, nbytes: int, data: bytes, worker: str = "") -> None:
        """Take in what a worker has sent of a result; Dask adds the worker's address to its messages."""
        if key in self.scheduler.tasks:
            self._sent[key] = nbytes, data

    async def results(self, keys: Sequence[Any], seconds: float, stays: float) -> dict[str, Any]:
        """RPC: what workers have sent of the results of tasks, once all are done.

        Parameters
        ----------
        keys
            Of the tasks, which may arrive after this request.
        seconds
            Seconds to wait at most.
        stays
            If the results take more bytes, they stay on their workers.

        Returns
        -------
        ``"over"``: whether no task is left to wait for: all are done, or one has failed. If all are done,
        ``"sent"``: what was sent, in the order of the keys.
        """
        known, over = self.scheduler.tasks, asyncio.Event()
        states = {key: known[key].state for key in keys if key in known}
        awaited = {key for key in keys if states.get(key) != "memory"}
        if awaited and "erred" not in states.values():
            self._awaited[over] = awaited
            try:
                await asyncio.wait_for(over.wait(), seconds)
            except TimeoutError:
                return {"over": False}
            finally:
                del self._awaited[over]
        if any(key not in known or known[key].state != "memory" for key in keys):
            return {"over": True}
        sizes, sent = zip(*(self._sent[key] for key in keys), strict=True)
        if sum(sizes) > stays:
            for key in keys:
                self._keep(known[key])
        return {"over": True, "sent": sent}

    def _keep(self, task: TaskState) -> None:
        """Have a task fail that Dask runs again since its result was lost with its worker.

        It is a part of a run, and cannot run alone. What needs its result fails with the same error. So it
        needs no other task from now on, and any worker may run it.
        """
        place = min(worker.address for worker in task.who_has or [])
        task.run_spec = Task(task.key, lost, str(task.key), place)
        task.worker_restrictions = None
        needed, task.dependencies = task.dependencies, set()
        for other in needed:
            other.dependents.discard(task)
        task.has_lost_dependencies = False
        rest = [other.key for other in needed if not other.dependents and not other.who_wants]
        self.scheduler.transitions(dict.fromkeys(rest, "forgotten"), f"dgsuite-keep-{time()}")

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
        self._forget_groups()
        if keys := annotations.get(TOGETHER, {}).keys():
            self.queue.append({key: scheduler.tasks[key].worker_restrictions for key in keys})
            if len(self.queue) > 1:
                scheduler.set_restrictions(dict.fromkeys(keys, WAITING))

    def _forget_groups(self) -> None:
        """Have the span of dgsuite forget groups of tasks that the scheduler itself has forgotten."""
        extension = self.scheduler.extensions.get("spans")
        span = None if extension is None else extension.spans.get(SPAN)
        if span is None:
            return
        if len(span.groups) > MAX_GROUPS:
            known = self.scheduler.task_groups
            span.groups = {group for group in span.groups if known.get(group.name) is group}
        described = (span._metadata or {}).get("collections", [])
        if len(described) > MAX_GROUPS:
            described.clear()

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
        for over, awaited in self._awaited.items():
            if key in awaited and finish == "memory":
                awaited.remove(key)
                if not awaited:
                    over.set()
            elif key in awaited and finish in ("erred", "forgotten"):
                over.set()
        if finish in ("released", "forgotten"):
            self._sent.pop(key, None)
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


def lost(key: str, worker: str) -> NoReturn:
    """What is left of a task whose result stayed on a worker that is gone.

    Raises
    ------
    WorkerLost
        Always.
    """
    raise WorkerLost(
        f"{key}: the outputs of this run were lost with worker {worker}, on which they had stayed; run the "
        f"kernel again. ds.load() brings outputs to the client, and so does every run with Dask's setting "
        f"dgsuite.gather-limit: null",
        worker,
    )
