"""What every site of a run gets, beside its kernel and its clusters."""

from __future__ import annotations

from dataclasses import dataclass

from dgsuite.core.engine.checkpoint_files import Checkpoints
from dgsuite.core.engine.network import Faults
from dgsuite.core.engine.workload import Workload
from dgsuite.kernels.events.channel import Channel


@dataclass(frozen=True, kw_only=True)
class RunSpec:
    """Limits, checks, network, workload and checkpoints of a run.

    Attributes
    ----------
    max_rounds
        Rounds, or depths of tasks, at most; None for any number.
    check
        Whether to make the checks of `dgsuite.core.engine.checks`, which cost time.
    trace
        Whether messages are counted by pair of clusters.
    congest
        If edges are counted by the bits that they carry: how many times ceil(log2 n) bits at most.
    faults
        What happens to nodes and messages, on a network with faults or an adversary. A run with faults ends
        after `max_rounds`, and raises no error.
    channel
        How messages of tasks travel, if they take time.
    workload
        Work added to every task.
    checkpoints
        Where checkpoints are written, and what the run goes on from.
    """

    max_rounds: int | None = None
    check: bool = False
    trace: bool = False
    congest: float | None = None
    faults: Faults | None = None
    channel: Channel | None = None
    workload: Workload | None = None
    checkpoints: Checkpoints | None = None

    @property
    def limits(self) -> tuple[int | None, Faults | None, bool]:
        """What bounds the program."""
        return self.max_rounds, self.faults, self.check

    @property
    def faulty(self) -> bool:
        """Whether messages may be lost, and nodes crash or lie."""
        return self.faults is not None and not self.faults.spares


PLAIN = RunSpec()
"""No limits, no checks, nothing else."""
