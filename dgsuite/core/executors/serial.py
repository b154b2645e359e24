"""Style `serial`: every cluster in one thread of this process, in order. The specification."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dgsuite.core.engine.batches import Record
from dgsuite.core.engine.checkpoint_files import Checkpoints
from dgsuite.core.engine.checkpointed import begun
from dgsuite.core.engine.log import Log
from dgsuite.core.engine.program import UNBOUND, Guard, Step
from dgsuite.core.engine.progress import Tell, seldom
from dgsuite.core.engine.site import Site
from dgsuite.core.engine.workload import Workload
from dgsuite.core.executors.driver import Alone, at_once, drive
from dgsuite.kernels.bsp import Kernel
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
    others = Alone(None if before_phase is None else partial(before_phase, site))
    report = None if on_round is None else seldom(on_round)
    log = at_once(drive(site, others, None, report, kept))
    return site.outputs(), log
