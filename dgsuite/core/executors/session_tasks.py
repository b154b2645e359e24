"""The tasks of a session: they stay on their workers, and a run needs no new ones.

A run of style "clocked" sends its plan to them through the scheduler, which has no other part in it. They are
started again where they have ended: because others need the workers, no run came for some time, or a worker
was lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, NamedTuple

from distributed import Client, Future
from distributed.protocol.pickle import dumps, loads

from dgsuite.base.errors import RunError
from dgsuite.core.workers import placement as tasks
from dgsuite.core.workers import plugin as worker
from dgsuite.core.workers.facts import Facts, Result
from dgsuite.core.workers.orders import Order
from dgsuite.partition.client.results import LARGE, name_of
from dgsuite.partition.client.scheduler import SESSION
from dgsuite.partition.client.session import POLL_SECONDS, Session
from dgsuite.partition.client.tasks import pinned
from dgsuite.partition.client.waiting import Watch, unfinished
from dgsuite.partition.client.workers import KNOWN, ordered_states

if TYPE_CHECKING:
    from dgsuite.core.executors.clocked import Plan

TRIES = 3
"""Times that a run finds that the tasks have ended, at most."""

SETTLING = 0.2
"""Seconds for the client to hear how tasks have ended."""

CURRENT: ContextVar[SessionTasks | None] = ContextVar("session tasks", default=None)
"""The tasks that runs of this thread use."""


class Served(NamedTuple):
    """What came of a run: results, or if they are large, facts of them and futures of where they are held."""

    results: list[Any] | None
    facts: list[Facts] | None
    futures: list[Future]


class SessionTasks:
    """Tasks that run one plan after another.

    Parameters
    ----------
    client
        Whose workers have them.
    idle
        Seconds after which they end if there is nothing to run.
    """

    def __init__(self, client: Client, idle: float) -> None:
        self.client = client
        self.idle = idle
        self._where: Any = None
        self._states: dict[str, dict[str, Any]] | None = None
        self._groups: Sequence[Any] = ()
        self._id = ""
        self._keys: list[str] = []
        self._futures: list[Future] = []
        self._number = 0

    @property
    def are_there(self) -> bool:
        """Whether tasks have been started and not ended by this process."""
        return bool(self._futures)

    @contextmanager
    def used(self) -> Iterator[None]:
        """Runs of this thread use them."""
        tokens = CURRENT.set(self), KNOWN.set(self._states)
        try:
            yield
        finally:
            CURRENT.reset(tokens[0])
            KNOWN.reset(tokens[1])

    def know(self, watch: Watch) -> None:
        """Note which process each worker of a run is: known while the tasks are there, else asked for."""
        if (known := KNOWN.get()) is None:
            watch.check_workers()
        else:
            watch.epochs.update({place: known[place]["epoch"] for place in watch.workers})

    def run(self, plan: Plan, groups: Sequence[Any], watch: Watch, stays: float) -> Served:
        """Run a plan.

        Parameters
        ----------
        groups
            The clusters of each worker, from `dgsuite.core.workers.placement.place`.
        stays
            If the results take more bytes, they stay on their workers.

        Raises
        ------
        DgsuiteError
            See `dgsuite.core.workers.placement.ended`.
        """
        watch.key_part = self._id or watch.key_part
        try:
            for _ in range(TRIES):
                sent = self._sent(plan, groups, watch, hold=stays < LARGE * len(plan.places))
                if sent is not None:
                    return self._served(sent, plan, watch, stays)
                self._raise(watch)
                self.release()
        except BaseException:
            self.release()
            raise
        raise RunError(f"{watch.doing}: the tasks of its session have ended {TRIES} times")

    def release(self) -> None:
        """Have the tasks end."""
        self._states = None
        KNOWN.set(None)
        futures, self._futures = self._futures, []
        if futures:
            tasks.give_up(self.client, futures)
            Session.of(self.client).end_turn(self._id)
        self._where, self._groups = None, ()

    def _sent(
        self, plan: Plan, groups: Sequence[Any], watch: Watch, hold: bool
    ) -> list[dict[str, Any]] | None:
        """What the workers have sent of the results; None if a task has ended.

        Parameters
        ----------
        hold
            Whether they are to hold small results, too.
        """
        where = (tuple(plan.places), tuple(plan.epochs), [_identity(group) for group in groups])
        self._number += 1
        pickled: bytes = dumps((plan, hold))
        order: bytes | None = pickled
        if where != self._where:
            self.release()
            self._start(plan, groups, watch, pickled)
            self._where, self._groups = where, groups
            self._states = ordered_states(self.client)
            order = None  # the tasks have it

        def over() -> dict[str, Any] | None:
            nonlocal order
            request = {"keys": self._keys, "number": self._number, "plan": order}
            answer: dict[str, Any] = watch.ask(
                "dgsuite_order", wait=POLL_SECONDS, seconds=POLL_SECONDS, **request
            )
            order = None
            return answer if answer["over"] else None

        return watch.until(over, self._futures).get("sent")

    def _start(self, plan: Plan, groups: Sequence[Any], watch: Watch, pickled: bytes) -> None:
        """Start the tasks, with their first order."""
        self._id = watch.key_part = f"{SESSION}{tasks.new_run()}"
        self._keys = [f"{self._id}-{rank}" for rank in range(len(plan.places))]
        with tasks.turn(watch, self._keys):
            self._futures = tasks.submit(
                self.client,
                {
                    key: (place, partial(_serve, rank, self.idle, self._number, pickled), group)
                    for rank, (key, place, group) in enumerate(
                        zip(self._keys, plan.places, groups, strict=True)
                    )
                },
            )

    def _raise(self, watch: Watch) -> None:
        """Raise the error of a task that has failed, or whose worker is gone."""
        watch.check_workers()
        deadline = monotonic() + SETTLING
        while monotonic() < deadline and unfinished(self._futures):
            sleep(0.01)
        if any(future.status == "error" for future in self._futures):
            raise tasks.cause(self._futures, watch)

    def _served(self, sent: list[dict[str, Any]], plan: Plan, watch: Watch, stays: float) -> Served:
        """Results, from what the workers have sent of them."""
        large = sum(each["nbytes"] for each in sent) > stays
        if not large and all(each["data"] is not None for each in sent):
            return Served([loads(each["data"]) for each in sent], None, [])
        names = [name_of(key, self._number) for key in self._keys]
        futures = [
            pinned(self.client, place, _taken, name)
            for place, name in zip(plan.places, names, strict=True)
        ]
        if large and all(each["facts"] is not None for each in sent):
            return Served(None, [loads(each["facts"]) for each in sent], futures)
        ended = tasks.ended(futures, watch, stays)
        return Served(ended.results, ended.facts, futures)


def _identity(group: Any) -> Any:
    """What tells the clusters of a worker from others."""
    if isinstance(group, Future):
        return group.key
    return tuple(part.key if isinstance(part, Future) else id(part) for part in group)


def _serve(rank: int, idle: float, number: int, plan: bytes, clusters: Any) -> None:
    """One worker's part of a session."""
    from dgsuite.core.executors.clocked import site_results

    key, plugin = worker.task_key(), worker.plugin()

    def run(order: Order) -> None:
        made: Plan
        made, hold = loads(order.plan)
        try:
            result: Result = site_results(made, rank, clusters, key, plugin)
        finally:
            plugin.leave(key, made.run_id)
        plugin.answer(order.name, result, hold)

    plugin.orders.serve(key, Order(name_of(key, number), plan), idle, run)


def _taken(name: str) -> Result:
    """A result that a worker holds, as that of a task."""
    return worker.plugin().orders.take(name)
