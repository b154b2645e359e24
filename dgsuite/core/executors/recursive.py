"""Recursive kernels in all styles: programs of rounds and of finishes that tasks spawn tasks under.

A worker's site has a queue of tasks. In style `serial` and `clocked` tasks advance on a clock: what
is spawned in a tick runs in the next, on all workers at once. In style `finish_async` each worker
runs what it has, the least depth first, and sends what goes to others at once.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from math import inf
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.core.engine.checkpoint import Fresh
from dgsuite.core.engine.log import Log, unite
from dgsuite.core.engine.program import Step, reduce_votes
from dgsuite.core.engine.progress import Report, Tell, seldom
from dgsuite.core.engine.run_spec import PLAIN, RunSpec
from dgsuite.core.exchange.mesh import Mesh
from dgsuite.core.exchange.termination import Lines
from dgsuite.core.executors.driver import at_once, drive
from dgsuite.core.recursion.delayed import DelayedSite
from dgsuite.core.recursion.site import RecursiveSite
from dgsuite.kernels.bsp import Kernel, Vote
from dgsuite.partition.clusters.cluster import Cluster

BREATH = 1e-3
"""Seconds of work between checks for arrived messages."""


class Tasks(ABC):
    """An exchange (see `dgsuite.core.executors.driver.Exchange`) that also runs finishes.

    Parameters
    ----------
    mesh
        Leads to the other sites; None if there are none.
    pool
        Where clusters run side by side, if anywhere.
    """

    ordered = True

    def __init__(
        self, site: RecursiveSite, mesh: Mesh | None, pool: Executor | None, tell: Report | None
    ) -> None:
        self.site = site
        self.mesh = mesh
        self.pool = pool
        self.tell = tell

    @property
    def wire(self) -> int:
        return 0 if self.mesh is None else self.mesh.wire

    async def finish(self, step: Step) -> Vote:
        """Run a finish to its end; the votes of all sites."""
        begin, wire, moment = perf_counter(), self.wire, self.site.moment(step)
        vote = await self._run(step)
        entry = self.site.log.entry(moment, self.site.new_tally)
        entry.tally.wire += self.wire - wire
        entry.exchange += max(perf_counter() - begin - self.site.busy, 0.0)
        return vote

    @abstractmethod
    async def turn(self) -> None: ...

    @abstractmethod
    async def exchange(
        self, number: int, parcels: Mapping[int, Any], vote: Vote
    ) -> tuple[dict[int, Any], Vote]: ...

    @abstractmethod
    async def _run(self, step: Step) -> Vote:
        """The same, without what is logged of it."""


class Clock(Tasks):
    """Tasks advance on a clock, with a barrier a tick where there are other sites."""

    def __init__(self, *where: Any) -> None:
        super().__init__(*where)
        self._number = -1

    async def turn(self) -> None:
        if self.mesh is not None:
            await self.mesh.turn()

    async def exchange(
        self, number: int, parcels: Mapping[int, Any], vote: Vote
    ) -> tuple[dict[int, Any], Vote]:
        return await self._swap(parcels, vote, reduce_votes)

    async def _swap(
        self, parcels: Mapping[int, Any], said: Any, combine: Callable[[Sequence[Any]], Any]
    ) -> tuple[dict[int, Any], Any]:
        """Swap parcels with all other sites; ticks and phases are numbered alike."""
        if self.mesh is None:
            return {}, said
        self._number += 1
        return await self.mesh.exchange(self._number, parcels, said, combine)

    async def _run(self, step: Step) -> Vote:
        site = self.site
        await self.turn()
        out = site.launch(step.turn, step.phase, self.pool)
        while True:
            found, (due, vote) = await self._swap(out, (site.due(out), site.vote), _ticks)
            site.accept(found.values())
            if due == inf:
                return vote
            await self.turn()
            out = site.tick(due, self.pool)
            if self.tell is not None:
                self.tell(site.progress)


class Free(Tasks):
    """Tasks run as they come."""

    def __init__(self, *where: Any) -> None:
        super().__init__(*where)
        assert self.mesh is not None
        self.lines = Lines(self.mesh)

    async def turn(self) -> None:
        return

    async def exchange(
        self, number: int, parcels: Mapping[int, Any], vote: Vote
    ) -> tuple[dict[int, Any], Vote]:
        return await self.lines.mesh.exchange(number, parcels, vote)

    async def _run(self, step: Step) -> Vote:
        site, lines = self.site, self.lines
        lines.begin()
        out = site.launch(step.turn, step.phase, self.pool)
        breath = perf_counter()
        while True:
            idle = None if site.queue else site.vote
            if out or idle is not None:
                await lines.post(out, idle)
            if idle is not None:
                if (votes := lines.over()) is not None:
                    return reduce_votes(votes)
                await lines.news()
            elif perf_counter() - breath > BREATH:
                await asyncio.sleep(0)
                breath = perf_counter()
            site.accept(lines.take())
            out = site.next(self.pool) if site.queue else {}
            if self.tell is not None:
                self.tell(site.progress)


def _ticks(said: Sequence[tuple[float, Vote]]) -> tuple[float, Vote]:
    """What several sites say at the end of a tick: when there is more to do, and their votes."""
    return min(due for due, _ in said), reduce_votes([vote for _, vote in said])


async def on_clock(
    site: RecursiveSite, mesh: Mesh | None, pool: Any, tell: Report | None, kept: Fresh
) -> None:
    clock = Clock(site, mesh, pool, tell)
    await drive(site, clock, pool, tell, kept, clock.finish)


async def freely(
    site: RecursiveSite, mesh: Mesh, pool: Any, tell: Report | None, kept: Fresh
) -> None:
    free = Free(site, mesh, pool, tell)
    await drive(site, free, pool, tell, kept, free.finish)


def serial(
    kernel: Kernel,
    clusters: Sequence[Cluster],
    spec: RunSpec = PLAIN,
    tell: Tell | None = None,
) -> tuple[dict[str, NDArray], Log]:
    """Run a recursive kernel on clusters of this process."""
    kind = RecursiveSite if spec.delays is None else DelayedSite
    site = kind(kernel, clusters, np.array([0, len(clusters)]), 0, spec)
    site.warm()
    at_once(on_clock(site, None, None, tell and seldom(tell), Fresh()))
    return site.outputs(), unite([site.log])
