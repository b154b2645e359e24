"""A site on which tasks spawn tasks whose messages take time: a simulation of events, tick by tick.

All sites run the tasks of a tick before any of a later one, and agree on which tick is next. Tasks of a tick
run in the order of their depths and names; what these spawn without a delay runs after all of them, in the
same tick. A task that is spawned takes time to arrive, and so does the notice that a task has ended, from its
node to that of the finish. Finishes of the program and rounds between them take none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from heapq import heappop, heappush, heapreplace
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.engine.program import Step
from dgsuite.core.engine.run_spec import PLAIN, RunSpec
from dgsuite.core.engine.unicasts import UnicastBatch
from dgsuite.core.recursion.site import Batch, Bundle, RecursiveSite, tasks_of
from dgsuite.kernels.bsp import Kernel
from dgsuite.partition.clusters.cluster import Cluster

ARRIVAL = "arrival_tick"
"""Field of tasks on their way: when they arrive."""

NARROW = 1 << 16
"""Numbers below are sorted in linear time."""


class Flight(NamedTuple):
    """Tasks that were spawned together, by the tick at which they arrive: those of ``ticks[i]`` are
    ``starts[i]`` to ``starts[i + 1]`` of the batch.
    """

    ticks: NDArray[np.int64]
    starts: NDArray[np.int64]
    batch: Batch


class Calendar:
    """Tasks on their way to the clusters of a site.

    What is spawned together is sorted by tick once, and stays one batch: the calendar holds no object for
    each tick or message.

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
        self._number = 0
        self._heap: list[tuple[int, int, int, Flight]] = []

    @property
    def due(self) -> float:
        """Tick at which the next tasks arrive; infinite if there are none."""
        return self._heap[0][0] if self._heap else inf

    def put(self, batch: Batch) -> None:
        """Take in tasks that were spawned; `ARRIVAL` says when they arrive."""
        flight = _sorted(batch)
        heappush(self._heap, (int(flight.ticks[0]), self._number, 0, flight))
        self._number += 1

    def advance(self, tick: int) -> Iterator[Batch]:
        """Go on to a tick; the tasks that arrive then, in the order in which they were spawned."""
        if tick > self.now:
            self.now = tick
            self.ticks.append(tick)
        heap = self._heap
        while heap and heap[0][0] == tick:
            _, number, at, flight = heap[0]
            if at + 1 < len(flight.ticks):
                heapreplace(heap, (int(flight.ticks[at + 1]), number, at + 1, flight))
            else:
                heappop(heap)
            part = slice(flight.starts[at], flight.starts[at + 1])
            depth, task, cluster, letters = flight.batch
            yield Batch(depth, task, cluster, letters.take(part))


def _sorted(batch: Batch) -> Flight:
    """Tasks by the tick at which they arrive."""
    letters = batch.letters
    fields = {name: values for name, values in letters.fields.items() if name != ARRIVAL}
    ticks, letters = letters.fields[ARRIVAL], letters._replace(fields=fields)
    first = ticks.min()
    after = ticks - first
    last = after.max()
    if last == 0:
        heads = np.zeros(1, np.int64)
    else:
        if last < NARROW:
            after = after.astype(np.uint16)
        order = np.argsort(after, kind="stable")
        after, letters = after[order], letters.take(order)
        heads = np.concatenate([[0], np.flatnonzero(after[1:] != after[:-1]) + 1])
    starts = np.append(heads, len(ticks))
    return Flight(first + after[heads].astype(np.int64), starts, batch._replace(letters=letters))


class DelayedSite(RecursiveSite):
    """A `RecursiveSite` with a calendar of what is on its way.

    Attributes
    ----------
    calendar
        Tasks and notices that have not arrived.
    delays
        How long they take.
    """

    combines_early = False  # only what arrives in the same tick is combined

    def __init__(
        self,
        kernel: Kernel,
        clusters: Sequence[Cluster],
        bounds: NDArray,
        me: int,
        spec: RunSpec = PLAIN,
    ) -> None:
        super().__init__(kernel, clusters, bounds, me, spec)
        assert spec.delays is not None
        self.delays = spec.delays.of_run(kernel.seed)
        self.calendar = Calendar()
        for cluster in clusters:
            if (problem := self.delays.wrong(cluster)) is not None:
                raise InputError(f"kernel {kernel.name!r}: {problem}")

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

    def tick(self, due: float, pool: Executor | None = None) -> dict[int, Bundle]:
        """Go on to a tick, and run all tasks that are there, and none that these spawn."""
        for batch in self.calendar.advance(int(due)):
            self.put(batch)
        return super().tick(due, pool)

    def outputs(self) -> dict[str, Any]:
        self.log.ticks = self.calendar.ticks
        return super().outputs()

    def _send(self, k: int, depth: int, task: str, letters: UnicastBatch, owner: NDArray) -> None:
        if not len(owner):
            return
        now = self.calendar.now
        assert letters.src is not None
        try:
            waits = self.delays.ticks(self.clusters[k], letters.src, letters.dst, now)
        except InputError as error:
            raise self.fault(Step(depth, task, False, self.turn), k, str(error)) from None
        fields = {**letters.fields, ARRIVAL: now + waits}
        super()._send(k, depth, task, letters._replace(fields=fields), owner)
