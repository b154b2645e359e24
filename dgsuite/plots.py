"""Plots of results."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np
import xarray as xr

from dgsuite.dataset import index, seconds_by_round
from partition.files import atomic_write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

P = ParamSpec("P")
T = TypeVar("T")

LOOKS = {"finish_async": ("s", "-", "#c8553d"), "clocked": ("^", "--", "#7a3b8f")}
MESSAGES = "#9ec9e2"
FEW = 32
"""With more rounds than this, lines have no markers."""


def communication(dataset: xr.Dataset, ax: Axes | None = None, *, messages: bool = True) -> Axes:
    """Plot the messages per round as bars, and IMSuite's communication count per round as a line.

    Parameters
    ----------
    dataset
        Dataset of one run.
    ax
        Axes to draw on; by default new ones.
    messages
        Whether to draw the bars.

    Returns
    -------
    The axes.
    """
    if ax is None:
        from matplotlib.figure import Figure

        ax = Figure(figsize=(6, 4), layout="constrained").subplots()
    rounds = dataset[index(dataset)].values
    if messages:
        ax.bar(rounds, dataset["messages"].values, width=0.85, color=MESSAGES, label="messages")
    style = str(dataset.attrs["style"])
    if style in LOOKS:
        marker, line, colour = LOOKS[style]
        ax.plot(
            rounds,
            dataset["comm"].values,
            color=colour,
            linestyle=line,
            marker=marker if len(rounds) <= FEW else "",
            markersize=4.5,
            linewidth=1.5,
            label=f"communication, {style}",
        )
    ax.set_xlabel(index(dataset))
    ax.set_ylabel("count")
    ax.locator_params(axis="x", integer=True, min_n_ticks=1)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def rounds(dataset: xr.Dataset, ax: Axes) -> Axes:
    """Plot the time of each round, computing and exchange, and on an axis of its own the active nodes.

    Parameters
    ----------
    dataset
        Dataset of one run.
    ax
        Axes to draw on.

    Returns
    -------
    The axes.
    """
    counted = index(dataset)
    computing, exchange = seconds_by_round(dataset)
    edges = np.arange(len(computing) + 1) - 0.5
    ax.stairs(computing, edges, fill=True, color="#7a3b8f", label="computing")
    ax.stairs(
        computing + exchange,
        edges,
        baseline=computing,
        fill=True,
        color="#c9b6d3",
        label="exchange",
    )
    ax.set_xlabel(counted)
    ax.set_ylabel("seconds, mean of the workers")
    ax.locator_params(axis="x", integer=True, min_n_ticks=1)
    ax.spines["top"].set_visible(False)
    nodes = ax.twinx()
    nodes.stairs(
        dataset["active"].values, edges, baseline=None, color="#c8553d", label="active nodes"
    )
    nodes.set_ylim(bottom=0)
    nodes.set_ylabel("active nodes")
    nodes.spines["top"].set_visible(False)
    (times, said), (line, name) = (axes.get_legend_handles_labels() for axes in (ax, nodes))
    ax.legend([*times, *line], [*said, *name], frameon=False)
    return ax


def styled(draw: Callable[P, T]) -> Callable[P, T]:
    """Have a function draw in the look of all our pictures, `look.mplstyle`."""

    @wraps(draw)
    def in_style(*args: P.args, **kwargs: P.kwargs) -> T:
        from matplotlib import style

        with style.context("dgsuite.look"):
            return draw(*args, **kwargs)

    return in_style


@styled
def write(figure: Figure, path: str) -> None:
    """Write a figure as PNG, atomically."""
    with atomic_write(path) as part:
        figure.savefig(part, format="png")


@styled
def overview(results: Sequence[xr.Dataset], most: int = 12) -> Figure:
    """Communication per round: one panel per kernel and input, one line per style.

    Messages are the same in every style, so each panel shows them once.
    """
    from matplotlib.figure import Figure

    panels: dict[Any, dict[str, xr.Dataset]] = {}
    for dataset in results:
        a = dataset.attrs
        panel = panels.setdefault((a["kernel"], a["n"], a.get("kind", "")), {})
        panel.setdefault(a["style"], dataset)
    shown = list(panels.items())[:most]
    columns = min(len(shown), 3)
    rows = math.ceil(len(shown) / columns)
    figure = Figure(figsize=(4.2 * columns, 3 * rows + 0.6))
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    legend: dict[str, Any] = {}
    for ax, ((kernel, n, kind), runs) in zip(axes, shown, strict=False):
        for i, dataset in enumerate(runs.values()):
            communication(dataset, ax, messages=i == 0)
        ax.set_title(f"{kernel}, n = {n}{', ' + kind if kind else ''}")
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            legend.setdefault(label, handle)
    for ax in axes[len(shown) :]:
        ax.set_visible(False)
    figure.suptitle("Communication per round, as IMSuite counts it")
    figure.legend(legend.values(), legend.keys(), loc="outside lower center", ncols=3)
    return figure
