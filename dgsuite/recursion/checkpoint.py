"""Checkpoints of recursive forms that run on a clock: what a site has at the end of a tick.

Besides its state, each cluster has its queue of tasks and its open finishes. To go on, a site replays the
program with the votes of the turns that are over, and then goes on with the finish in which the checkpoint
was written.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

from dgsuite.engine.checkpoint_files import Checkpoints, Kept
from dgsuite.engine.program import reduce_votes
from dgsuite.recursion.ledger import merged
from dgsuite.recursion.site import RecursiveSite
from kernels.base import Vote


class KeptTasks(Kept):
    """A run of tasks at one site that writes checkpoints; see `Kept`."""

    site: RecursiveSite

    def __init__(self, plan: Checkpoints, site: RecursiveSite) -> None:
        self._start = perf_counter()
        super().__init__(plan, site)

    def _take_past(self, clusters: slice) -> None:
        site = self.site
        pasts = self.plan.pasts(site.classes())
        ledger = merged([past["ledger"] for past in pasts], site.new_tally)
        site.ledger = ledger.part(clusters, site.new_tally)
        self._start -= ledger.seconds
        if clusters.start == 0:
            site.vote = reduce_votes([past["vote"] for past in pasts])
        self.votes = pasts[0]["votes"]
        site.turn = site.amid = pasts[0]["turn"]
        site.ticks = pasts[0]["ticks"]
        site.deepest = max(past["deepest"] for past in pasts)

    def _past(self) -> tuple[int, int, Any]:
        site = self.site
        site.ledger.seconds = perf_counter() - self._start
        past: dict[str, Any] = {name: getattr(site, name) for name in ("turn", "ticks", "deepest")}
        vote: Vote = site.vote
        return (
            site.ticks,
            site.ticks,
            {**past, "ledger": site.ledger, "vote": vote, "votes": self.votes},
        )
