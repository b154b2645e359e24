"""Runs that differ in nothing but random numbers and faults: how often they are right, and their rounds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dgsuite.base.wilson import Proportion, wilson
from dgsuite.core.results.plots import bars, styled
from dgsuite.studies.report.statistics import Interval, interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray


class Trials(NamedTuple):
    """The runs of a setting.

    Attributes
    ----------
    known
        What they have in common: kernel, n, network and so on.
    right
        The share whose result the rule accepts, and its interval; None where none was checked.
    rounds
        Their mean, with its interval.
    runs
        How many there are.
    """

    known: Mapping[str, Any]
    right: Proportion | None
    rounds: Interval
    runs: int


def trials(known: Mapping[str, Any], valid: NDArray[np.int64], rounds: NDArray[np.int64]) -> Trials:
    """What runs of a setting came to, with 1 and 0 for valid results and others, -1 where not checked."""
    checked = valid[valid >= 0]
    right = wilson(int(checked.sum()), len(checked)) if len(checked) else None
    return Trials(known, right, interval(rounds), len(rounds))


def written(right: Proportion | None) -> str:
    """A share with its interval."""
    return "" if right is None else f"{right.share:.4g} ({right.low:.4g} to {right.high:.4g})"


def said(given: str, without: str = "") -> str:
    """Parameters of a network or a kernel in words, from their JSON, but for one."""
    parts = sorted(numbers(given).items())
    return ", ".join(f"{name} = {value}" for name, value in parts if name != without)


def numbers(given: str) -> dict[str, Any]:
    """Parameters by name, from their JSON; of crashes and liars that are listed how many there are, and no
    other lists.
    """
    found: dict[str, Any] = {}
    for name, value in json.loads(given or "{}").items():
        if name == "byzantine":
            found["liars"] = value["nodes"]
            found["strategy"] = value.get("strategy", "random")
        elif name in ("crashes", "liars") or not isinstance(value, list | dict):
            found[name] = value
    return {k: len(v) if isinstance(v, list | dict) else v for k, v in found.items()}


def swept(settings: Sequence[Mapping[str, Any]]) -> tuple[str, list[float] | None]:
    """The number that is drawn to the right, and its values: of the network's numbers and n, the one that has
    most; None where nothing varies.
    """
    networks = [numbers(str(known.get("network", ""))) for known in settings]
    names = sorted({name for network in networks for name in network})
    columns = {name: [network.get(name, 0) for network in networks] for name in names}
    columns["n"] = [known.get("n", 0) for known in settings]
    plain = {
        name: [float(value) for value in values]
        for name, values in columns.items()
        if all(isinstance(value, int | float | np.number) for value in values)
    }
    name = max(plain, key=lambda name: len({*plain[name]}))
    return (name, plain[name]) if len({*plain[name]}) > 1 else ("", None)


@styled
def draw(found: Sequence[Trials], labels: Sequence[str]) -> Figure:
    """How often results are right, and the mean rounds, against what is swept; a line for each label.

    Parameters
    ----------
    labels
        What else a setting is, as the legend has it.
    """
    from matplotlib.figure import Figure

    name, at = swept([one.known for one in found])
    places = np.arange(len(found), dtype=float) if at is None else np.array(at)
    figure = Figure(figsize=(7, 4.6))
    above, below = figure.subplots(2, 1, sharex=True)
    for label in dict.fromkeys(labels):
        mine = [k for k, own in enumerate(labels) if own == label]
        mine.sort(key=lambda k: places[k])
        checked = [k for k in mine if found[k].right is not None]
        right = np.array([found[k].right for k in checked], float).reshape(-1, 3)
        bars(above, places[checked], right[:, 0], right[:, 1], right[:, 2], label)
        mean = np.array([found[k].rounds.mean for k in mine])
        half = np.nan_to_num([found[k].rounds.half for k in mine])
        bars(below, places[mine], mean, mean - half, mean + half, label)
    above.set_ylabel("right results")
    above.set_ylim(-0.04, 1.04)
    below.set_ylabel("rounds, mean")
    below.set_ylim(bottom=0)
    below.set_xlabel(name)
    if at is not None and (least := min(v for v in at if v > 0)) * 20 < max(at):
        scale = {"linthresh": least} if min(at) <= 0 else {}
        below.set_xscale("symlog" if scale else "log", **scale)
    elif all(place == int(place) for place in places):
        below.locator_params(axis="x", integer=True)
    if len({*labels}) > 1:
        above.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return figure
