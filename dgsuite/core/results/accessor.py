"""What the dataset of a run can do: ``ds.dgsuite.plot``, ``summary()``, ``to_dataframe()`` and others."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import getdoc
from typing import TYPE_CHECKING, Any

import pandas as pd
import xarray as xr

from dgsuite.base.errors import InputError
from dgsuite.core.results.checking import check_run, of_one_run
from dgsuite.partition.graph.dask_views import here
from dgsuite.partition.graph.graph import Graph

if TYPE_CHECKING:
    import dask.dataframe as dd
    import networkx as nx
    from distributed import Client

    from dgsuite.core.results.plots import Plots


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

    def __getattr__(self, name: str) -> xr.DataArray:
        """A variable of the dataset, also where xarray has a method of its name, such as ``rank``."""
        if name.startswith("_") or name not in self._dataset:
            raise AttributeError(f"ds.dgsuite has no {name!r}, nor has the dataset")
        return self._dataset[name]

    def __repr__(self) -> str:
        outputs = [
            str(n) for n, v in self._dataset.data_vars.items() if {"node", "pair"} & {*v.dims}
        ]
        lines = [f"{self._dataset.attrs.get('title', 'many runs')}; outputs {', '.join(outputs)}"]
        for name, member in vars(Accessor).items():
            if not name.startswith("_"):
                about = (getdoc(member) or "").partition(": ")[0].partition("\n")[0]
                lines.append(f"  .{name + ('' if name == 'plot' else '()'):15} {about}")
        return "\n".join(lines)

    @property
    def plot(self) -> Plots:
        """Plots of a run: ``ds.dgsuite.plot.communication()``, ``ds.dgsuite.plot.rounds()``; or of many runs:
        ``ds.dgsuite.plot.probability()``.
        """
        from dgsuite.core.results.plots import Plots

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

    def to_pandas(self, outputs: Sequence[str] | None = None) -> pd.DataFrame:
        """The outputs as a pandas dataframe, in this process.

        Parameters
        ----------
        outputs
            Their names, as for `dgsuite.to_dataframe`, which has the same columns.

        Returns
        -------
        pandas.DataFrame
            A row for each node, with its name in the column ``node``, or for each row of a table.

        Raises
        ------
        InputError
            An output is unknown, or has no values for each node or row.

        Examples
        --------
        >>> import dgsuite
        >>> graph = dgsuite.Graph.from_edges(["ann", "bob"], ["bob", "cid"], relabel=True)
        >>> print(dgsuite.run("bfs", graph, root="ann").dgsuite.to_pandas())
          node  level parent
        0  ann      0    ann
        1  bob      1    ann
        2  cid      2    bob
        """
        from dgsuite.core.results.dataframe import columns_of

        columns = columns_of(self._run, outputs)
        return pd.DataFrame({name: here(values).values for name, values in columns.items()})

    def to_dataframe(
        self, outputs: Sequence[str] | None = None, client: Client | None = None
    ) -> dd.DataFrame:
        """The outputs as a Dask dataframe, whatever their size: see `dgsuite.to_dataframe`.

        Parameters
        ----------
        outputs
            Their names; by default all that have values for each node, or the columns of a table.
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
        return of_one_run(self._dataset)


def _facts(ds: xr.Dataset) -> dict[str, Any]:
    """Sizes, totals and times of a run."""
    from dgsuite.core.results.dataset import index, seconds_by_round

    a, counted = ds.attrs, index(ds)
    check_run(ds, counted)
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
