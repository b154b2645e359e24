"""Tasks of a session on their worker: what they are to run next, and results that no client has taken yet."""

from __future__ import annotations

from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from distributed import Worker, rejoin, secede

from dgsuite.base.errors import WorkerLost
from dgsuite.core.workers.facts import Result
from dgsuite.partition.client.results import ORDER

GIVEN_UP = ("cancelled", "released", "forgotten")
"""States of a task on a worker whose key the scheduler has forgotten."""

ENDED = (*GIVEN_UP, "memory", "error")
"""States of a task that takes no more orders."""

HELD = 60.0
"""Seconds for which a result is held that no task has taken."""


class Order(NamedTuple):
    """What a task of a session is to run.

    Attributes
    ----------
    name
        Under which the result is sent.
    plan
        Of the run, pickled.
    """

    name: str
    plan: bytes


class Orders:
    """Orders for the tasks of sessions on a worker, by task key, and results that are too large to be sent.

    A task that has nothing to run has left the worker's thread pool, so that other tasks run meanwhile.

    Parameters
    ----------
    worker
        Whose tasks they are.
    """

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._queues: dict[str, SimpleQueue[Order | None]] = {}
        self._held: dict[str, Result] = {}
        worker.stream_handlers[ORDER] = self.receive

    def receive(self, key: str, name: str = "", plan: bytes | None = None, **_: Any) -> None:
        """An order for a task; without a plan, to end. On the worker's loop.

        One that comes when the task has ended is dropped: who sent it hears of the end.
        """
        task = self._worker.state.tasks.get(key)
        if task is not None and task.state not in ENDED:
            self._queue(key).put(None if plan is None else Order(name, plan))

    def _queue(self, key: str) -> SimpleQueue[Order | None]:
        return self._queues.setdefault(key, SimpleQueue())

    def serve(self, key: str, first: Order, seconds: float, run: Callable[[Order], None]) -> None:
        """Run the orders of the calling task, until one says to end or none has come for some seconds."""
        orders = self._queue(key)
        order: Order | None = first
        try:
            while order is not None:
                run(order)
                secede()
                order = orders.get(timeout=seconds)
                if order is not None:
                    rejoin()
        except Empty:
            return
        finally:
            self._queues.pop(key, None)

    def end(self, key: str) -> None:
        """Have a task end; nothing happens if there is none. Thread-safe."""
        if (orders := self._queues.pop(key, None)) is not None:
            orders.put(None)

    def end_all(self) -> None:
        """Have all tasks end. On the worker's loop."""
        for key in list(self._queues):
            self.end(key)

    def hold(self, name: str, result: Result) -> None:
        """Hold a result until a task takes it, for some time. On the worker's loop."""
        self._held[name] = result
        self._worker.loop.call_later(HELD, self._held.pop, name, None)

    def take(self, name: str) -> Result:
        """A result that is held. Thread-safe.

        Raises
        ------
        WorkerLost
            This worker does not hold it: another one did, or its time is over.
        """
        found = self._held.pop(name, None)
        if found is None:
            raise WorkerLost(
                f"{name}: the outputs of this run were lost with the worker on which they had stayed; run "
                f"the kernel again",
                self._worker.address,
            )
        return found
