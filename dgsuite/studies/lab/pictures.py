"""A small graph once for each round of an execution, its nodes in the colours of what they know."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, unknown
from dgsuite.core.results.plots import places, styled
from dgsuite.studies.lab.stops import Stop, check_size, stops_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dgsuite.studies.lab.executions import Execution

PANELS = 8
"""Rounds that are drawn, if none are named."""

WRITTEN = 40
"""Nodes up to which values are written beside them."""


@styled
def states(execution: Execution, field: str | None, rounds: Sequence[int] | None) -> Figure:
    """Draw the states; see `dgsuite.lab.Execution.draw`."""
    from matplotlib.figure import Figure

    check_size(execution)
    before, *after = stops_of(execution)
    ends = {stop.round: stop for stop in after}  # the last phase of each round
    shown = _chosen(ends, before, rounds)
    name = _field(execution, [before, *after], field)
    values = [stop.states[name] for stop in shown]
    _, codes = np.unique(np.concatenate(values), return_inverse=True)
    columns = min(4, len(shown))
    rows = math.ceil(len(shown) / columns)
    figure = Figure(figsize=(2.3 * columns, 2.3 * rows + 0.4))
    where, ends_of_edges = places(execution.graph), execution.graph.to_scipy().nonzero()
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax in axes:
        ax.set_axis_off()
        ax.set_aspect("equal")
    for ax, stop, colours in zip(axes, shown, codes.reshape(len(shown), -1), strict=False):
        ax.set_title("before" if stop is before else f"round {stop.round}", fontsize=9)
        _panel(ax, where, ends_of_edges, stop, name, colours / max(int(codes.max()), 1))
    figure.suptitle(f"{execution.kernel.name}: {name}", fontsize=10)
    return figure


def _chosen(ends: dict[int, Stop], before: Stop, rounds: Sequence[int] | None) -> list[Stop]:
    if rounds is not None:
        for one in rounds:
            if one not in ends:
                raise InputError(
                    f"there is no round {one}; the last one is {max(ends, default=-1)}"
                )
        return [ends[one] for one in rounds]
    stops = [before, *ends.values()]
    some = np.linspace(0, len(stops) - 1, min(PANELS, len(stops))).round().astype(int)
    return [stops[i] for i in some]


def _field(execution: Execution, stops: Sequence[Stop], field: str | None) -> str:
    """The field that is drawn: the one given, else an output, else the first that changes."""
    known = [
        name
        for name, values in stops[0].states.items()
        if values.ndim == 1 and all(name in stop.states for stop in stops)
    ]
    if field is not None:
        if field not in known:
            raise InputError(unknown("field", field, known))
        return field
    changing = [
        name
        for name in known
        if any((stop.states[name] != stops[0].states[name]).any() for stop in stops)
    ]
    outputs = [name for name in execution.kernel.outputs if name in changing]
    found = [*outputs, *changing, *known]
    if not found:
        raise InputError(
            f"kernel {execution.kernel.name!r} has no field with a value for each node"
        )
    return found[0]


def _panel(
    ax: Axes, places: NDArray, edges: Any, stop: Stop, field: str, shades: NDArray[np.float64]
) -> None:
    from matplotlib.collections import LineCollection

    lines = LineCollection(places[np.stack(edges, 1)], colors="0.8", linewidths=0.6, zorder=1)
    ax.add_collection(lines)
    few = len(places) <= WRITTEN
    look: dict[str, Any] = {"cmap": "YlGnBu", "vmin": -0.1, "vmax": 1.4, "edgecolors": "0.4"}
    x, y = places.T
    ax.scatter(x, y, s=130 if few else 26, c=shades, linewidths=0.6, zorder=2, **look)
    if few:
        for i, value in enumerate(stop.states[field].tolist()):
            text = f"{value:.3g}" if isinstance(value, float) else str(int(value))
            ax.text(x[i], y[i], text, ha="center", va="center", fontsize=6, zorder=3)
    down = stop.crashed | stop.away
    ax.scatter(x[down], y[down], s=180 if few else 40, c="black", marker="x", zorder=4)
    ax.margins(0.12)
