"""Results that are no figure of a paper: a table with a row for each setting, and a picture of the times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr

from dgsuite.base.tables import Table
from dgsuite.core.results.plots import overview, styled, svg
from dgsuite.studies.report.draw import framed
from dgsuite.studies.report.statistics import Interval, interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 60
"""Settings that are listed, and drawn, at most."""

SETTINGS = (
    *("kernel", "form", "n", "kind", "clusters", "workers", "threads", "workload", "runtime"),
    *("count_as", "seed", "style"),
)
"""What may differ from setting to setting; the last is what dots are coloured by, if it does."""

ALWAYS = ("kernel", "n", "style")
"""Of these, those that a table has even if they do not differ."""


class Setting(NamedTuple):
    """The runs that differ in nothing but their repeat."""

    known: Mapping[str, Any]
    messages: str
    comm: str
    milliseconds: Interval | None
    oversubscribed: bool


class Sweep(NamedTuple):
    """What the page says of a file."""

    title: str
    about: str
    table: Table
    picture: str | None
    """Markup."""


def sweep(name: str, ds: xr.Dataset) -> Sweep:
    """The runs of a file, with repeats as means.

    Parameters
    ----------
    name
        Of the file.
    ds
        One run, or the runs of an experiment.
    """
    runs = [ds.isel(run=i) for i in range(ds.sizes["run"])] if "run" in ds.dims else [ds]
    groups: dict[tuple[str, ...], list[xr.Dataset]] = {}
    for run in runs:
        groups.setdefault(tuple(str(_known(run).get(key, "")) for key in SETTINGS), []).append(run)
    settings = [_setting(same) for same in groups.values()]
    differing = [
        key
        for key in SETTINGS
        if len({str(s.known.get(key, "")) for s in settings}) > 1
        or (key in ALWAYS and key in settings[0].known)
    ]
    title = name.removesuffix(".nc")
    return Sweep(
        title=title,
        about=f"{name}: {ds.attrs.get('title', '')}. Machine: {ds.attrs.get('machine', 'not noted')}.",
        table=_table(settings, differing),
        picture=_picture(title, ds, settings[:SHOWN]),
    )


def _known(run: xr.Dataset) -> dict[str, Any]:
    return {**run.attrs, **{str(k): v.item() for k, v in run.coords.items() if v.ndim == 0}}


def _setting(runs: Sequence[xr.Dataset]) -> Setting:
    known = [_known(run) for run in runs]
    seconds = [
        run.get("seconds", its.get("seconds", "")) for run, its in zip(runs, known, strict=True)
    ]
    timed = all(np.ndim(s) == 0 and s is not None and str(s) != "" for s in seconds)
    return Setting(
        known[0],
        _total("messages", runs),
        _total("comm", runs),
        interval([1e3 * float(s) for s in seconds]) if timed else None,
        any(
            bool(run.get("oversubscribed", its.get("oversubscribed", 0)))
            for run, its in zip(runs, known, strict=True)
        ),
    )


def _total(name: str, runs: Sequence[xr.Dataset]) -> str:
    """Sum over the rounds; from the least to the most where repeats differ."""
    found = sorted({int(run[name].values.clip(0).sum()) for run in runs if name in run})
    return " to ".join(map(str, dict.fromkeys([*found[:1], *found[-1:]])))


def _table(settings: Sequence[Setting], differing: Sequence[str]) -> Table:
    timed = [s.milliseconds for s in settings if s.milliseconds is not None]
    repeated = any(time.runs > 1 for time in timed)
    crowded = any(s.oversubscribed for s in settings)
    what = [] if "kernel" in settings[0].known else ["what"]
    heads = [*what, *differing, "messages", "comm", "ms", *["runs"] * repeated]
    rows = []
    for s in settings[:SHOWN]:
        time = s.milliseconds
        rows.append(
            [
                *(s.known.get("title", "") for _ in what),
                *(s.known.get(key, "") for key in differing),
                s.messages,
                s.comm,
                _written(time) + " *" * s.oversubscribed,
                *([time.runs if time else ""] * repeated),
            ]
        )
    notes = ["Means of repeats, ± half the 95 % confidence interval."] * repeated
    notes += ["* more threads than processors: they took turns."] * crowded
    notes += [f"{len(settings) - SHOWN} more settings are in the file."] * (len(settings) > SHOWN)
    return Table(heads, rows, remarks=notes)


def _written(time: Interval | None) -> str:
    if time is None:
        return ""
    return f"{time.mean:.4g}" + (f" ± {time.half:.2g}" if time.runs > 1 else "")


def _picture(title: str, ds: xr.Dataset, settings: Sequence[Setting]) -> str | None:
    """Times of the settings, or the rounds of a single run; None where there are neither."""
    if "run" not in ds.dims:
        if "messages" not in ds or "kernel" not in ds.attrs:
            return None
        drawn = " and communication" * ("comm" in ds)
        return svg(overview([ds]), f"{title}: messages{drawn} in each round")
    if any(s.milliseconds is None for s in settings):
        return None
    return svg(_times(settings), f"{title}: milliseconds of each setting")


@styled
def _times(settings: Sequence[Setting]) -> Figure:
    """A place on the axis for each setting, and a dot with its interval for each style."""
    from matplotlib.figure import Figure

    labels = [_label(s.known, _named(settings)) for s in settings]
    names = list(dict.fromkeys(labels))
    styles = list(dict.fromkeys(str(s.known.get("style", "")) for s in settings))
    figure = Figure(figsize=(7, 1.3 + 0.28 * len(names)))
    ax = figure.subplots()
    times = []
    for style in styles:
        mine = [(label, s) for label, s in zip(labels, settings, strict=True)
                if str(s.known.get("style", "")) == style]  # fmt: skip
        shown = [s.milliseconds for _, s in mine if s.milliseconds is not None]
        at = [names.index(label) for label, _ in mine]
        halves = [time.half for time in shown]
        ax.errorbar([t.mean for t in shown], at, xerr=halves, fmt="o", capsize=3, label=style)
        times += shown
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlabel("milliseconds of all rounds")
    framed(ax, "x", times)
    ax.grid(axis="x", color="0.5", linewidth=0.3)
    if len(styles) > 1:
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def _named(settings: Sequence[Setting]) -> list[str]:
    """What names a place: what differs among runs of one style."""
    values = [[str(s.known.get(key, "")) for s in settings] for key in SETTINGS]
    styles = len({*values[-1]})
    return ["kernel"] + [
        key
        for key, found in zip(SETTINGS[1:-1], values[1:-1], strict=True)
        if len({*found}) > 1 and len({*zip(found, values[-1], strict=True)}) > styles
    ]


def _label(known: Mapping[str, Any], places: Sequence[str]) -> str:
    """A setting in words: what differs, with the names of numbers."""
    said = []
    for key in places:
        value = known.get(key, "")
        if str(value) not in ("", "-1"):
            said.append(f"{key} = {value}" if isinstance(value, int) else str(value))
    return ", ".join(said)
