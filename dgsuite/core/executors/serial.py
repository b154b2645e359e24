"""Style `serial`: every cluster in one thread of this process, in order. The specification."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from dgsuite.core.engine.batches import Record
from dgsuite.core.engine.checkpoint import AGAIN
from dgsuite.core.engine.checkpoint_files import Checkpoints
from dgsuite.core.engine.checkpointed import begun
from dgsuite.core.engine.log import Log
from dgsuite.core.engine.program import UNBOUND, Guard, Step, reduce_votes, steps
from dgsuite.core.engine.progress import Tell, seldom
from dgsuite.core.engine.site import Site
from dgsuite.core.engine.workload import Workload
from dgsuite.kernels.bsp import Kernel, Vote
from dgsuite.partition.clusters.cluster import Cluster


def run(
    kernel: Kernel,
    clusters: Sequence[Cluster],
    on_round: Tell | None = None,
    before_phase: Callable[[Site], None] | None = None,
    recorder: Callable[[Step, Record], None] | None = None,
    workload: Workload | None = None,
    guard: Guard = UNBOUND,
    checkpoints: Checkpoints | None = None,
) -> tuple[dict[str, NDArray], Log]:
    """Run a kernel on clusters of this process.

    Parameters
    ----------
    on_round
        Called now and then with the progress.
    before_phase
        Called with the site before every phase; tests use it to disturb what must not matter.
    recorder
        Called with what each phase sends.
    checkpoints
        Where checkpoints are written, and what the run goes on from.
    """
    site = Site(kernel, clusters, np.array([0, len(clusters)]), 0, workload, guard)
    site.mailbox.recorder = recorder
    site.warm()
    kept = begun(checkpoints, site)
    log, past = kept.log, kept.votes
    for results in kept.sends:
        site.send(AGAIN, results)
        site.deliver({})
    votes: list[Vote] = []

    report = None if on_round is None else seldom(on_round)

    def reply() -> Callable[[], Vote]:
        if report is not None:
            report(log.progress)
        reduced = reduce_votes(votes)
        votes.clear()
        return lambda: reduced

    now = perf_counter()
    start = now - log.seconds
    for number, step in enumerate(steps(kernel, clusters[0].n, reply, guard)):
        if number < len(past):
            votes.append(past[number])
            continue
        if before_phase is not None:
            before_phase(site)
        site.step(step)
        site.deliver({})
        votes.append(site.tally.vote)
        before, now = now, perf_counter()
        log.add(step, site.tally, site.compute, site.cpu, now - before - site.busy)
        if kept.due(step):
            log.seconds = now - start
            kept.write()
            now = perf_counter()
    log.seconds = perf_counter() - start
    return site.outputs(), log
