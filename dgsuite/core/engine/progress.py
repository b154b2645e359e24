"""How far a run is, as executors report it now and then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import NamedTuple

REPORT = 0.2
"""Seconds between reports of progress."""


class Progress(NamedTuple):
    """How far a run, or one site of it, is."""

    rounds: int
    """Rounds that have begun, or depth of tasks."""
    active: int | None = None
    """Nodes that sent in the latest round, in its busiest phase; None where that is not known."""
    messages: int | None = None
    """Messages so far; None where that is not known."""


Tell = Callable[[Progress], object]
"""Called with the progress of a run."""

Report = Callable[[Callable[[], Progress]], None]
"""Called in each round with what says the progress."""


def seldom(tell: Tell) -> Report:
    """Pass on progress a few times a second: a screen or a scheduler may take longer over it than a round."""
    told = monotonic()

    def now_and_then(progress: Callable[[], Progress]) -> None:
        nonlocal told
        if monotonic() - told > REPORT:
            told = monotonic()
            tell(progress())

    return now_and_then


def united(tell: Tell, sites: int = 1) -> Callable[[int, Progress], None]:
    """Report the progress of a run from the reports of its sites, whenever site 0 reports.

    Parameters
    ----------
    sites
        How many must have reported before.
    """
    latest: dict[int, Progress] = {}

    def of_site(site: int, progress: Progress) -> None:
        latest[site] = progress
        if site == 0 and len(latest) >= sites:
            rounds, active, messages = zip(*latest.values(), strict=True)
            tell(Progress(max(rounds), _sum(active), _sum(messages)))

    return of_site


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
