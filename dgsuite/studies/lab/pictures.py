"""Drawings of an execution: the graph once for each round, its nodes in the colours of what they know; and
the space-time diagram (Lamport 1978, figure 1), with nodes as lines and messages between them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, unknown
from dgsuite.core.engine.program import Step
from dgsuite.core.results.plots import places, styled
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.lab.executions import Execution, Moment
from dgsuite.studies.lab.messages import NONE, Messages

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_NODES = 300
"""Nodes of an execution that can be shown."""

MOST_MESSAGES = 200_000
"""Messages of an execution that can be shown, and states of single nodes."""

PANELS = 8
"""Rounds that are drawn, if none are named."""

WRITTEN = 40
"""Nodes up to which values are written beside them."""

SENT, LOST, UNHEARD, FALSE = "#1f6f8b", "#c1272d", "#8a8f94", "#7a3b8f"

PART = 0.6
"""How far a message gets that is lost."""

TOLD = 40
"""Messages up to which the values of their fields are written beside them."""

NAMED = 60
"""Phases, or nodes, up to which each one's name is written."""


def stops_of(execution: Execution) -> list[Moment]:
    """What is shown of an execution, from before its first phase on.

    Raises
    ------
    InputError
        Its graph is too large, or it is too long.
    """
    if (n := execution.graph.n) > MOST_NODES:
        raise InputError(
            f"an execution on {n} nodes is too large to show; take a graph of up to {MOST_NODES}"
        )
    nobody = np.zeros(n, bool)
    found = [Moment(Step(0, "", False, 0), execution.initial(), NONE, nobody, nobody)]
    count = 0
    for moment in execution.moments():
        count += len(moment.messages) + n
        if count > MOST_MESSAGES:
            now = moment.step.round
            raise InputError(
                f"the execution is too long to show: by round {now} it has more than {MOST_MESSAGES} "
                f"messages and states; end it before with max_rounds={max(now, 1)}"
            )
        found.append(moment)
    return found


def names(graph: Graph) -> list[str]:
    """What the nodes are called."""
    found = np.arange(graph.n) if graph.labels is None else graph.labels.array
    return [str(label) for label in found.tolist()]


@styled
def states(execution: Execution, field: str | None, rounds: Sequence[int] | None) -> Figure:
    """Draw the states; see `dgsuite.lab.Execution.draw`."""
    from matplotlib.figure import Figure

    before, *after = stops_of(execution)
    ends = {stop.step.round: stop for stop in after}  # the last phase of each round
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
        ax.set_title("before" if stop is before else f"round {stop.step.round}", fontsize=9)
        _panel(ax, where, ends_of_edges, stop, name, colours / max(int(codes.max()), 1))
    figure.suptitle(f"{execution.kernel.name}: {name}", fontsize=10)
    return figure


def _chosen(ends: dict[int, Moment], before: Moment, rounds: Sequence[int] | None) -> list[Moment]:
    for one in rounds or ():
        if one not in ends:
            raise InputError(f"there is no round {one}; the last one is {max(ends, default=-1)}")
    if rounds is not None:
        return [ends[one] for one in rounds]
    stops = [before, *ends.values()]
    some = np.linspace(0, len(stops) - 1, min(PANELS, len(stops))).round().astype(int)
    return [stops[i] for i in some]


def _field(execution: Execution, stops: Sequence[Moment], field: str | None) -> str:
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
    for name in (*outputs, *changing, *known):
        return name
    raise InputError(f"kernel {execution.kernel.name!r} has no field with a value for each node")


