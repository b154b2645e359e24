"""Plots of a run, or of many: ``ds.dgsuite.plot``; and what other pictures have in common with these."""

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

from dgsuite.base.errors import InputError, one_of
from dgsuite.base.extras import needed_by
from dgsuite.base.files import atomic_write
from dgsuite.base.wilson import wilson
from dgsuite.core.results.checking import of_one_run
from dgsuite.core.results.dataset import index, seconds_by_round
from dgsuite.partition.graph.dask_views import here

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from dgsuite.partition.graph.graph import Graph


LOOKS = {"finish_async": ("s", "-", "#c8553d"), "clocked": ("^", "--", "#7a3b8f")}
MESSAGES = "#9ec9e2"
MAX_MARKED_ROUNDS = 32
"""With more rounds than this, lines have no markers."""


def _communication(dataset: xr.Dataset, ax: Axes, messages: bool) -> None:
    """Plot the communication of each round as IMSuite counts it, and perhaps the messages, on axes."""
    rounds = dataset[index(dataset)].values
    if messages:
        ax.bar(rounds, dataset["messages"].values, width=0.85, color=MESSAGES, label="messages")
    style = str(dataset.attrs["style"])
    if style in LOOKS and "comm" in dataset:
        marker, line, colour = LOOKS[style]
        look = line + marker * (len(rounds) <= MAX_MARKED_ROUNDS)
        (drawn,) = ax.plot(rounds, dataset["comm"].values, look, color=colour)
        drawn.set(markersize=4.5, linewidth=1.5, label=f"communication, {style}")
    ax.set_xlabel(index(dataset))
    ax.set_ylabel("messages and communication")
    ax.locator_params(axis="x", integer=True, min_n_ticks=1)
    ax.spines[["top", "right"]].set_visible(False)


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


