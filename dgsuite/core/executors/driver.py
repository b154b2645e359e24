"""The driver of a program of rounds: it runs the phases of one site, with the votes of all sites.

All styles whose sites run the program themselves use it. In `serial` there is one site, which sends nothing.
Recursive forms bring what runs their finishes: see `dgsuite.core.executors.recursive`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Executor
from time import perf_counter
from typing import Any, Protocol

from dgsuite.core.engine.checkpoint import Fresh, is_marked, marked
from dgsuite.core.engine.message_type import MessageBatch
from dgsuite.core.engine.program import SILENT, Step, reduce_votes, steps
from dgsuite.core.engine.progress import Report
from dgsuite.core.engine.site import Site
from dgsuite.core.exchange.numbers import READY, RESUMING
from dgsuite.kernels.bsp import Vote


class Exchange(Protocol):
    """How a site reaches the others."""

    ordered: bool
    """Whether sites exchange something after every phase, even if none of them sends or votes."""

    @property
    def wire(self) -> int:
        """Bytes sent to other workers so far."""
        ...

    async def turn(self) -> None:
        """Wait until this site may compute a phase."""

    async def exchange(
        self, number: int, parcels: Mapping[int, MessageBatch], vote: Vote
    ) -> tuple[dict[int, MessageBatch], Vote]:
        """Send the parcels of a phase and a vote; return the parcels received, and all votes combined."""
        ...


class Alone:
    """The exchange of a run with one site: nothing to send, and nothing to wait for.

    Parameters
    ----------
    before_phase
        Called before every phase.
    """

    ordered = True
    wire = 0

    def __init__(self, before_phase: Callable[[], None] | None = None) -> None:
        self.before_phase = before_phase

    async def turn(self) -> None:
        if self.before_phase is not None:
            self.before_phase()

    async def exchange(
        self, number: int, parcels: Mapping[int, MessageBatch], vote: Vote
    ) -> tuple[dict[int, MessageBatch], Vote]:
        return {}, vote


async def drive(
    site: Site,
    others: Exchange,
    pool: Executor | None,
    tell: Report | None,
    kept: Fresh,
    finish: Callable[[Step], Awaitable[Vote]] | None = None,
) -> None:
    """Run the program on one site, from its begin or from a checkpoint on, and log it there.

    Parameters
    ----------
    pool
        Where clusters run side by side, if anywhere.
    tell
        Called with the progress after each turn of the program.
    kept
        What the run goes on from, and its checkpoints.
    finish
        Runs a finish of a recursive form to its end, and returns the votes of all sites.
    """
    log = site.log
    votes: list[Vote] = []

    def reply(over: Sequence[Vote]) -> Callable[[], Vote]:
        if tell is not None:
            tell(site.progress)
        reduced = reduce_votes([*over, *votes] if over else votes)
        votes.clear()
        return lambda: reduced

    await others.exchange(READY, {}, SILENT)  # no clock starts before all workers are ready
    for again in range(len(kept.sends)):  # none, or as many as `RESUMING`
        found, _ = await others.exchange(RESUMING[again], kept.resent(site, again), SILENT)
        site.deliver(found)
    now = perf_counter()
    start = now - log.seconds
    limits = site.spec.max_rounds, site.spec.faults
    todo = steps(site.kernel, site.clusters[0].n, reply, *limits, [*kept.votes])
    for number, step in enumerate(todo):
        if finish is not None and step.launches:
            votes.append(await finish(step))
            now = perf_counter()
            continue
        await others.turn()
        parcels = site.step(step, pool)
        found, said = {}, SILENT
        if others.ordered or not site.quiet:
            vote = marked(site.tally.vote) if kept.due(step) else site.tally.vote
            sent = others.wire
            found, said = await others.exchange(number, parcels, vote)
            site.tally.wire = others.wire - sent + site.mailbox.stored
            votes.append(said)
        site.deliver(found)
        before, now = now, perf_counter()
        log.add(site.logged(step), site.tally, site.compute, site.cpu, now - before - site.busy)
        if is_marked(said):
            log.seconds = now - start
            kept.write()
            now = perf_counter()
    log.seconds = perf_counter() - start


def at_once(driving: Coroutine[Any, Any, None]) -> None:
    """Run a driver that never waits to its end."""
    try:
        driving.send(None)
    except StopIteration:
        return
    raise AssertionError("a serial run waited")
