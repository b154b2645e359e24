"""A site on which tasks take time to arrive: a simulation of events, tick by tick.

All sites run the tasks of a tick before any of a later one, and agree on which tick is next. Tasks of a tick
run in the order of their depths and names. A task that is spawned takes time to arrive, and so does the
notice that a task has ended, from its node to that of the finish. Both travel as messages of event-driven
kernels do, by a `dgsuite.kernels.events.channel.Channel`. Finishes of the program and rounds between them
take no time.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappop, heappush
from math import inf
from typing import Any

from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.base.pairs import pair_key
from dgsuite.core.engine.program import Step
from dgsuite.core.engine.unicasts import UnicastBatch
from dgsuite.core.recursion.site import ENDED, HOME, SLOT, Batch, Bundle, RecursiveSite, tasks_of
from dgsuite.kernels import bsp
from dgsuite.kernels.events.channel import Ahead
from dgsuite.kernels.lab.delays import by_tick

ARRIVAL = "arrival_tick"
"""Field of tasks on their way: when they arrive."""


class Calendar:
    """Tasks on their way to the clusters of a site.

    What is spawned together is sorted by tick once: there is no object for a message.

    Attributes
    ----------
    now
        The current tick, the same on all sites.
    ticks
        The ticks so far at which something happened, the current one included: the rounds of the run.
    """

    def __init__(self) -> None:
        self.now = 0
        self.ticks = [0]
        self._coming: list[int] = []  # ticks at which tasks arrive, as a heap
        self._batches: dict[int, list[Batch]] = {}

    @property
    def due(self) -> float:
        """Tick at which the next tasks arrive; infinite if there are none."""
        return self._coming[0] if self._coming else inf

    def put(self, batch: Batch) -> None:
        """Take in tasks that were spawned; `ARRIVAL` says when they arrive."""
        fields = dict(batch.letters.fields)
        order, parts = by_tick(fields.pop(ARRIVAL))
        letters = batch.letters._replace(fields=fields).take(order)
        for tick, part in parts:
            if tick not in self._batches:
                heappush(self._coming, tick)
            self._batches.setdefault(tick, []).append(batch._replace(letters=letters.take(part)))

    def advance(self, tick: int) -> list[Batch]:
        """Go on to a tick; the tasks that arrive then, in the order in which they were spawned."""
        if tick > self.now:
            self.now = tick
            self.ticks.append(tick)
        if self.due == tick:
            heappop(self._coming)
        return self._batches.pop(tick, [])


class LateSite(RecursiveSite):
    """A `RecursiveSite` with a calendar of what is on its way.

    Attributes
    ----------
    calendar
        Tasks and notices that have not arrived.
    channel
        How they travel.
    """

    combines_early = False  # only what arrives in the same tick is combined

    def __init__(self, *parts: Any, **options: Any) -> None:
        super().__init__(*parts, **options)
        assert self.spec.channel is not None
        self.channel = self.spec.channel
        self.calendar = Calendar()
        self._ahead = [Ahead() for _ in self.clusters]
        for cluster in self.clusters:
            if (problem := self.channel.wrong(cluster)) is not None:
                raise InputError(f"kernel {self.kernel.name!r}: {problem}")

    def timed(self, step: Step) -> Step:
        """A step as the network has it: its round is the current tick. Tasks of a finish and tick are one."""
        now = self.calendar.now
        own: dict[str, Any] = {"turn": now, "position": -1 - step.turn} if step.launches else {}
        return step._replace(round=now, **own)

    def logged(self, step: Step) -> Step:
        """A step as the log has it: its round is the current tick."""
        return step._replace(round=len(self.calendar.ticks) - 1)

    def arrive(self, batch: Batch) -> None:
        """Note when tasks arrive."""
        self.calendar.put(batch)

    def due(self, out: Mapping[int, Bundle]) -> float:
        """Tick of the next tasks, here or in `out`."""
        if self.queue:
            return self.calendar.now
        leaving = [batch for bundle in out.values() for batch in tasks_of(bundle)]
        return min(self.calendar.due, *(int(b.letters.fields[ARRIVAL].min()) for b in leaving), inf)

    def tick(self, due: float) -> dict[int, Bundle]:
        """Go on to a tick, and run all tasks that are there, and none that these spawn."""
        arrived, network = self.calendar.advance(int(due)), self.disturbed
        step = self.timed(Step(0, "", False, self.turn, launches=True))
        if network is not None:
            network.begin(step)
            for k, state in enumerate(self.states):
                network.before(step, k, state)
        for batch in arrived:
            self.put(batch)
        out = super().tick(due)
        if network is not None:
            for k, state in enumerate(self.states):
                network.after(step, k, state, None)
        return out

    def put(self, batch: Batch) -> None:
        """Queue tasks; those of nodes that are down have ended, and their finishes are told."""
        if self.disturbed is not None and batch.task != ENDED:
            up = self.disturbed.alive(batch.letters.dst)
            lost, k = batch.letters.take(~up), batch.cluster - self.first_cluster
            if HOME in lost.fields:
                at = self.clusters[k].partition.position(lost.dst) - self.clusters[k].first
                self._tell(k, at, lost.fields[HOME], lost.fields[SLOT])
            batch = batch._replace(letters=batch.letters.take(up))
        if len(batch.letters.dst):
            super().put(batch)

    def deliver(self, batches: Mapping[int, Any]) -> None:
        super().deliver(batches)
        if self.disturbed is not None:
            self.tally.note(self.disturbed.strikes())

    def outputs(self) -> dict[str, Any]:
        self.log.ticks = self.calendar.ticks
        return super().outputs()

    def _send(self, k: int, depth: int, task: str, letters: UnicastBatch, owner: NDArray) -> None:
        if not len(owner):
            return
        cluster, now = self.clusters[k], self.calendar.now
        assert letters.src is not None
        by = cluster.partition.position(letters.src) - cluster.first
        sent = bsp.Unicast(letters.dst, by, None, {**letters.fields})
        try:
            due = self.channel.due(cluster, self.kernel.seed, now, sent, single=True)
        except InputError as error:
            raise self.fault(Step(depth, task, False, self.turn), k, str(error)) from None
        if self.channel.fifo:
            pairs = pair_key(letters.src, letters.dst, cluster.n)
            due = self._ahead[k].enter(self.channel, now, pairs, due)
        super()._send(
            k, depth, task, letters._replace(fields={**letters.fields, ARRIVAL: due}), owner
        )
