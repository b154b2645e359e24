"""Style `serial`: every cluster in one thread of this process, in order. The specification."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.core.engine.checkpoint import begun
from dgsuite.core.engine.log import Log
from dgsuite.core.engine.program import Step
from dgsuite.core.engine.progress import Tell, seldom
from dgsuite.core.engine.run_spec import PLAIN, RunSpec
from dgsuite.core.engine.site import Site
from dgsuite.core.executors.driver import Alone
from dgsuite.core.executors.recursive import way
from dgsuite.kernels.bsp import Kernel
from dgsuite.partition.clusters.cluster import Cluster


def run(
    kernel: Kernel,
    clusters: Sequence[Cluster],
    spec: RunSpec = PLAIN,
    tell: Tell | None = None,
    before_phase: Callable[[Site], None] | None = None,
    recorder: Callable[[Step, Any], None] | None = None,
) -> tuple[dict[str, NDArray], Log]:
    """Run a kernel on clusters of this process.

    Parameters
    ----------
    before_phase
        Called with the site before every phase; tests use it to disturb what must not matter.
    recorder
        Called with what each phase sends.
    """
    kind, driving, merged = way(kernel, "serial", spec)
    site = kind(kernel, clusters, np.array([0, len(clusters)]), 0, spec)
    site.mailbox.recorder = recorder
    site.warm()
    kept = begun(spec.checkpoints, site)
    others = Alone() if before_phase is None else Alone(partial(before_phase, site))
    driven: Any = driving(site, others, tell and seldom(tell), kept)
    try:
        driven.send(None)
    except StopIteration:
        return site.outputs(), merged([site.log])
    raise AssertionError("a serial run waited")
