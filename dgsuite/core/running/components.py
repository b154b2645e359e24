"""The components that a run has found, as a table with a row for each, or for each pair within one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from dgsuite.base.errors import InputError
from dgsuite.core.results.dataframe import to_dataframe
from dgsuite.core.running.runner import run
from dgsuite.core.running.since import Since, node_ids
from dgsuite.kernels.analytics.counted import CountedPairs
from dgsuite.partition.graph.checks import check_graph
from dgsuite.partition.graph.dask_views import here
from dgsuite.partition.graph.graph import Graph

if TYPE_CHECKING:
    import dask.dataframe as dd
    from distributed import Client


def components(
    graph: Graph, dataset: xr.Dataset, threshold: float | None = None, client: Client | None = None
) -> dd.DataFrame:
    """The components that "wcc" has found, as a Dask dataframe with a row for each.

    Parameters
    ----------
    graph
        The graph of the run.
    dataset
        Result of ``run("wcc", graph)``, with thresholds or without.
    threshold
        One of the thresholds of the run; it may be left out where there is only one, or none.
    client
        Client whose workers compute; by default that of the graph, else the current one.

    Returns
    -------
    dask.dataframe.DataFrame
        The index ``component`` is the component's smallest node, as in the dataset; the order of the rows
        depends on the cut. Columns: ``size``, its nodes (int64); ``edges``, those that count, of a directed
        graph each direction (int64); ``density``, their share of all pairs of its nodes (float64, NaN of a
        single node); ``weakest``, the smallest weight of these edges (float64, NaN if there is none, or the
        graph has no weights); and, if the run had a greater threshold, ``split``: whether the next greater
        one leaves its nodes in several components.

    Raises
    ------
    InputError
        The dataset is no result of "wcc" on a graph of so many nodes, or had no such threshold.
    RunError
        A worker was lost.

    Notes
    -----
    The edges are in tables where the clusters are; only sums travel. The rows are added up when the dataframe
    is computed.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], weights=[0.9, 0.8, 0.7, 0.6], n=5)
    >>> ds = dgsuite.run("wcc", graph, thresholds=[0.9, 0.7])
    >>> table = dgsuite.components(graph, ds, 0.7).compute(scheduler="threads")
    >>> print(table.sort_index().reset_index().to_string(index=False))
     component  size  edges  density  weakest  split
             0     3      3      1.0      0.7   True
             3     1      0      NaN      NaN  False
             4     1      0      NaN      NaN  False
    """
    import dask.dataframe as dd

    found, _, stricter = _chosen(graph, dataset, threshold)
    columns = {"component": found}
    if stricter is not None:
        columns["split"] = found != dataset["component"].sel(threshold=stricter)
    by_node = xr.Dataset(
        {name: values.variable for name, values in columns.items()},
        {"node": dataset["node"]},
        {"cluster_sizes": dataset.attrs["cluster_sizes"]},
    )
    nodes = to_dataframe(by_node, client=client).assign(size=1, edges=0, weight=np.nan)
    edges = pairs(graph, dataset, threshold, client).assign(size=0, edges=1, split=False)
    if not graph.weighted:
        edges = edges.assign(weight=np.nan)
    how = {"size": "sum", "edges": "sum", "weight": "min", "split": "max"}
    how = {name: way for name, way in how.items() if name in nodes.columns}
    both = dd.concat([frame[["component", *how]] for frame in (nodes, edges)])
    rows = both.groupby("component").agg(how, split_out=nodes.npartitions, shuffle_method="tasks")
    rows = rows.rename(columns={"weight": "weakest"})
    most = rows["size"] * (rows["size"] - 1) / (1 if graph.directed else 2)
    rows["density"] = (rows["edges"] / most).where(most > 0)
    return rows[["size", "edges", "density", "weakest", *(["split"] * (stricter is not None))]]


def pairs(
    graph: Graph, dataset: xr.Dataset, threshold: float | None = None, client: Client | None = None
) -> dd.DataFrame:
    """The pairs within the components that "wcc" has found, as a Dask dataframe with a row for each.

    Parameters
    ----------
    graph, dataset, threshold, client
        As for `components`.

    Returns
    -------
    dask.dataframe.DataFrame
        Columns ``source`` and ``target``, the ends of an edge that counts, of an undirected graph the one
        that comes first in the graph as source; ``weight``, where the graph has weights; and ``component``,
        the smallest node of the component that has both. With ``single=``, edges between two components are
        not there. The order of the rows depends on the cut.

    Raises
    ------
    InputError, RunError
        As `components`.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3], weights=[0.9, 0.7, 0.8])
    >>> ds = dgsuite.run("wcc", graph, single=["a", "b", "a", "b"])
    >>> print(dgsuite.pairs(graph, ds).compute())
       source  target  weight  component
    0       0       1     0.9          0
    1       2       3     0.8          2
    """
    found, least, _ = _chosen(graph, dataset, threshold)
    values, none = found.variable.data, np.empty(0, int)
    if graph.labels is not None:
        values = node_ids(here(values), graph.labels, graph.n)
    seen = Since("", {"component": values}, none, none, none, 0).seen(graph)
    apart = json.loads(dataset.attrs["parameters"]).get("single") is not None
    client = client or graph.client
    counted = run(CountedPairs, seen, threshold=least, apart=apart, client=client)
    columns = ["source", "target", *(["weight"] if graph.weighted else []), "component"]
    return to_dataframe(counted, columns, client)


def _chosen(
    graph: Graph, dataset: xr.Dataset, threshold: float | None
) -> tuple[xr.DataArray, float | None, float | None]:
    """The components, the threshold that is meant, and the next greater one; None where there is none."""
    check_graph(graph)
    if not isinstance(dataset, xr.Dataset) or dataset.attrs.get("kernel") != "wcc":
        raise InputError("dataset must be a result of dgsuite.run('wcc', graph)")
    if dataset.sizes["node"] != graph.n:
        raise InputError(
            f"the dataset has {dataset.sizes['node']} nodes, and the graph {graph.n}: give that of the run"
        )
    if "threshold" not in dataset.dims:
        if threshold is not None:
            raise InputError(
                f"threshold {threshold!r}: the run had no thresholds; run('wcc', graph, thresholds=[...]) has"
            )
        return dataset["component"], None, None
    there = dataset["threshold"].values.tolist()
    if threshold is None and len(there) == 1:
        threshold = there[0]
    if threshold is None or threshold not in there:
        raise InputError(f"threshold must be one of those of the run, {there}, got {threshold!r}")
    stricter = min((one for one in there if one > threshold), default=None)
    return dataset["component"].sel(threshold=threshold), float(threshold), stricter
