"""What the dataset of a run can do: ``ds.dgsuite.plot``, ``summary()``, ``to_dataframe()`` and others."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import xarray as xr

from dgsuite.base.errors import InputError
from dgsuite.base.extras import needed_by
from dgsuite.base.files import atomic_write
from dgsuite.core.workers.pages import Record, page, record
from dgsuite.partition.graph.dask_views import here
from dgsuite.partition.graph.graph import Graph

if TYPE_CHECKING:
    import dask.dataframe as dd
    import networkx as nx
    from distributed import Client
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


CHARTS = ("messages", "active", "wire_bytes")
"""Variables that a page shows by round, beside the times."""


@xr.register_dataset_accessor("dgsuite")  # type: ignore[no-untyped-call]
class Accessor:
    """The attribute ``dgsuite`` of a dataset that `dgsuite.run` or `dgsuite.open` returned.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges(["ann", "bob"], ["bob", "cid"], relabel=True)
    >>> ds = dgsuite.run("bfs", graph, root="ann")
    >>> ds.dgsuite.summary()[["kernel", "rounds", "messages"]].to_dict()
    {'kernel': 'bfs', 'rounds': 2, 'messages': 4}
    >>> ds.dgsuite.to_networkx().nodes["cid"]
    {'level': 2, 'parent': 'bob'}
    """

    def __init__(self, dataset: xr.Dataset) -> None:
        self._dataset = dataset

    @property
    def plot(self) -> Plots:
        """Plots of a run: ``ds.dgsuite.plot.communication()``, ``ds.dgsuite.plot.rounds()``; or of many runs:
        ``ds.dgsuite.plot.probability()``.
        """
        return Plots(self._dataset)

    def summary(self) -> pd.Series:
        """The run in a few lines: what ran on what, its counts over all rounds, and its time.

        Returns
        -------
        pandas.Series
            With the dataset's title as name. Sizes are in bytes, times in seconds. ``computing`` and
            ``exchange`` are parts of ``seconds``: means over the workers, including the time that they wait.

        Examples
        --------
        >>> import dgsuite
        >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> dgsuite.run("bfs", graph).dgsuite.summary()["messages"]
        6
        """
        ds = self._run
        return pd.Series(_facts(ds), name=ds.attrs["title"], dtype=object)

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write a page that shows the run: its counts, and messages, active nodes and times of each round.

        It is the page ``/dgsuite`` of a scheduler's dashboard, with one run.

        Parameters
        ----------
        path
            The file.

        Raises
        ------
        InputError
            The folder does not exist or is not writable.

        Examples
        --------
        >>> from pathlib import Path
        >>> import dgsuite
        >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> _ = dgsuite.run("bfs", graph).dgsuite.to_html("run.html")
        >>> Path("run.html").read_text()[:15]
        '<!doctype html>'
        """
        text = page([record_of(self._run)])
        with atomic_write(path) as part:
            Path(part).write_text(text, encoding="utf-8")

    def to_dataframe(
        self, outputs: Sequence[str] | None = None, client: Client | None = None
    ) -> dd.DataFrame:
        """The outputs as a Dask dataframe: see `dgsuite.to_dataframe`.

        Parameters
        ----------
        outputs
            Their names; by default all that have a value for each node.
        client
            Whose workers make the dataframe; by default the current one.

        Examples
        --------
        >>> import dgsuite
        >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> dgsuite.run("bfs", graph).dgsuite.to_dataframe().compute()["level"].tolist()
        [0, 1, 2, 3]
        """
        from dgsuite.core.results.dataframe import to_dataframe

        return to_dataframe(self._run, outputs, client)

    def to_networkx(self, graph: Graph | nx.Graph | None = None) -> nx.Graph:
        """A networkx graph whose nodes have the outputs as attributes.

        Parameters
        ----------
        graph
            The graph that the run was on, whose edges the result has. A dataset has no edges. So without the
            graph the result has those of the tree, from parents to children, if ``parent`` is an output, and
            no edges otherwise.

        Returns
        -------
        networkx.Graph or networkx.DiGraph
            A new graph. Outputs that are on workers are gathered.

        Raises
        ------
        InputError
            The graph has other nodes than the dataset.

        Examples
        --------
        >>> import dgsuite
        >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> tree = dgsuite.run("bfs", graph).dgsuite.to_networkx()
        >>> sorted(tree.edges), tree.nodes[3]["level"]
        ([(0, 1), (1, 2), (2, 3)], 3)
        """
        import networkx as nx

        ds = self._run
        by_node = [name for name, values in ds.data_vars.items() if values.dims == ("node",)]
        nodes = here(ds["node"]).values.tolist()
        columns = {str(name): here(ds[name]).values.tolist() for name in by_node}
        if graph is None:
            made = nx.DiGraph() if "parent" in columns else nx.Graph()
            made.add_nodes_from(nodes)
            pairs = zip(columns.get("parent", []), nodes, strict=False)
            made.add_edges_from((u, v) for u, v in pairs if u != v and u in made)
        else:
            made = graph.to_networkx() if isinstance(graph, Graph) else graph.copy()
            if len(made) != len(nodes) or not all(node in made for node in nodes):
                raise InputError(
                    f"the graph has other nodes than the dataset, which has {len(nodes)}; give the one that "
                    f"the run was on"
                )
        for name, values in columns.items():
            nx.set_node_attributes(made, dict(zip(nodes, values, strict=True)), name)
        return made

    @property
    def _run(self) -> xr.Dataset:
        """The dataset, which must be that of one run."""
        return _of_one_run(self._dataset)


