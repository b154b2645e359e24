"""Results of runs, on their way from the workers over the scheduler to the client.

A worker sends what a client is to know of a result together with the message that its task is done. So the
client gets it with the answer to one request, and the scheduler need not ask the workers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import time
from typing import Any, NamedTuple, NoReturn

from dask._task_spec import Task
from distributed import Scheduler
from distributed.scheduler import TaskState

from dgsuite.base.errors import WorkerLost

OP = "dgsuite-result"
"""Of a worker's message about a result: key, and what is in `Sent`."""


class Sent(NamedTuple):
    """What a worker sent of a result.

    Attributes
    ----------
    nbytes
        Of its arrays.
    data
        What the client is to know, pickled.
    """

    nbytes: int
    data: bytes


class Awaited(NamedTuple):
    """Tasks that a client waits for.

    Attributes
    ----------
    keys
        Of those that have no result yet.
    over
        Set when all have one, or one never will.
    """

    keys: set[Any]
    over: asyncio.Event


class Results:
    """The part of `dgsuite.partition.client.scheduler.DgsuiteSchedulerPlugin` that answers for results."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self._awaited: list[Awaited] = []
        self._sent: dict[Any, Sent] = {}
        scheduler.handlers["dgsuite_results"] = self.wait
        scheduler.stream_handlers[OP] = self.receive

    def receive(self, key: Any, nbytes: int, data: bytes, worker: str = "") -> None:
        """Take in what a worker has sent of a result; Dask adds the worker's address to its messages."""
        if key in self.scheduler.tasks:
            self._sent[key] = Sent(nbytes, data)

    async def wait(self, keys: Sequence[Any], seconds: float, stays: float) -> dict[str, Any]:
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
        found = [self.scheduler.tasks.get(key) for key in keys]
        states = {
            key: task.state for key, task in zip(keys, found, strict=True) if task is not None
        }
        awaited = Awaited({k for k in keys if states.get(k) != "memory"}, asyncio.Event())
        waits = awaited.keys and "erred" not in states.values()
        if waits and not await self._is_over(awaited, seconds):
            return {"over": False}
        done = [task for key in keys if (task := self.scheduler.tasks.get(key)) is not None]
        if len(done) < len(keys) or any(task.state != "memory" for task in done):
            return {"over": True}
        sent = [self._sent[key] for key in keys]
        if sum(each.nbytes for each in sent) > stays:
            for task in done:
                self._keep(task)
        return {"over": True, "sent": [each.data for each in sent]}

    async def _is_over(self, awaited: Awaited, seconds: float) -> bool:
        """Wait for tasks; returns False if there is something to wait for after some seconds."""
        self._awaited.append(awaited)
        try:
            await asyncio.wait_for(awaited.over.wait(), seconds)
        except TimeoutError:
            return False
        finally:
            self._awaited.remove(awaited)
        return True

    def transition(self, key: Any, finish: str) -> None:
        """Of the plugin: a task has another state."""
        for awaited in self._awaited:
            if key not in awaited.keys:
                continue
            if finish == "memory":
                awaited.keys.discard(key)
            if finish in ("erred", "forgotten") or not awaited.keys:
                awaited.over.set()
        if finish in ("released", "forgotten"):
            self._sent.pop(key, None)

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


def may_run_again(task: TaskState) -> bool:
    """Whether a task has a function that makes its result again."""
    return task.run_spec is not None and getattr(task.run_spec, "func", None) is not lost
