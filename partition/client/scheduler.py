"""What runs on Dask's scheduler: reports on workers and tasks, and the turns of runs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import time
from typing import Any, NamedTuple

from distributed import Scheduler, SchedulerPlugin

NAME = "dgsuite"

UNDER_WAY = ("waiting", "queued", "processing")
"""States of a task that the scheduler means to have done."""


class Turn(NamedTuple):
    """A run's place in the queue for the workers."""

    run: str
    client: str
    keys: Sequence[str]
    """Of the tasks that the run will have, or has."""


class Overseer(SchedulerPlugin):
    """Answers what a client asks while it waits, and lets runs that need all workers at once take turns.

    A turn ends when the client says so or its connection ends. It also ends when the client has
    given no sign of life for some time and none of its run's tasks are under way.
    """

    name = NAME
    idempotent = True

    async def start(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self.turns: list[Turn] = []
        self._changed = asyncio.Event()
        scheduler.handlers["dgsuite_workers"] = self.workers
        scheduler.handlers["dgsuite_take_turn"] = self.take_turn
        scheduler.handlers["dgsuite_end_turn"] = self.end_turn

    def workers(self, keys: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
        """RPC: the state of each worker, by address.

        Parameters
        ----------
        keys
            Of tasks that the caller waits for.
        """
        now = time()
        found = {}
        for address, state in self.scheduler.workers.items():
            found[address] = {
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
                found[task.processing_on.address]["awaited"] = True
        return found

    async def take_turn(
        self, run: str, client: str, keys: Sequence[str], seconds: float, bound: float
    ) -> dict[str, Any]:
        """RPC: join the queue, and wait for the turn.

        Parameters
        ----------
        seconds
            To wait at most.
        bound
            Seconds without a sign of life after which a client is taken for lost.

        Returns
        -------
        Nothing if it is the caller's turn; else whose it is.
        """
        mine = Turn(run, client, tuple(keys))
        if client in self.scheduler.clients and mine not in self.turns:
            self.turns.append(mine)
        deadline = time() + seconds
        while self.turns and self.turns[0] != mine:
            if self._abandoned(self.turns[0], bound):
                self._drop(self.turns[0])
                continue
            try:
                await asyncio.wait_for(self._changed.wait(), max(0.0, deadline - time()))
            except TimeoutError:
                first = self.turns[0]
                return {"run": first.run, "client": first.client, "silent": self._silent(first)}
        return {}

    def end_turn(self, run: str) -> None:
        """RPC: leave the queue, with or without having had the turn."""
        for turn in [turn for turn in self.turns if turn.run == run]:
            self._drop(turn)

    def remove_client(self, scheduler: Scheduler, client: str) -> None:
        for turn in [turn for turn in self.turns if turn.client == client]:
            self._drop(turn)

    def _drop(self, turn: Turn) -> None:
        self.turns.remove(turn)
        self._changed.set()
        self._changed = asyncio.Event()

    def _silent(self, turn: Turn) -> float:
        """Seconds since the client of a turn gave a sign of life."""
        return time() - self.scheduler.clients[turn.client].last_seen

    def _abandoned(self, turn: Turn, bound: float) -> bool:
        if self._silent(turn) < bound:
            return False
        tasks = [self.scheduler.tasks.get(key) for key in turn.keys]
        return not any(task is not None and task.state in UNDER_WAY for task in tasks)
