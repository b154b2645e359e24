"""Recursive kernels in all styles: programs of rounds and of finishes that tasks spawn tasks under.

A worker's site has a queue of tasks. In style `serial` and `clocked` tasks advance on a clock: what
is spawned in a tick runs in the next, on all workers at once. In style `finish_async` each worker
runs what it has, the least depth first, and sends what goes to others at once.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from time import perf_counter
from typing import Any, Protocol

import numpy as np
from distributed import Client
from numpy.typing import NDArray

from dgsuite.core.engine.checkpoint import AGAIN
from dgsuite.core.engine.checkpointed import Fresh, begun, is_marked, marked
from dgsuite.core.engine.log import Log
from dgsuite.core.engine.program import Step, reduce_votes, turns
from dgsuite.core.engine.progress import Report, seldom
from dgsuite.core.engine.run_settings import DEFAULT, RunSettings
from dgsuite.core.exchange.mesh import Mesh
from dgsuite.core.exchange.termination import Lines
from dgsuite.core.executors import clocked
from dgsuite.core.executors.driver import at_once
from dgsuite.core.recursion.checkpoint import KeptTasks
from dgsuite.core.recursion.ledger import Ledger, unite
from dgsuite.core.recursion.site import RecursiveSite
from dgsuite.kernels.bsp import Finish, Kernel, Vote
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.graph import Graph

BREATH = 1e-3
"""Seconds of work between checks for arrived messages."""


class Pace(Protocol):
    """When what is spawned runs, and how parcels travel."""

    pool: Executor | None
    """Where clusters run side by side, if anywhere."""

    @property
    def wire(self) -> int:
        """Bytes sent to other workers so far."""
        ...

    async def turn(self) -> None:
        """Wait until this site may compute."""

    async def exchange(self, parcels: dict[int, Any], vote: Vote) -> tuple[dict, Vote]:
        """Swap the parcels of a phase with all other sites; the votes of all."""
        ...

    async def finish(self, turn: int, name: str) -> Vote:
        """Run a finish to its end; the votes of all sites."""
        ...


class Clock:
    """Tasks advance on a clock, with a barrier a tick where there are other sites."""

    def __init__(
        self,
        site: RecursiveSite,
        mesh: Mesh | None,
        pool: Executor | None,
        tell: Report | None,
        kept: Fresh,
    ) -> None:
        self.site = site
        self.mesh = mesh
        self.pool = pool
        self.tell = tell
        self.kept = kept
        self.wire = 0
        self._number = -1

    async def turn(self) -> None:
        if self.mesh is not None:
            await self.mesh.turn()

    async def exchange(
        self,
        parcels: dict[int, Any],
        vote: Any,
        combine: Callable[[Sequence[Any]], Any] = reduce_votes,
    ) -> tuple[dict, Any]:
        if self.mesh is None:
            return {}, vote
        self._number += 1
        found = await self.mesh.exchange(self._number, parcels, vote, combine)
        self.wire += self.mesh.wire
        return found

    async def finish(self, turn: int, name: str) -> Vote:
        site = self.site
        await self.turn()
        out = {} if site.amid == turn else site.launch(turn, name, self.pool)
        while True:
            more, vote = bool(out or site.queue), site.vote
            if self.kept.due(Step(site.ticks, name, True, turn)):
                vote = marked(vote)
            found, (more, vote) = await self.exchange(out, (more, vote), _ticks)
            site.accept(found.values())
            if not more:
                return vote
            if is_marked(vote):
                self.kept.write()
            await self.turn()
            out = site.tick(self.pool)
            if self.tell is not None:
                self.tell(site.progress)


class Free:
    """Tasks run as they come."""

    def __init__(
        self, site: RecursiveSite, mesh: Mesh, pool: Executor | None, tell: Report | None
    ) -> None:
        self.site = site
        self.pool = pool
        self.tell = tell
        self.lines = Lines(mesh)

    @property
    def wire(self) -> int:
        return self.lines.wire

    async def turn(self) -> None:
        return

    async def exchange(self, parcels: dict[int, Any], vote: Vote) -> tuple[dict, Vote]:
        found, others = await self.lines.exchange(parcels, vote)
        return found, reduce_votes([vote, *others])

    async def finish(self, turn: int, name: str) -> Vote:
        site, lines = self.site, self.lines
        lines.begin()
        out = site.launch(turn, name, self.pool)
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


def _ticks(said: Sequence[tuple[bool, Vote]]) -> tuple[bool, Vote]:
    """What several sites say at the end of a tick: whether there is more to do, and their votes."""
    return any(more for more, _ in said), reduce_votes([vote for _, vote in said])


async def _drive(site: RecursiveSite, pace: Pace, kept: Fresh) -> Ledger:
    """Run the program on one site, from its begin or from a checkpoint on."""
    await pace.exchange({}, Vote())  # no clock starts before all workers are ready
    for results in kept.sends:
        found, _ = await pace.exchange(site.send(AGAIN, results), Vote())
        site.deliver(found)
    ledger, past = site.ledger, deque(kept.votes)
    now = perf_counter()
    start = now - ledger.seconds
    program = turns(site.kernel, site.clusters[0].n, site.guard.max_rounds)
    turn = 0
    try:
        _, item = next(program)
        while True:
            if over := bool(past):
                phases = 1 if isinstance(item, Finish) else len(item.phases)
                votes = [past.popleft() for _ in range(phases)]
            elif isinstance(item, Finish):
                wire, busy = pace.wire, site.worked
                votes = [await pace.finish(turn, item.launch)]
                entry = site.entry((turn, 0, 0, item.launch))
                entry.tally.wire += pace.wire - wire
                before, now = now, perf_counter()
                entry.exchange += max(now - before - (site.worked - busy), 0.0)
            else:
                votes = []
                for i, phase in enumerate(item.phases):
                    last = i == len(item.phases) - 1
                    values = item.values_of(site.kernel, phase)
                    await pace.turn()
                    parcels = site.step(Step(0, phase, last, turn, values), pace.pool)
                    wire = pace.wire
                    found, vote = await pace.exchange(parcels, site.tally.vote)
                    site.deliver(found)
                    votes.append(vote)
                    site.tally.wire = pace.wire - wire
                    entry = site.entry((turn, i, 0, phase))
                    entry.tally.merge(site.tally)
                    entry.compute += site.compute
                    entry.cpu += site.cpu
                    before, now = now, perf_counter()
                    entry.exchange += now - before - site.busy
            if not over:
                kept.votes += votes
            turn += 1
            _, item = program.send(partial(reduce_votes, votes))
    except StopIteration:
        ledger.seconds = perf_counter() - start
        return ledger


async def _on_clock(
    site: RecursiveSite, mesh: Mesh, pool: Any, tell: Report | None, kept: Fresh
) -> Ledger:
    return await _drive(site, Clock(site, mesh, pool, tell, kept), kept)


async def _freely(
    site: RecursiveSite, mesh: Mesh, pool: Any, tell: Report | None, kept: Fresh
) -> Ledger:
    pace = Free(site, mesh, pool, tell)
    ledger = await _drive(site, pace, kept)
    pace.lines.close()
    return ledger


WAYS = {
    "clocked": clocked.Way(RecursiveSite, _on_clock, unite, "recursive-clocked", kept=KeptTasks),
    "finish_async": clocked.Way(RecursiveSite, _freely, unite, "recursive-async", rounds=False),
}
WAYS["in_turn"] = WAYS["clocked"]._replace(name="recursive-in-turn", in_turn=True)


def run(
    kernel: Kernel,
    graph: Graph,
    client: Client | None,
    places: Sequence[str],
    style: str,
    settings: RunSettings = DEFAULT,
) -> tuple[dict[str, NDArray], Log]:
    """Run a recursive kernel in any style: in this process, or on the workers of a client."""
    if style == "serial":
        return serial(kernel, graph.gather(), settings)
    assert client is not None
    return clocked.run([kernel], graph, client, places, settings, WAYS[style])[0]


def serial(
    kernel: Kernel,
    clusters: Sequence[Cluster],
    settings: RunSettings = DEFAULT,
) -> tuple[dict[str, NDArray], Log]:
    """Run a recursive kernel on clusters of this process."""
    tell, bounds = settings.tell, np.array([0, len(clusters)])
    site = RecursiveSite(kernel, clusters, bounds, 0, settings.workload, settings.guard)
    site.warm()
    kept = begun(settings.checkpoints, site, KeptTasks)
    pace = Clock(site, None, None, tell and seldom(tell), kept)
    ledger = at_once(_drive(site, pace, kept))
    return site.outputs(), unite([ledger])
