"""A site on which tasks spawn tasks whose messages take time: a simulation of events, tick by tick.

All sites run the tasks of a tick before any of a later one, and agree on which tick is next. Tasks of a tick
run in the order of their depths and names; what these spawn without a delay runs after all of them, in the
same tick. A task that is spawned takes time to arrive, and so does the notice that a task has ended, from its
node to that of the finish. Finishes of the program and rounds between them take none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from math import inf
from typing import Any

from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.engine.program import Step
from dgsuite.core.engine.run_spec import PLAIN, RunSpec
from dgsuite.core.engine.unicasts import UnicastBatch
from dgsuite.core.recursion.batches import Batch, Bundle, tasks_of
from dgsuite.core.recursion.calendar import ARRIVAL, Calendar
from dgsuite.core.recursion.site import RecursiveSite
from dgsuite.kernels.bsp import Kernel
from dgsuite.partition.clusters.cluster import Cluster


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
