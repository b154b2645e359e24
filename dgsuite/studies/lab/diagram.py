"""The space-time diagram of an execution (Lamport 1978, figure 1): nodes as lines, messages between them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dgsuite.core.results.plots import styled
from dgsuite.studies.lab.stops import Stop, check_size, names, stops_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dgsuite.studies.lab.executions import Execution

SENT, LOST, UNHEARD, FALSE = "#1f6f8b", "#c1272d", "#8a8f94", "#7a3b8f"

PART = 0.6
"""How far a message gets that is lost."""

NAMED = 60
"""Phases, or nodes, up to which each one's name is written."""


@styled
def space_time(execution: Execution) -> Figure:
    """Draw the diagram; see `dgsuite.lab.Execution.space_time`."""
    from matplotlib.figure import Figure

    check_size(execution)
    stops = stops_of(execution)[1:]
    n, end = execution.graph.n, len(stops)
    figure = Figure(figsize=(np.clip(0.6 * end + 2.2, 6, 30), np.clip(0.28 * n + 1.4, 2.6, 30)))
    ax = figure.subplots()
    _rounds(ax, stops)
    _lines(ax, stops, n)
    _messages(ax, stops)
    ax.set_xlim(-0.3, end + 0.3)
    ax.set_ylim(n - 0.4, -0.6)
    if n <= NAMED:
        ax.set_yticks(range(n), names(execution.graph))
    ax.set_ylabel("node")
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    handles, labels = ax.get_legend_handles_labels()
    if labels:
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _rounds(ax: Axes, stops: Sequence[Stop]) -> None:
    """Name phases, and shade every other round."""
    first = 0
    for round_, round_of in groupby(stop.round for stop in stops):
        end = first + len([*round_of])
        if round_ % 2 == 0:
            ax.axvspan(first - 0.15, end - 0.15, color="0.5", alpha=0.1, linewidth=0, zorder=0)
        first = end
    if len(stops) <= NAMED:
        phases = [stop.phase for stop in stops]
        ax.set_xticks(range(len(stops)), phases, rotation=35, ha="right", rotation_mode="anchor")
    begins = [i for i, stop in enumerate(stops) if not i or stops[i - 1].round != stop.round]
    some = begins[:: -(-len(begins) // NAMED)]
    above = ax.secondary_xaxis("top")
    above.set_xticks(some, [f"round {stops[i].round}" for i in some], ha="left", fontsize=8)
    above.tick_params(length=0)
    above.spines["top"].set_visible(False)


def _lines(ax: Axes, stops: Sequence[Stop], n: int) -> None:
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


def _messages(ax: Axes, stops: Sequence[Stop]) -> None:
    """The messages, which are read in the next phase."""
    sent = [stop.messages for stop in stops]
    when = np.repeat(np.arange(len(sent)), [*map(len, sent)])
    sender, receiver, lost, unheard, false = (
        np.concatenate([getattr(one, name) for one in sent])
        for name in ("sender", "receiver", "lost", "unheard", "false")
    )
    arrives = ~lost & ~unheard
    rise = (receiver - sender).astype(np.float64)
    for which, colour, name in (
        (arrives & ~false, SENT, "message"),
        (arrives & false, FALSE, "message of a liar"),
    ):
        if which.any():
            at, along = (when[which], sender[which]), (np.ones(which.sum()), rise[which])
            like = {"units": "dots", "width": 1.1, "headwidth": 6, "headlength": 8}
            scale = {"angles": "xy", "scale_units": "xy", "scale": 1}
            ax.quiver(*at, *along, color=colour, zorder=3, label=name, **like, **scale)
    ends = zip((lost, unheard & ~lost), (PART, 1), (LOST, UNHEARD), ("x", "|"), strict=True)
    for (which, part, colour, mark), name in zip(ends, ("lost", "receiver is down"), strict=True):
        if which.any():
            x, y = when[which] + part, sender[which] + part * rise[which]
            both = np.array([[when[which], sender[which]], [x, y]])
            ax.plot(*both.swapaxes(0, 1), color=colour, linestyle=(0, (4, 2)), linewidth=0.9)
            ax.scatter(x, y, s=26, c=colour, marker=mark, zorder=3, label=name)
