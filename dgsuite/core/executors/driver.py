"""The driver of a program of rounds: it runs the phases of one site, with the votes of all sites.

All styles whose sites run the program themselves use it. In `serial` there is one site, which sends nothing.
Recursive forms bring what runs their finishes: see `dgsuite.core.executors.recursive`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from dgsuite.core.engine.checkpoint import Kept, is_marked, marked
from dgsuite.core.engine.program import SILENT, Step, reduce_votes, steps
from dgsuite.core.engine.progress import Report
from dgsuite.core.engine.site import Site
from dgsuite.kernels.bsp import Vote

if TYPE_CHECKING:
    from dgsuite.core.exchange.mesh import Mesh


class Alone:
    """The mesh of a run with one site: nothing to send, and nothing to wait for.

    Parameters
    ----------
    before_phase
        Called before every phase.
    """

    ordered = True
    wire = 0

    def __init__(self, before_phase: Callable[[], object] = lambda: None) -> None:
        self.before_phase = before_phase

    async def turn(self) -> None:
        self.before_phase()

    async def exchange(
        self, parcels: Mapping[int, Any], vote: Any, combine: object = None
    ) -> tuple[dict[int, Any], Any]:
        return {}, vote


async def drive(
    site: Site,
    others: Mesh | Alone,
    tell: Report | None,
    kept: Kept | None = None,
    finish: Callable[[Step], Awaitable[Vote]] | None = None,
) -> None:
    """Run the program on one site, from its begin or from a checkpoint on, and log it there.

    Parameters
    ----------
    tell
        Called with the progress after each turn of the program.
    kept
        What the run goes on from, and its checkpoints, if it has any.
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

    await others.exchange({}, SILENT)  # no clock starts before all workers are ready
    past: Sequence[Vote] = ()
    if kept is not None:
        past = kept.votes
        for again in range(len(kept.sends)):  # all sites have as many
            found, _ = await others.exchange(kept.resent(again), SILENT)
            site.deliver(found)
    now = perf_counter()
    start = now - log.seconds
    todo = steps(site.kernel, site.clusters[0].n, reply, *site.spec.limits, past)
    for step in todo:
        if finish is not None and step.launches:
            votes.append(await finish(step))
            now = perf_counter()
            continue
        await others.turn()
        parcels = site.step(step)
        found, said = {}, SILENT
        if others.ordered or not site.quiet:
            vote = site.tally.vote
            if kept is not None and kept.due(step):
                vote = marked(vote)
            sent = others.wire
            found, said = await others.exchange(parcels, vote)
            site.tally.wire = others.wire - sent + site.mailbox.stored
            votes.append(said)
        site.deliver(found)
        before, now = now, perf_counter()
        log.add(site.logged(step), site.tally, site.compute, site.cpu, now - before - site.busy)
        if kept is not None and is_marked(said):
            log.seconds = now - start
            kept.write()
            now = perf_counter()
    log.seconds = perf_counter() - start
