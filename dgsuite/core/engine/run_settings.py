"""The settings of a run that all executors take."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dgsuite.core.engine.checkpoint_files import Checkpoints
from dgsuite.core.engine.program import UNBOUND, Guard
from dgsuite.core.engine.progress import Tell
from dgsuite.core.engine.workload import Workload


@dataclass(frozen=True)
class RunSettings:
    """The workload, limits, checks and checkpoints of a run, and the function that is told of its progress.

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
        """The settings that are sent to workers: `tell` stays with the caller."""
        return replace(self, tell=None)


DEFAULT = RunSettings()
"""No workload, no limits, no checks, no checkpoints."""
