"""Recursive kernels in all styles: programs of rounds and of finishes that tasks spawn tasks under.

A worker's site has a queue of tasks. In style `serial` and `clocked` tasks advance on a clock: what
is spawned in a tick runs in the next, on all workers at once. In style `finish_async` each worker
runs what it has, the least depth first, and sends what goes to others at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING

from dgsuite.core.engine.checkpoint import Kept
from dgsuite.core.engine.log import Log, merge, unite
from dgsuite.core.engine.program import SILENT, Step, reduce_votes
from dgsuite.core.engine.progress import Report
from dgsuite.core.engine.run_spec import RunSpec
from dgsuite.core.engine.site import Site
from dgsuite.core.executors.driver import Alone, drive
from dgsuite.core.recursion.late import LateSite
from dgsuite.core.recursion.site import RecursiveSite
from dgsuite.kernels.bsp import Kernel, Vote

if TYPE_CHECKING:
    from dgsuite.core.exchange.mesh import Mesh

BREATH = 1e-3
"""Seconds of work between checks for arrived messages."""


def way(
    kernel: Kernel, style: str, spec: RunSpec
) -> tuple[type[Site], Callable[..., Awaitable[None]], Callable[[Sequence[Log]], Log]]:
    """The class of the sites of a run, what runs the program there, and what makes one log of theirs."""
    if kernel.form != "recursive":
        return Site, drive, merge
    if spec.channel is not None:
        return LateSite, on_clock, unite
    return RecursiveSite, freely if style == "finish_async" else on_clock, unite


async def on_clock(
    site: RecursiveSite, mesh: Mesh | Alone, tell: Report | None, kept: Kept | None
) -> None:
    """Tasks advance on a clock, with a barrier a tick."""

    async def finish(step: Step) -> Vote:
        await mesh.turn()
        out = site.launch(step.turn, step.phase)
        while True:
            found, (due, vote) = await mesh.exchange(out, (site.due(out), site.vote), _ticks)
            site.accept(found.values())
            if due == inf:
                return vote
            await mesh.turn()
            out = site.tick(due)
            if tell is not None:
                tell(site.progress)

    await drive(site, mesh, tell, kept, _logged(site, mesh, finish))


async def freely(site: RecursiveSite, mesh: Mesh, tell: Report | None, kept: Kept | None) -> None:
    """Tasks run as they come."""
    from dgsuite.core.exchange.termination import Lines

    lines = Lines(mesh)

    async def finish(step: Step) -> Vote:
        lines.begin()
        out = site.launch(step.turn, step.phase)
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
            out = site.next() if site.queue else {}
            if tell is not None:
                tell(site.progress)

    await drive(site, mesh, tell, kept, _logged(site, mesh, finish))


def _logged(
    site: RecursiveSite, mesh: Mesh | Alone, finish: Callable[[Step], Awaitable[Vote]]
) -> Callable[[Step], Awaitable[Vote]]:
    """What runs a finish to its end, and logs what it sent and how long it waited."""

    async def logged(step: Step) -> Vote:
        begin, wire, moment = perf_counter(), mesh.wire, site.moment(step)
        vote = await finish(step)
        entry = site.log.entry(moment, site.new_tally)
        entry.tally.wire += mesh.wire - wire
        entry.tally.vote = vote if site.me == 0 else SILENT
        entry.exchange += max(perf_counter() - begin - site.busy, 0.0)
        return vote

    return logged


def _ticks(said: Sequence[tuple[float, Vote]]) -> tuple[float, Vote]:
    """What several sites say at the end of a tick: when there is more to do, and their votes."""
    return min(due for due, _ in said), reduce_votes([vote for _, vote in said])