class Plots:
    """Plots of a run, or of many.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> plot = dgsuite.run("bfs", graph).dgsuite.plot
    >>> plot.communication().get_ylabel()
    'messages and communication'
    """

    def __init__(self, dataset: xr.Dataset) -> None:
        self._dataset = dataset

    def __call__(self, graph: Graph | None = None) -> Axes:
        """Plot what suits: `top` of a run and its graph, else `communication`; of many runs `probability`.

        Examples
        --------
        >>> import dgsuite
        >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> dgsuite.run("bfs", graph).dgsuite.plot().get_xlabel()
        'round'
        """
        if not {"round", "depth"} & {*self._dataset.dims}:
            return self.probability()
        return self.communication() if graph is None else self.top(graph)

    def top(
        self,
        graph: Graph,
        size: ArrayLike | None = None,
        colour: ArrayLike | None = None,
        most: int = 40,
        ax: Axes | None = None,
    ) -> Axes:
        """Plot the nodes that have the greatest values, with their labels and the edges between them.

        Parameters
        ----------
        graph
            The graph that the run was on.
        size
            A value for each node: the greatest are drawn, the greater the larger. By default the first
            output that is a real number, else the degree.
        colour
            A value for each node, such as its community in another run: equal ones have the same colour. By
            default the first output that is none.
        most
            How many nodes are drawn, at most.
        ax
            Axes to draw on; by default those of a new figure.

        Raises
        ------
        InputError
            There is not one value for each node.

        Examples
        --------
        >>> import dgsuite
        >>> graph = dgsuite.Graph.from_edges([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
        >>> ranks = dgsuite.run("pagerank", graph)
        >>> ax = dgsuite.run("leiden", graph).dgsuite.plot.top(graph, ranks["rank"], most=2)
        >>> sorted(text.get_text() for text in ax.texts)
        ['2', '3']
        """
        dataset, ax = of_one_run(self._dataset), _axes(ax)
        from matplotlib.collections import LineCollection
        from scipy.sparse import triu

        outputs = [values for values in dataset.data_vars.values() if values.dims == ("node",)]
        if size is None:
            degrees = here(graph.degree)[graph.partition.position(np.arange(graph.n))]
            size = next((values for values in outputs if values.dtype.kind == "f"), degrees)
        if colour is None:
            colour = next(
                (values for values in outputs if values.dtype.kind != "f"), np.zeros(graph.n)
            )
        sizes, colours = (np.asarray(here(values)) for values in (size, colour))
        if sizes.shape != (graph.n,) or colours.shape != (graph.n,):
            raise InputError(f"size and colour must have a value for each of {graph.n} nodes")
        shown = np.sort(np.argsort(-sizes, kind="stable")[:most])
        part = graph.subgraph(shown if graph.labels is None else graph.labels.of(shown))
        where = places(part)
        whole = part.to_scipy()
        ends = np.stack(triu(whole + whole.T).nonzero(), 1)
        ax.add_collection(LineCollection(where[ends], colors="0.75", linewidths=0.6))
        kinds, _ = pd.factorize(colours[shown])
        area = 20 + 300 * (sizes[shown] / (sizes.max() or 1)).clip(0)
        ax.scatter(where[:, 0], where[:, 1], s=area, c=kinds, cmap="Paired", zorder=3)
        for label, at in zip(part.labels or range(part.n), where, strict=True):
            ax.annotate(str(label), at, ha="center", va="center", fontsize=8, zorder=4)
        ax.set_axis_off()
        return ax

    def communication(self, ax: Axes | None = None) -> Axes:
        """Plot the messages of each round, and the communication as IMSuite counts it.

        Parameters
        ----------
        ax
            Axes to draw on; by default those of a new figure.

        Examples
        --------
        >>> import dgsuite
        >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> ds = dgsuite.run("bfs", graph)
        >>> ax = ds.dgsuite.plot.communication()
        >>> [float(bar.get_height()) for bar in ax.patches], ds.messages.values.tolist()
        ([3.0, 2.0, 1.0], [3, 2, 1])
        """
        dataset, ax = of_one_run(self._dataset), _axes(ax)
        _communication(dataset, ax, messages=True)
        return ax

    def rounds(self, ax: Axes | None = None) -> Axes:
        """Plot the time of each round, computing and exchange, and its active nodes.

        Parameters
        ----------
        ax
            Axes to draw on; by default those of a new figure.

        Examples
        --------
        >>> import dgsuite
        >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> ax = dgsuite.run("bfs", graph).dgsuite.plot.rounds()
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('round', 'seconds, mean of the workers')
        """
        dataset, ax = of_one_run(self._dataset), _axes(ax)
        counted = index(dataset)
        computing, exchange = seconds_by_round(dataset)
        edges = np.arange(len(computing) + 1) - 0.5
        total = computing + exchange
        look: Any = {"fill": True, "color": "#7a3b8f"}
        ax.stairs(computing, edges, label="computing", **look)
        ax.stairs(total, edges, baseline=computing, label="exchange", alpha=0.35, **look)
        ax.set_xlabel(counted)
        ax.set_ylabel("seconds, mean of the workers")
        ax.locator_params(axis="x", integer=True, min_n_ticks=1)
        ax.spines["top"].set_visible(False)
        nodes = ax.twinx()
        active = dataset["active"].values
        nodes.stairs(active, edges, baseline=None, color="#c8553d", label="active nodes")
        nodes.set_ylim(bottom=0)
        nodes.set_ylabel("active nodes")
        nodes.spines["top"].set_visible(False)
        (times, said), (line, name) = (axes.get_legend_handles_labels() for axes in (ax, nodes))
        ax.legend([*times, *line], [*said, *name], frameon=False)
        return ax

    def probability(
        self,
        name: str = "valid",
        by: str | None = None,
        ax: Axes | None = None,
        *,
        lines: str | None = None,
        level: float = 0.95,
    ) -> Axes:
        """Plot how often something holds in many runs, with Wilson's interval of its probability.

        Parameters
        ----------
        name
            A variable of truth values, or of 1 and 0; -1 stands for not known.
        by
            The dimension or coordinate to the right: what was swept over. By default the only one, apart from
            "run", "seed" and "repeat", that has several values.
        ax
            Axes to draw on; by default those of a new figure.
        lines
            A dimension or coordinate: a line for each of its values. The runs are the entries along all
            other dimensions.
        level
            How sure the intervals are.

        Raises
        ------
        InputError
            The dataset has no such variable, dimension or coordinate, or values are other numbers.

        Examples
        --------
        How often Luby's algorithm survives the loss of messages:

        >>> import dgsuite
        >>> import xarray as xr
        >>> from dgsuite import genval
        >>> graph = genval.graph("er", 20, seed=1)
        >>> losses = [0.001, 0.01, 0.1]
        >>> many = [
        ...     dgsuite.lab.repeat("mis", graph, 500, network=dgsuite.Network(loss=loss)) for loss in losses
        ... ]
        >>> ds = xr.concat(many, xr.Variable("loss", losses), combine_attrs="drop_conflicts")
        >>> ax = ds.dgsuite.plot.probability()
        >>> ax.get_xlabel(), ax.lines[0].get_ydata().round(2).tolist()
        ('loss', [0.99, 0.93, 0.4])
        """
        dataset, ax = self._dataset, _axes(ax)
        one_of("variable", name, sorted(map(str, dataset.data_vars)))
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
            if what is not None:
                one_of("dimension or coordinate", what, sorted({*frame} - {name}))
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
            if len(above) == len(places):
                ax.set_xscale("log")
            else:
                ax.set_xscale("symlog", linthresh=above[0])
        ax.set_ylim(-0.03, 1.03)
        ax.set_xlabel(by)
        ax.set_ylabel(f"share of runs: {name}")
        ax.spines[["top", "right"]].set_visible(False)
        if lines is not None:
            ax.legend(frameon=False)
        return ax


