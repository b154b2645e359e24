"""A page that shows runs: their sizes and counts, and for each round messages, active nodes and times."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dgsuite.engine.progress import Progress

COLUMNS = 256
"""Most columns of a chart; with more rounds each column stands for several."""

HEIGHT = 60
"""Of a chart, in pixels."""

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 1.5rem; max-width: 60rem; color-scheme: light dark; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 0.1rem 1rem 0.1rem 0; font-weight: normal; }
th { opacity: 0.7; }
svg { width: 100%; height: 60px; display: block; border-bottom: 1px solid #8888; }
summary { cursor: pointer; margin-top: 0.8rem; }
figure { margin: 0.5rem 0; }
figcaption { font-size: 0.85rem; opacity: 0.8; }
"""

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
    refresh = "<meta http-equiv='refresh' content='1'>" if running else ""
    live = "".join(
        f"<tr><th>{html.escape(name)}</th>{_cells(progress)}</tr>"
        for name, progress in (running or {}).items()
    )
    table = (
        f"<h2>Running</h2><table><tr><th></th><th>round</th><th>active nodes</th><th>messages</th></tr>"
        f"{live}</table>"
    )
    done = "".join(_run(run, number == 0) for number, run in enumerate(runs))
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'>{refresh}"
        f"<title>dgsuite: runs</title><style>{STYLE}</style></head><body><h1>dgsuite</h1>"
        f"{table if running else ''}<h2>Runs</h2>{done or '<p>There has been none yet.</p>'}</body></html>"
    )


def _cells(progress: Progress) -> str:
    return "".join(f"<td>{'' if count is None else f'{count:,}'}</td>" for count in progress)


def _run(run: Record, first: bool) -> str:
    shown = " open=''" if first else ""
    facts = "".join(
        f"<tr><th>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>"
        for name, text in run["facts"].items()
    )
    charts = "".join(_chart(title, run["unit"], series) for title, series in run["charts"].items())
    return (
        f"<details{shown}><summary>{html.escape(run['title'])}</summary>"
        f"<table>{facts}</table>{charts}</details>"
    )


def _chart(title: str, unit: str, series: Mapping[str, Sequence[float]]) -> str:
    """A chart of stacked columns, of which the tallest fills the height."""
    total = np.sum([*series.values()], axis=0)
    top = total.max(initial=0) or 1.0
    below = np.zeros(len(total))
    paths = []
    for opacity, values in zip((0.75, 0.3), series.values(), strict=False):
        above = below + values
        paths.append(f"<path d='{_outline(below / top, above / top)}' fill-opacity='{opacity}'/>")
        below = above
    names = f": {', then '.join(map(html.escape, series))}" if len(series) > 1 else ""
    caption = f"{html.escape(title)} by {unit}{names}; at most {top:,.4g}"
    return (
        f"<figure><figcaption>{caption}</figcaption><svg viewBox='0 0 {len(total)} {HEIGHT}' "
        f"preserveAspectRatio='none' fill='currentColor'>{''.join(paths)}</svg></figure>"
    )


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