def _panel(
    ax: Axes, places: NDArray, edges: Any, stop: Moment, field: str, shades: NDArray[np.float64]
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


@styled
def space_time(execution: Execution, after: tuple[int, int] | None = None) -> Figure:
    """Draw the diagram; see `dgsuite.lab.Execution.space_time`."""
    from matplotlib.figure import Figure

    stops = stops_of(execution)[1:]
    n, end = execution.graph.n, len(stops)
    figure = Figure(figsize=(np.clip(0.6 * end + 2.2, 6, 30), np.clip(0.28 * n + 1.4, 2.6, 30)))
    ax = figure.subplots()
    _rounds(ax, stops)
    _lines(ax, stops, n)
    _messages(ax, stops)
    if after is not None:
        node, phase = after
        if not (0 <= node < n and 0 <= phase < end):
            raise InputError(f"after={after}: nodes are below {n}, and phases below {end}")
        _cone(ax, stops, n, node, phase)
    ax.set_xlim(-0.3, end + 0.3)
    ax.set_ylim(n - 0.4, -0.6)
    if n <= NAMED:
        ax.set_yticks(range(n), names(execution.graph))
    ax.set_ylabel("node")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    handles, labels = ax.get_legend_handles_labels()
    if labels:
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _cone(ax: Axes, stops: Sequence[Moment], n: int, node: int, phase: int) -> None:
    """Mark what a node's phase happened before (Lamport 1978): all that it may have influenced."""
    reached = np.zeros(n, bool)
    reached[node] = True
    for i in range(phase, len(stops)):
        up = np.flatnonzero(reached & ~stops[i].crashed)
        ax.hlines(up, i, i + 1, colors=SENT, linewidth=3, alpha=0.4, zorder=0)
        sent = stops[i].messages
        heard = reached[sent.sender] & ~sent.lost & ~sent.unheard
        reached[sent.receiver[heard]] = True


def _payloads(sent: Messages) -> list[str]:
    """What messages say, in short: the values of their fields."""
    values = [column.tolist() for column in sent.fields.values()]
    return [", ".join(f"{one:.3g}" if isinstance(one, float) else str(one) for one in row)
            for row in zip(*values, strict=True)] or [""] * len(sent)  # fmt: skip


def _rounds(ax: Axes, stops: Sequence[Moment]) -> None:
    """Name phases, and shade every other round."""
    first = 0
    for round_, round_of in groupby(stop.step.round for stop in stops):
        end = first + len([*round_of])
        if round_ % 2 == 0:
            ax.axvspan(first - 0.15, end - 0.15, color="0.5", alpha=0.1, linewidth=0, zorder=0)
        first = end
    if len(stops) <= NAMED:
        phases = [stop.step.phase for stop in stops]
        ax.set_xticks(range(len(stops)), phases, rotation=35, ha="right", rotation_mode="anchor")
    rounds = [-1, *(stop.step.round for stop in stops)]
    begins = [i for i, (before, now) in enumerate(pairwise(rounds)) if before != now]
    some = begins[:: -(-len(begins) // NAMED)]
    above = ax.secondary_xaxis("top")
    above.set_xticks(some, [f"round {stops[i].step.round}" for i in some], ha="left", fontsize=8)
    above.tick_params(length=0)
    above.spines["top"].set_visible(False)


def _lines(ax: Axes, stops: Sequence[Moment], n: int) -> None:
    """The nodes: a line as long as a node is up, dotted where it is away; a cross where it crashes."""
    crashed = np.array([stop.crashed for stop in stops]).reshape(-1, n)
    away = np.array([stop.away for stop in stops]).reshape(-1, n)
    for kind, look in ((~crashed & ~away, "solid"), (away, (0, (1, 3)))):
        node, first, end = _stretches(kind)
        ax.hlines(node, first, end, colors="0.35", linestyles=look, linewidth=0.9, zorder=1)
    before = np.vstack([np.zeros((1, n), bool), crashed[:-1]])
    when, node = np.nonzero(crashed & ~before)
    if len(node):
        ax.scatter(when, node, s=55, c="black", marker="x", linewidths=2, zorder=4, label="crash")


def _stretches(there: NDArray[np.bool_]) -> tuple[NDArray, NDArray, NDArray]:
    """Columns, first rows and ends of all stretches of rows in which a column is True."""
    rim = np.zeros((1, there.shape[1]), np.int8)
    change = np.diff(np.vstack([rim, there.astype(np.int8), rim]), axis=0).T
    column, first = np.nonzero(change > 0)
    return column, first, np.nonzero(change < 0)[1]


def _messages(ax: Axes, stops: Sequence[Moment]) -> None:
    """The messages, which are read in the next phase."""
    sent = [stop.messages for stop in stops]
    when = np.repeat(np.arange(len(sent)), [*map(len, sent)])
    sender, receiver, lost, unheard, false = (
        np.concatenate([getattr(one, name) for one in sent])
        for name in ("sender", "receiver", "lost", "unheard", "false")
    )
    arrives = ~lost & ~unheard
    if len(when) <= TOLD:
        said = [text for one in sent for text in _payloads(one)]
        for x, u, v, text in zip(when, sender, receiver, said, strict=True):
            ax.annotate(text, (x + 0.25, u + 0.25 * (v - u)), fontsize=6, color="0.25", zorder=5)
    rise = (receiver - sender).astype(np.float64)
    kinds = (arrives & ~false, SENT, "message"), (arrives & false, FALSE, "message of a liar")
    for which, colour, name in kinds:
        if which.any():
            at, along = (when[which], sender[which]), (np.ones(which.sum()), rise[which])
            like = {"units": "dots", "width": 1.1, "headwidth": 6, "headlength": 8}
            scale = {"angles": "xy", "scale_units": "xy", "scale": 1}
            ax.quiver(*at, *along, color=colour, zorder=3, **like, **scale)
            ax.plot([], [], color=colour, marker=">", label=name)
    ends = zip((lost, unheard & ~lost), (PART, 1), (LOST, UNHEARD), ("x", "|"), strict=True)
    for (which, part, colour, mark), name in zip(ends, ("lost", "receiver is down"), strict=True):
        if which.any():
            x, y = when[which] + part, sender[which] + part * rise[which]
            both = np.array([[when[which], sender[which]], [x, y]])
            ax.plot(*both.swapaxes(0, 1), color=colour, linestyle=(0, (4, 2)), linewidth=0.9)
            ax.scatter(x, y, s=26, c=colour, marker=mark, zorder=3, label=name)