def _axes(ax: Axes | None) -> Axes:
    """The axes given, or those of a new figure, which notebooks then show."""
    if ax is not None:
        return ax
    with needed_by("a picture"):
        from matplotlib import pyplot

    return pyplot.subplots(figsize=(6, 4), layout="constrained")[1]


def styled[**P, T](draw: Callable[P, T]) -> Callable[P, T]:
    """Have a function draw in the look of all our pictures, `look.mplstyle`."""

    @wraps(draw)
    def in_style(*args: P.args, **kwargs: P.kwargs) -> T:
        with needed_by("a picture"):
            from matplotlib import style

        with style.context("dgsuite.look"):
            return draw(*args, **kwargs)

    return in_style


def grid(titles: Sequence[str], width: float = 4.4) -> tuple[Figure, list[Axes]]:
    """A figure with a panel a title."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * len(titles), 3.6))
    axes = list(figure.subplots(1, len(titles), squeeze=False)[0])
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title(title, parse_math=False)
    return figure, axes


def common_legend(figure: Figure, columns: int) -> None:
    """One legend for all panels of a figure, below them: each label once."""
    entries: dict[str, Any] = {}
    for ax in figure.axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=columns)


NEAT = 100
"""Nodes of a graph up to which it is drawn neatly, which takes time with the cube of them."""


def places(graph: Graph) -> NDArray[np.float64]:
    """Where nodes are drawn, shape (n, 2): rings and paths on a circle, trees around their centre, grids
    in rows, others so that few edges cross.
    """
    import networkx as nx

    whole = nx.Graph(graph.to_networkx())
    whole.remove_edges_from([*nx.selfloop_edges(whole)])
    connected, degrees = len(whole) > 0 and nx.is_connected(whole), dict(whole.degree)
    if connected and max(degrees.values()) <= 2:
        begin = min(whole, key=degrees.__getitem__)  # an end of a path, or any node of a ring
        order = [*nx.dfs_preorder_nodes(whole, begin)]
        turn = 2 * np.pi * np.arange(len(order)) / (len(order) + (whole.size() < len(order)))
        found = dict(zip(order, np.stack([np.cos(turn), np.sin(turn)], axis=1), strict=True))
    elif (columns := _columns(whole)) > 0:
        found = {node: (node % columns, -(node // columns)) for node in whole}
    elif nx.is_tree(whole):
        found = _around(whole)
    elif connected and len(whole) <= NEAT:
        found = nx.kamada_kawai_layout(whole, weight=None)
    else:
        found = nx.spring_layout(whole, weight=None, seed=0)
    return np.array([found[node] for node in whole], np.float64)


def _columns(whole: Any) -> int:
    """Columns of a grid whose nodes are numbered row by row; 0 if it is none."""
    n, ends = len(whole), {tuple(sorted(pair)) for pair in whole.edges}
    columns = max((v - u for u, v in ends), default=0) if set(whole) == set(range(n)) else 0
    if columns < 2 or n % columns:
        return 0
    across = {(v, v + 1) for v in range(n) if (v + 1) % columns}
    down = {(v, v + columns) for v in range(n - columns)}
    return columns if across | down == ends else 0


def _around(tree: Any) -> dict[Any, tuple[float, float]]:
    """A tree with its centre in the middle: each node as far out as it is deep, above its leaves."""
    import networkx as nx

    centre = nx.center(tree)[0]
    depth = nx.single_source_shortest_path_length(tree, centre)
    leaves = [v for v in nx.dfs_preorder_nodes(tree, centre) if tree.degree(v) == 1 and v != centre]
    turn = {leaf: 2 * np.pi * i / len(leaves) for i, leaf in enumerate(leaves)}
    for node in nx.dfs_postorder_nodes(tree, centre):
        below = [turn[v] for v in tree[node] if depth[v] > depth[node]]
        turn.setdefault(node, float(np.mean(below)) if below else 0.0)
    return {v: (depth[v] * np.cos(turn[v]), depth[v] * np.sin(turn[v])) for v in tree}


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
    for ax, ((kernel, n, kind), runs) in zip(axes, shown, strict=False):
        for i, dataset in enumerate(runs.values()):
            _communication(dataset, ax, messages=i == 0)
        ax.set_title(f"{kernel}, n = {n}{', ' + kind if kind else ''}")
    for ax in axes[len(shown) :]:
        ax.set_visible(False)
    figure.suptitle("Communication per round, as IMSuite counts it")
    common_legend(figure, 3)
    return figure
