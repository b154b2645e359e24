"""What a site counts and times of tasks and phases that run in any order, and the log made of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dgsuite.core.engine.log import Log, merge
from dgsuite.core.engine.program import Step, Tally


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

    def add(
        self,
        step: Step,
        tally: Tally,
        compute: Sequence[float],
        cpu: Sequence[float],
        exchange: float,
    ) -> None:
        """Record a phase of a round."""
        moment = step.turn, step.position, step.round, step.phase
        assert moment not in self.entries
        self.entries[moment] = Entry(tally, np.array(compute), np.array(cpu), exchange)

    def at(self, moment: Moment) -> Entry:
        """The entry of a moment, at which perhaps nothing happened here."""
        if moment in self.entries:
            return self.entries[moment]
        return Entry(compute=np.zeros(self.clusters), cpu=np.zeros(self.clusters))

    def part(self, clusters: slice, new_tally: Callable[[], Tally]) -> Ledger:
        """The ledger of a site that goes on from here: the times of its clusters, and, on the site of the
        first cluster, all counts.
        """
        first = clusters.start == 0
        entries = {
            moment: Entry(
                e.tally if first else new_tally(), e.compute[clusters], e.cpu[clusters], e.exchange
            )
            for moment, e in self.entries.items()
        }
        return Ledger(entries, self.seconds, clusters.stop - clusters.start)


def merged(ledgers: Sequence[Ledger], new_tally: Callable[[], Tally]) -> Ledger:
    """The ledger of the whole run from those of its sites, in the order of their clusters."""
    whole = Ledger(
        {}, max(each.seconds for each in ledgers), sum(each.clusters for each in ledgers)
    )
    for moment in dict.fromkeys(m for each in ledgers for m in each.entries):
        parts = [each.at(moment) for each in ledgers]
        entry = whole.entries[moment] = Entry(
            new_tally(),
            np.concatenate([part.compute for part in parts]),
            np.concatenate([part.cpu for part in parts]),
            max(part.exchange for part in parts),
        )
        for part in parts:
            entry.tally.merge(part.tally)
    return whole


def unite(ledgers: Sequence[Ledger]) -> Log:
    """The log of a run from the ledgers of its sites, in the order of their clusters; by depth."""
    moments = sorted({m for ledger in ledgers for m in ledger.entries})
    logs = []
    for ledger in ledgers:
        log = Log(ledger.clusters, ledger.seconds)
        for moment in moments:
            turn, _, depth, name = moment
            entry = ledger.at(moment)
            step = Step(depth, name, False, turn)
            log.add(step, entry.tally, entry.compute, entry.cpu, entry.exchange)
        logs.append(log)
    return merge(logs)
