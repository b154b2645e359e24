"""Checkpoints of recursive forms that run on a clock: what a site has at the end of a tick.

Besides its state, each cluster has its queue of tasks and its open finishes. To go on, a site replays the
program with the votes of the turns that are over, and then goes on with the finish in which the checkpoint
was written.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

from dgsuite.core.engine import forged
from dgsuite.core.engine.checkpoint_files import Checkpoints
from dgsuite.core.engine.checkpointed import Kept
from dgsuite.core.engine.log import unite
from dgsuite.core.engine.program import Step, reduce_votes
from dgsuite.core.recursion.site import RecursiveSite
from dgsuite.kernels.bsp import Vote
from dgsuite.partition.store.checking import is_count, refuse


class KeptTasks(Kept):
    """A run of tasks at one site that writes checkpoints; see `Kept`."""

    site: RecursiveSite

    def __init__(self, plan: Checkpoints, site: RecursiveSite) -> None:
        super().__init__(plan, site)
        self._start = perf_counter() - site.log.seconds

    def due(self, step: Step) -> bool:
        return step.launches and super().due(step)  # rounds of a recursive form are few

    def heard(self, vote: Vote) -> None:
        self.votes.append(vote)

    def _take_past(self, clusters: slice) -> None:
        site = self.site
        pasts = self.plan.pasts(site.classes(), _checked)
        whole = unite([past["log"] for past in pasts])
        refuse(whole.rounds > len(whole), "each depth of the log must have a task")
        site.log = whole.part(clusters)
        if clusters.start == 0:
            site.vote = reduce_votes([past["vote"] for past in pasts])
        self.votes = pasts[0]["votes"]
        site.turn = site.amid = pasts[0]["turn"]
        site.ticks = pasts[0]["ticks"]
        site.deepest = max(past["deepest"] for past in pasts)

    def _reached(self) -> tuple[int, int]:
        return self.site.ticks, self.site.ticks

    def _past(self) -> Any:
        site = self.site
        site.log.seconds = perf_counter() - self._start
        own = {name: getattr(site, name) for name in ("turn", "ticks", "deepest", "vote")}
        return {**own, "log": site.log.columns(), "votes": self.votes}


def _checked(past: Any, clusters: int) -> dict[str, Any]:
    """The past that a site wrote, checked against its number of clusters."""
    log = forged.log_of(past["log"], clusters)
    forged.votes_of(past["votes"])
    forged.vote_of(past["vote"])
    for name in ("turn", "ticks", "deepest"):
        refuse(not is_count(past[name]), f"{name} must be an integer from 0")
    return {**past, "log": log}
