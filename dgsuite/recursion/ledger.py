"""What a site counts and times of tasks and phases that run in any order, and the log made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dgsuite.engine.log import Log, merge
from dgsuite.engine.program import Step, Tally


@dataclass
class Entry:
    """What one site counted and timed of one task, or phase, at one depth."""

    tally: Tally = field(default_factory=Tally)
    compute: NDArray = field(default_factory=lambda: np.zeros(0))
    cpu: NDArray = field(default_factory=lambda: np.zeros(0))
    exchange: float = 0.0


Moment = tuple[int, int, int, str]
"""Turn of the program, phase of its round, depth, name of the task or phase."""


@dataclass
class Ledger:
    """What happened on one site, by moment."""

    entries: dict[Moment, Entry] = field(default_factory=dict)
    seconds: float = 0.0
    clusters: int = 0


def unite(ledgers: Sequence[Ledger]) -> Log:
    """The log of a run from the ledgers of its sites, in the order of their clusters; by depth."""
    moments = sorted({m for ledger in ledgers for m in ledger.entries})
    logs = []
    for ledger in ledgers:
        log = Log(ledger.clusters, ledger.seconds)
        nothing = np.zeros(ledger.clusters)
        for moment in moments:
            turn, _, depth, name = moment
            entry = ledger.entries.get(moment, Entry(compute=nothing, cpu=nothing))
            step = Step(depth, name, False, turn)
            log.add(step, entry.tally, entry.compute, entry.cpu, entry.exchange)
        logs.append(log)
    return merge(logs)
