"""What a run is asked for beyond its kernel and graph, as executors take it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dgsuite.core.engine.checkpoint_files import Checkpoints
from dgsuite.core.engine.program import UNBOUND, Guard
from dgsuite.core.engine.progress import Tell
from dgsuite.core.engine.workload import Workload


@dataclass(frozen=True)
class RunSettings:
    """What all executors take.

    Attributes
    ----------
    tell
        Called from time to time with the progress, in the process of the caller.
    workload
        Work added to every task.
    guard
        Limits and checks.
    checkpoints
        Where checkpoints are written, and what the run goes on from.
    """

    tell: Tell | None = None
    workload: Workload | None = None
    guard: Guard = UNBOUND
    checkpoints: Checkpoints | None = None

    def for_workers(self) -> RunSettings:
        """What goes to the workers: all but the caller's function."""
        return replace(self, tell=None)


DEFAULT = RunSettings()
"""No workload, no limits, no checks, no checkpoints."""