def _of_one_run(ds: xr.Dataset) -> xr.Dataset:
    """A dataset, which must be that of one run."""
    if "kernel" not in ds.attrs or not {"round", "depth"} & {*ds.dims}:
        raise InputError(
            "the dataset is not the result of one run: dgsuite.run returns such datasets"
        )
    return ds


def record_of(ds: xr.Dataset) -> Record:
    """What a page shows of a run."""
    from dgsuite.core.results.dataset import index, seconds_by_round

    computing, exchange = seconds_by_round(ds)
    charts = {name: {name: ds.variables[name].values} for name in CHARTS}
    charts["seconds, mean of the workers,"] = {"computing": computing, "exchange": exchange}
    facts = {name: _written(value) for name, value in _facts(ds).items()}
    return record(ds.attrs["title"], index(ds), facts, charts)


def _written(value: str | float) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.3g}" if isinstance(value, float) else f"{value:,}"


def _facts(ds: xr.Dataset) -> dict[str, Any]:
    """Sizes, totals and times of a run."""
    from dgsuite.core.results.dataset import index, seconds_by_round

    a, counted = ds.attrs, index(ds)
    computing, exchange = seconds_by_round(ds)
    totals = ("messages", "bytes", "wire_bytes", "comm")
    return {
        "kernel": a["kernel"],
        "style": a["style"],
        "nodes": a["n"],
        "edges": a["m"],
        "clusters": a["clusters"],
        "workers": a["workers"],
        f"{counted}s": ds.sizes[counted],
        **{n: int(ds.variables[n].values.sum()) for n in totals if n in ds.variables},
        "seconds": a["seconds"],
        "computing": float(computing.sum()),
        "exchange": float(exchange.sum()),
    }


class Plots:
    """Plots of a run, or of many.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> plot = dgsuite.run("bfs", graph).dgsuite.plot
    >>> plot.communication().get_ylabel()
    'count'
    """

    def __init__(self, dataset: xr.Dataset) -> None:
        self._dataset = dataset

    def communication(self, ax: Axes | None = None, *, messages: bool = True) -> Axes:
        """Plot the messages of each round, and the communication as IMSuite counts it.

        Parameters
        ----------
        ax
            Axes to draw on; by default those of a new figure.
        messages
            Whether to draw the messages.

        Examples
        --------
        >>> import dgsuite
        >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> ds = dgsuite.run("bfs", graph)
        >>> ax = ds.dgsuite.plot.communication()
        >>> [float(bar.get_height()) for bar in ax.patches], ds.messages.values.tolist()
        ([3.0, 2.0, 1.0], [3, 2, 1])
        """
        from dgsuite.core.results import plots

        return plots.communication(_of_one_run(self._dataset), _axes(ax), messages=messages)

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
        from dgsuite.core.results import plots

        return plots.rounds(_of_one_run(self._dataset), _axes(ax))

    def network(self, graph: Graph) -> Figure:
        """Plot a small graph once for each round, and below it the messages and active nodes of all rounds.

        Nodes that sent in the round are red, and so are lines from them to those that they sent to. Of
        many rounds eight are drawn, from the first to the last.

        Parameters
        ----------
        graph
            The graph of the run, which was traced with a cluster for each node.

        Raises
        ------
        InputError
            The dataset has no messages by node.

        Examples
        --------
        >>> import dgsuite
        >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> ds = dgsuite.run("bfs", graph, clusters=graph.n, trace=True)
        >>> figure = ds.dgsuite.plot.network(graph)
        >>> [ax.get_title() for ax in figure.axes if ax.get_title()]
        ['round 0', 'round 1', 'round 2']
        """
        from dgsuite.core.results import plots

        return plots.network(_of_one_run(self._dataset), graph)

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
        ('loss', [0.99, 0.9, 0.44])
        """
        from dgsuite.core.results import plots

        return plots.probability(self._dataset, name, by, _axes(ax), lines, level)


def _axes(ax: Axes | None) -> Axes:
    """The axes given, or those of a new figure, which notebooks then show."""
    if ax is not None:
        return ax
    with needed_by("a picture"):
        from matplotlib import pyplot

    return pyplot.subplots(figsize=(6, 4), layout="constrained")[1]
