"""A page that shows runs: their sizes and counts, and for each round messages, active nodes and times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dgsuite.core.engine.progress import Progress

COLUMNS = 256
"""Most columns of a chart; with more rounds each column stands for several."""

HEIGHT = 60
"""Of a chart, in pixels."""

Record = Mapping[str, Any]
"""What a page shows of a run: see `record`. Numbers, text, lists and mappings, so that it can travel."""


def record(
    title: str, unit: str, facts: Mapping[str, str], charts: Mapping[str, Mapping[str, ArrayLike]]
) -> Record:
    """What a page shows of a run.

    Parameters
    ----------
    title
        What ran on what.
    unit
        What the charts have a column for: "round" or "depth".
    facts
        Sizes and totals.
    charts
        By title, for each series its values in each round, which are stacked.
    """
    short = {
        chart: {name: _condensed(np.asarray(values)) for name, values in series.items()}
        for chart, series in charts.items()
    }
    return {"title": title, "unit": unit, "facts": dict(facts), "charts": short}


def _condensed(values: NDArray) -> list[float]:
    """At most `COLUMNS` numbers, each the mean of as many values."""
    parts = np.array_split(values.astype(np.float64), min(len(values), COLUMNS) or 1)
    return [float(part.mean()) if len(part) else 0.0 for part in parts]


def page(runs: Sequence[Record], running: Mapping[str, Progress] | None = None) -> str:
    """The page, as HTML that needs nothing else.

    Parameters
    ----------
    runs
        The last one first.
    running
        How far runs are that have not ended, by name. A browser then loads the page again and again.
    """
    from dgsuite.base.templates import template

    found = template("dgsuite.core.workers", "pages.html")
    return found.render(runs=runs, running=running or {}, chart=_chart, height=HEIGHT)


class Chart(NamedTuple):
    """A chart of stacked columns, of which the tallest fills the height."""

    columns: int
    top: str
    """What the tallest stands for."""
    paths: list[tuple[float, str]]
    """Opacity and outline of each series."""


def _chart(series: Mapping[str, Sequence[float]]) -> Chart:
    total = np.sum([*series.values()], axis=0)
    most = total.max(initial=0)
    top = most or 1.0
    below = np.zeros(len(total))
    paths = []
    for opacity, values in zip((0.75, 0.3), series.values(), strict=False):
        above = below + values
        paths.append((opacity, _outline(below / top, above / top)))
        below = above
    return Chart(len(total), f"{most:,.4g}", paths)


def _outline(low: NDArray, high: NDArray) -> str:
    """The path round columns from `low` to `high`, which are parts of the height."""
    there = _steps(enumerate(high))
    back = _steps(reversed([*enumerate(low)]), last_first=True)
    return f"M{' L'.join([*there, *back])}Z"


def _steps(columns: Iterable[tuple[int, float]], last_first: bool = False) -> list[str]:
    points = []
    for at, part in columns:
        y = f"{HEIGHT * (1 - part):.1f}"
        ends = (at + 1, at) if last_first else (at, at + 1)
        points += [f"{x} {y}" for x in ends]
    return points
