"""Plots of results."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from dgsuite.base.errors import InputError, unknown
from dgsuite.base.extras import needed_by
from dgsuite.base.files import atomic_write
from dgsuite.base.wilson import wilson
from dgsuite.core.results.dataset import index, seconds_by_round
from dgsuite.partition.graph.dask_views import here

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from dgsuite.partition.graph.graph import Graph


LOOKS = {"finish_async": ("s", "-", "#c8553d"), "clocked": ("^", "--", "#7a3b8f")}
MESSAGES = "#9ec9e2"
ACTIVE = "#c8553d"
MAX_MARKED_ROUNDS = 32
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
    if style in LOOKS and "comm" in dataset:
        marker, line, colour = LOOKS[style]
        ax.plot(
            rounds,
            dataset["comm"].values,
            color=colour,
            linestyle=line,
            marker=marker if len(rounds) <= MAX_MARKED_ROUNDS else "",
            markersize=4.5,
            linewidth=1.5,
            label=f"communication, {style}",
        )
    ax.set_xlabel(index(dataset))
    ax.set_ylabel("messages and communication")
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


CHANCE = ("run", "seed", "repeat")
"""Dimensions and coordinates along which runs differ in nothing but random numbers."""

WIDE = 20
"""Ratio of the greatest to the least value from which an axis is logarithmic."""


def bars(
    ax: Axes, x: Any, middle: NDArray, low: NDArray, high: NDArray, label: str | None
) -> Line2D:
    """Draw a line through values, with the interval of each."""
    around = np.maximum([middle - low, high - middle], 0)  # rounding may leave less than nothing
    line: Line2D = ax.errorbar(
        x, middle, around, marker="o", markersize=4, capsize=3, label=label
    ).lines[0]
    return line


def probability(
    dataset: xr.Dataset, name: str, by: str | None, ax: Axes, lines: str | None, level: float
) -> Axes:
    """Plot how often something holds; see `dgsuite.core.results.plot_accessor.Plots.probability`."""
    if name not in dataset.data_vars:
        raise InputError(unknown("variable", name, sorted(map(str, dataset.data_vars))))
    frame = dataset[[name]].to_dataframe().reset_index()
    if not frame[name].isin([-1, 0, 1]).all():
        raise InputError(f"{name!r} is no truth value: it has others than 0, 1 and -1")
    swept = [c for c in frame if c not in (name, lines, *CHANCE) and frame[c].nunique() > 1]
    if by is None and len(swept) != 1:
        raise InputError(
            f"say by= what the probability is drawn: {', '.join(map(str, swept)) or 'nothing'} varies"
        )
    by = str(swept[0]) if by is None else by
    for what in (by, lines):
        if what is not None and (what == name or what not in frame):
            raise InputError(unknown("dimension or coordinate", what, sorted({*frame} - {name})))
    frame = frame[frame[name] >= 0]
    is_number = frame[by].dtype.kind in "iuf"
    places = frame[by].unique().tolist()
    if is_number:
        places.sort()
    for label, part in [(None, frame)] if lines is None else frame.groupby(lines):
        counts = part.groupby(by)[name].agg(["sum", "count"])
        share, low, high = wilson(counts["sum"].to_numpy(), counts["count"].to_numpy(), level)
        at = counts.index if is_number else [places.index(one) for one in counts.index]
        shown = None if lines is None else f"{lines} = {label}"
        line = bars(ax, at, share, low, high, shown)
        line.set_linestyle("-" if is_number else "")
    if not is_number:
        ax.set_xticks(range(len(places)), [*map(str, places)])
        ax.margins(x=0.2)
    elif len(above := [one for one in places if one > 0]) > 1 and above[-1] > WIDE * above[0]:
        ax.set_xscale("symlog" if len(above) < len(places) else "log", **_least(above, places))
    ax.set_ylim(-0.03, 1.03)
    ax.set_xlabel(by)
    ax.set_ylabel(f"share of runs: {name}")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    if lines is not None:
        ax.legend(frameon=False)
    return ax


def _least(above: list[float], places: list[float]) -> dict[str, float]:
    """Where a logarithmic axis with other values than positive ones begins to be linear."""
    return {"linthresh": above[0]} if len(above) < len(places) else {}


def styled[**P, T](draw: Callable[P, T]) -> Callable[P, T]:
    """Have a function draw in the look of all our pictures, `look.mplstyle`."""

    @wraps(draw)
    def in_style(*args: P.args, **kwargs: P.kwargs) -> T:
        with needed_by("a picture"):
            from matplotlib import style

        with style.context("dgsuite.look"):
            return draw(*args, **kwargs)

    return in_style


NEAT = 100
"""Nodes of a graph up to which it is drawn neatly, which takes time with the cube of them."""

PANELS = 8
"""Rounds that `network` draws, at most."""


@styled
def network(dataset: xr.Dataset, graph: Graph) -> Figure:
    """Plot a small graph once for each round, and below it the messages and active nodes of all rounds.

    Nodes that sent in the round are filled, and what they sent is drawn as lines. Of many rounds some are
    drawn, from the first to the last.

    Parameters
    ----------
    dataset
        Dataset of a run with ``clusters=graph.n`` and ``trace=True``.
    graph
        The graph of the run.

    Returns
    -------
    The figure.

    Raises
    ------
    InputError
        The run was not traced, or its clusters are not single nodes.
    """
    from matplotlib.figure import Figure

    if "traffic" not in dataset or dataset.sizes["cluster"] != graph.n:
        raise InputError(
            f"the run has no messages by node; repeat it with clusters={graph.n} and trace=True"
        )
    counted = index(dataset)
    traffic, rounds = dataset["traffic"].values, dataset[counted].values
    shown = np.unique(np.linspace(0, len(rounds) - 1, min(PANELS, len(rounds))).astype(int))
    columns = min(4, len(shown))
    rows = math.ceil(len(shown) / columns)
    figure = Figure(figsize=(8, 2.1 * rows + 1.6))
    parts = figure.subfigures(2, 1, squeeze=False, height_ratios=[2.1 * rows, 1.6])
    above, below = parts[:, 0]
    where = places(graph)
    axes = above.subplots(rows, columns, squeeze=False).ravel()
    for ax in axes:
        ax.set_axis_off()
        ax.set_aspect("equal")
    for ax, at in zip(axes, shown, strict=False):
        _round(ax, graph, where, traffic[at])
        ax.set_title(f"{counted} {rounds[at]}", fontsize=9)
    ax = below.subplots()
    ax.bar(rounds, dataset["messages"].values, width=0.85, color=MESSAGES, label="messages")
    ax.plot(rounds, dataset["active"].values, "o-", color=ACTIVE, label="active nodes")
    ax.set_xlabel(counted)
    ax.set_ylim(bottom=0)
    ax.locator_params(axis="x", integer=True, min_n_ticks=1)
    ax.locator_params(axis="y", integer=True, nbins=4)
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def places(graph: Graph) -> NDArray[np.float64]:
    """Where nodes are drawn, shape (n, 2): rings and paths on a circle, others so that few edges cross."""
    import networkx as nx

    whole = nx.Graph(graph.to_networkx())
    whole.remove_edges_from([*nx.selfloop_edges(whole)])
    connected, degrees = len(whole) > 0 and nx.is_connected(whole), dict(whole.degree)
    if connected and max(degrees.values()) <= 2:
        begin = min(whole, key=degrees.__getitem__)  # an end of a path, or any node of a ring
        order = [*nx.dfs_preorder_nodes(whole, begin)]
        turn = 2 * np.pi * np.arange(len(order)) / (len(order) + (whole.size() < len(order)))
        found = dict(zip(order, np.stack([np.cos(turn), np.sin(turn)], axis=1), strict=True))
    elif connected and len(whole) <= NEAT:
        found = nx.kamada_kawai_layout(whole, weight=None)
    else:
        found = nx.spring_layout(whole, weight=None, seed=0)
    return np.array([found[node] for node in whole])


def top(
    dataset: xr.Dataset,
    graph: Graph,
    size: ArrayLike | None,
    colour: ArrayLike | None,
    most: int,
    ax: Axes,
) -> Axes:
    """Plot the greatest nodes; see `dgsuite.core.results.plot_accessor.Plots.top`."""
    outputs = [values for values in dataset.data_vars.values() if values.dims == ("node",)]
    if size is None:
        degrees = here(graph.degree)[graph.partition.position(np.arange(graph.n))]
        size = next((values for values in outputs if values.dtype.kind == "f"), degrees)
    if colour is None:
        colour = next((values for values in outputs if values.dtype.kind != "f"), np.zeros(graph.n))
    sizes, colours = (np.asarray(here(values)) for values in (size, colour))
    if sizes.shape != (graph.n,) or colours.shape != (graph.n,):
        raise InputError(f"size and colour must have a value for each of {graph.n} nodes")
    shown = np.sort(np.argsort(-sizes, kind="stable")[:most])
    part = graph.subgraph(shown if graph.labels is None else graph.labels.of(shown))
    where = places(part)
    _edges(ax, part, where)
    kinds, _ = pd.factorize(colours[shown])
    area = 20 + 300 * (sizes[shown] / (sizes.max() or 1)).clip(0)
    ax.scatter(where[:, 0], where[:, 1], s=area, c=kinds, cmap="Paired", zorder=3)
    for label, at in zip(part.labels or range(part.n), where, strict=True):
        ax.annotate(str(label), at, ha="center", va="center", fontsize=8, zorder=4)
    ax.set_axis_off()
    return ax


def _edges(ax: Axes, graph: Graph, places: NDArray) -> None:
    """Draw the edges of a graph."""
    from matplotlib.collections import LineCollection
    from scipy.sparse import triu

    whole = graph.to_scipy()
    ends = triu(whole + whole.T).nonzero()
    ax.add_collection(LineCollection(places[np.stack(ends, 1)], colors="0.75", linewidths=0.6))


def _round(ax: Axes, graph: Graph, places: NDArray, traffic: NDArray) -> None:
    """Draw the graph, and the messages of a round between its nodes."""
    from matplotlib.collections import LineCollection

    _edges(ax, graph, places)
    sender, receiver = np.nonzero(traffic)
    away = sender != receiver
    pairs = np.stack([sender[away], receiver[away]], 1)
    sent = LineCollection(places[pairs], colors=ACTIVE, linewidths=1.1, alpha=0.5)
    ax.add_collection(sent)
    active = traffic.any(axis=1)
    colours = np.where(active, ACTIVE, "0.75")
    ax.scatter(places[:, 0], places[:, 1], s=26, c=colours, zorder=3)
    ax.margins(0.08)


@styled
def svg(figure: Figure, alt: str) -> str:
    """A figure as an element of a page: text and black lines take the colour of the page's text.

    Parameters
    ----------
    alt
        What the figure shows, for those who do not see it.
    """
    from html import escape

    from matplotlib import rc_context

    buffer = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": alt}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r' id="[\w.]+_\d+"', "", text)  # a page has many figures
    about = f'<svg role="img" aria-label="{escape(alt)}" fill="currentColor" '
    about += 'style="max-width: 100%; height: auto" '
    return text.replace("<svg ", about, 1).replace("#000000", "currentColor")


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
