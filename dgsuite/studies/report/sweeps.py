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
from dgsuite.studies.report.trials import Trials, draw, said, swept, trials, written

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 60
"""Settings that are listed, and drawn, at most."""

SETTINGS = (
    *("kernel", "form", "n", "kind", "clusters", "workers", "threads", "workload", "network"),
    *("params", "runtime", "count_as", "seed", "style"),
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
    trials: Trials | None
    """What came of them, where they differ in random numbers and faults."""


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
    settings = _settings(ds)
    always = [key for key in ALWAYS if key in settings[0].known]
    differing = [
        key for key in SETTINGS
        if key in always or len({str(s.known.get(key, "")) for s in settings}) > 1
    ]  # fmt: skip
    title = name.removesuffix(".nc")
    picture = _picture(title, ds, settings[:SHOWN])
    return Sweep(title, described(name, ds), _table(settings, differing), picture)


def described(name: str, ds: xr.Dataset) -> str:
    """What a file is of, and what machine made it."""
    machine = ds.attrs.get("machine", "not noted")
    return f"{name}: {ds.attrs.get('title', '')}. Machine: {machine}."


def _settings(ds: xr.Dataset) -> list[Setting]:
    """The runs of a file, by what they have in common."""
    runs = ds if "run" in ds.dims else ds.expand_dims("run")
    groups: dict[tuple[str, ...], list[int]] = {}
    for i, key in enumerate(zip(*(_column(runs, name) for name in SETTINGS), strict=True)):
        groups.setdefault(key, []).append(i)
    return [_setting(runs.isel(run=same)) for same in groups.values()]


def _column(runs: xr.Dataset, name: str) -> list[str]:
    """What each run has of a setting, as text."""
    if name in runs.coords and runs[name].dims == ("run",):
        return list(map(str, runs[name].values.tolist()))
    return [str(runs.attrs.get(name, ""))] * runs.sizes["run"]


def _known(runs: xr.Dataset) -> dict[str, Any]:
    """What the first of some runs is."""
    first = {str(k): v[0].item() for k, v in runs.coords.items() if v.dims == ("run",)}
    alone = {str(k): v.item() for k, v in runs.coords.items() if v.ndim == 0}
    return {**runs.attrs, **alone, **first}


def _setting(runs: xr.Dataset) -> Setting:
    known = _known(runs)
    found = np.full(runs.sizes["run"], np.nan)
    if "seconds" not in runs:
        found[:] = float(known.get("seconds", "") or np.nan)
    elif runs["seconds"].dims == ("run",):
        found[:] = runs["seconds"].values
    crowded = runs.get("oversubscribed", known.get("oversubscribed", 0))
    outcome, rounds = None, runs.get("rounds")
    if rounds is not None and rounds.dims == ("run",) and (rounds >= 0).all():  # of trials
        valid = runs["valid"].values if "valid" in runs else np.full(len(rounds), -1)
        outcome = trials(known, valid, rounds.values)
    timed = outcome is None and np.isfinite(found).all()
    milliseconds = interval(1e3 * found) if timed else None
    messages, comm = (_total(name, runs) for name in ("messages", "comm"))
    return Setting(known, messages, comm, milliseconds, bool(np.any(crowded)), outcome)


def _total(name: str, runs: xr.Dataset) -> str:
    """Sum over the rounds; from the least to the most where repeats differ."""
    if name not in runs or "run" not in runs[name].dims or (runs[name] < 0).all():
        return ""
    each = runs[name].values.clip(0).reshape(runs.sizes["run"], -1).sum(axis=1)
    found = sorted({int(total) for total in each})
    return " to ".join(map(str, dict.fromkeys([*found[:1], *found[-1:]])))


def _table(settings: Sequence[Setting], differing: Sequence[str]) -> Table:
    timed = [s.milliseconds for s in settings if s.milliseconds is not None]
    tried = [s.trials for s in settings if s.trials is not None]
    repeated = any(time.runs > 1 for time in timed)
    crowded = any(s.oversubscribed for s in settings)
    counted = not tried or len(tried) < len(settings)
    what = [] if "kernel" in settings[0].known else ["what"]
    # what is found follows what is in each table, so that narrow screens show it
    first = [key for key in differing if key in ALWAYS]
    others = [key for key in differing if key not in ALWAYS]
    heads = [*what, *first, *["ms"] * counted, *["right", "rounds"] * bool(tried), *others]
    heads += [*["messages", "comm"] * counted, *["runs"] * (repeated or bool(tried))]
    rows = [[_cell(s, head) for head in heads] for s in settings[:SHOWN]]
    notes = ["Means of repeats, ± half the 95 % confidence interval."] * (repeated or bool(tried))
    notes += ["Shares of right results, with Wilson's 95 % interval."] * bool(tried)
    notes += ["* more threads than processors: they took turns."] * (crowded and counted)
    notes += [f"{len(settings) - SHOWN} more settings are in the file."] * (len(settings) > SHOWN)
    return Table(heads, rows, remarks=notes)


def _cell(setting: Setting, head: str) -> Any:
    """What a setting has in a column."""
    value, time, own = setting.known.get(head, ""), setting.milliseconds, setting.trials
    found = {
        "what": setting.known.get("title", ""),
        "ms": _written(time) + " *" * setting.oversubscribed,
        "right": written(own.right) if own else "",
        "rounds": _written(own.rounds if own else None),
        "messages": setting.messages,
        "comm": setting.comm,
        "runs": own.runs if own else time.runs if time else "",
    }
    told = said(value) if head in ("network", "params") and isinstance(value, str) else value
    return found.get(head, told)


def _written(time: Interval | None) -> str:
    if time is None:
        return ""
    return f"{time.mean:.4g}" + (f" ± {time.half:.3g}" if time.runs > 1 else "")


def _picture(title: str, ds: xr.Dataset, settings: Sequence[Setting]) -> str | None:
    """Times of the settings, or the rounds of a single run; None where there are neither."""
    if "run" not in ds.dims:
        if "messages" not in ds or "kernel" not in ds.attrs:
            return None
        drawn = " and communication" * ("comm" in ds)
        return svg(overview([ds]), f"{title}: messages{drawn} in each round")
    if (figure := outcomes(settings)) is not None:
        return svg(figure, f"{title}: right results and rounds of each setting")
    if any(s.milliseconds is None for s in settings):
        return None
    return svg(_times(settings), f"{title}: milliseconds of each setting")


def outcomes(settings: Sequence[Setting]) -> Figure | None:
    """How often runs of each setting were right, and their rounds; None where one has a single run."""
    found = [s.trials for s in settings if s.trials is not None]
    if not found or len(found) < len(settings):
        return None
    name, _ = swept([one.known for one in found])
    places = [key for key in _named(settings) if key != name]
    words = []
    for one in found:
        network = said(one.known.get("network", ""), without=name)
        params = said(one.known.get("params", ""))
        words.append(_label({**one.known, "network": network, "params": params}, places))
    return draw(found, words)


def outcomes_of(ds: xr.Dataset) -> Figure | None:
    """The picture of a file of runs that differ in random numbers and faults; None of any other."""
    return outcomes(_settings(ds)) if "run" in ds.dims else None


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
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    return figure


def _named(settings: Sequence[Setting]) -> list[str]:
    """What names a place: what differs among runs of one style."""
    values = {key: [str(s.known.get(key, "")) for s in settings] for key in SETTINGS}
    styles = values.pop("style")
    most = len({*styles})
    return ["kernel"] + [
        key for key, found in values.items()
        if key != "kernel" and len({*found}) > 1 and len({*zip(found, styles, strict=True)}) > most
    ]  # fmt: skip


def _label(known: Mapping[str, Any], places: Sequence[str]) -> str:
    """A setting in words: what differs, with the names of numbers."""
    words = []
    for key in places:
        value = known.get(key, "")
        if str(value) not in ("", "-1"):
            words.append(f"{key} = {value}" if isinstance(value, int) else str(value))
    return ", ".join(words)
