"""The driver of a program of rounds: it runs the phases of one site, with the votes of all sites.

Styles `serial`, `clocked` and `in_turn` use it. In `serial` there is one site, which sends nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Executor
from time import perf_counter
from typing import Any, Protocol, TypeVar

from dgsuite.core.engine.batches import MessageBatch
from dgsuite.core.engine.checkpoint import AGAIN
from dgsuite.core.engine.checkpointed import Fresh, is_marked, marked
from dgsuite.core.engine.log import Log
from dgsuite.core.engine.program import SILENT, reduce_votes, steps
from dgsuite.core.engine.progress import Report
from dgsuite.core.engine.site import Site
from dgsuite.kernels.bsp import Vote

T = TypeVar("T")

RESUMING = -10
"""Number of the first exchange of what is sent once more after a checkpoint."""


class Exchange(Protocol):
    """How a site reaches the others."""

    ordered: bool
    """Whether sites exchange something after every phase, even if none of them sends or votes."""
    wire: int
    """Bytes sent to other workers in the last exchange."""

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
) -> Log:
    """Run the program on one site, from its begin or from a checkpoint on.

    Parameters
    ----------
    pool
        Where clusters run side by side, if anywhere.
    tell
        Called with the progress after each turn of the program.
    kept
        What the run goes on from, and its checkpoints.

    Returns
    -------
    The site's log.
    """
    log, past = kept.log, kept.votes
    votes: list[Vote] = []

    def reply() -> Callable[[], Vote]:
        if tell is not None:
            tell(log.progress)
        reduced = reduce_votes(votes)
        votes.clear()
        return lambda: reduced

    await others.exchange(-1, {}, SILENT)  # no clock starts before all workers are ready
    for number, results in enumerate(kept.sends, RESUMING):
        found, _ = await others.exchange(number, site.send(AGAIN, results), SILENT)
        site.deliver(found)
    now = perf_counter()
    start = now - log.seconds
    for number, step in enumerate(steps(site.kernel, site.clusters[0].n, reply, site.guard)):
        if number < len(past):
            votes.append(past[number])
            continue
        await others.turn()
        parcels = site.step(step, pool)
        found, said = {}, SILENT
        if others.ordered or not site.quiet:
            vote = marked(site.tally.vote) if kept.due(step) else site.tally.vote
            found, said = await others.exchange(number, parcels, vote)
            site.tally.wire = others.wire + site.mailbox.stored
            votes.append(said)
        site.deliver(found)
        before, now = now, perf_counter()
        log.add(step, site.tally, site.compute, site.cpu, now - before - site.busy)
        if is_marked(said):
            log.seconds = now - start
            kept.write()
            now = perf_counter()
    log.seconds = perf_counter() - start
    return log


def at_once(driving: Coroutine[Any, Any, T]) -> T:
    """Run a driver that never waits to its end, and return its result."""
    try:
        driving.send(None)
    except StopIteration as end:
        found: T = end.value
        return found
    raise AssertionError("a serial run waited")
