"""A page that shows a run: its sizes and counts, and for each round messages, active nodes and times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

COLUMNS = 256
"""Most columns of a chart; with more rounds each column stands for several."""

HEIGHT = 60
"""Of a chart, in pixels."""


def page(
    title: str, unit: str, facts: Mapping[str, str], charts: Mapping[str, Mapping[str, ArrayLike]]
) -> str:
    """The page, as HTML that needs nothing else.

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
    from dgsuite.base.templates import template

    found = template("dgsuite.core.results", "page.html")
    drawn = {name: _chart(series) for name, series in charts.items()}
    return found.render(
        title=title, unit=unit, facts=facts, charts=charts, drawn=drawn, height=HEIGHT
    )


class Chart(NamedTuple):
    """A chart of stacked columns, of which the tallest fills the height."""

    columns: int
    top: str
    """What the tallest stands for."""
    paths: list[tuple[float, str]]
    """Opacity and outline of each series."""


def _chart(series: Mapping[str, ArrayLike]) -> Chart:
    condensed = [_condensed(np.asarray(values, np.float64)) for values in series.values()]
    total = np.sum(condensed, axis=0)
    most = total.max(initial=0)
    top = most or 1.0
    below = np.zeros(len(total))
    paths = []
    for opacity, values in zip((0.75, 0.3), condensed, strict=False):
        above = below + values
        paths.append((opacity, _outline(below / top, above / top)))
        below = above
    return Chart(len(total), f"{most:,.4g}", paths)


def _condensed(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """At most `COLUMNS` numbers, each the mean of as many values."""
    parts = np.array_split(values, min(len(values), COLUMNS) or 1)
    return np.array([part.mean() if len(part) else 0.0 for part in parts])


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
