"""The components that a run has found, as a table: a row for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import xarray as xr

from dgsuite.base.errors import InputError
from dgsuite.core.results.dataframe import to_dataframe
from dgsuite.core.running.runner import run
from dgsuite.kernels.analytics.counted import CountedEdges
from dgsuite.partition.graph.checks import check_graph
from dgsuite.partition.graph.graph import Graph

if TYPE_CHECKING:
    import dask.dataframe as dd
    from distributed import Client


def components(
    graph: Graph,
    dataset: xr.Dataset,
    threshold: float | None = None,
    client: Client | None = None,
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
    Edges are counted where the clusters are; only the sums travel. The rows are added up when the dataframe
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
    check_graph(graph)
    if not isinstance(dataset, xr.Dataset) or dataset.attrs.get("kernel") != "wcc":
        raise InputError("dataset must be a result of dgsuite.run('wcc', graph)")
    if dataset.sizes["node"] != graph.n:
        raise InputError(
            f"the dataset has {dataset.sizes['node']} nodes, and the graph {graph.n}: give that of the run"
        )
    least, stricter = _chosen(dataset, threshold)
    counted = run(CountedEdges, graph, threshold=least, client=client or graph.client)
    found = dataset["component"] if least is None else dataset["component"].sel(threshold=least)
    columns = {"component": found, "edges": counted["edges"], "weakest": counted["weakest"]}
    if stricter is not None:
        columns["split"] = found != dataset["component"].sel(threshold=stricter)
    by_node = xr.Dataset(
        {name: values.variable for name, values in columns.items()},
        {"node": dataset["node"]},
        {"cluster_sizes": dataset.attrs["cluster_sizes"]},
    )
    frame = to_dataframe(by_node, client=client)
    how = {"node": "count", "edges": "sum", "weakest": "min", "split": "max"}
    rows = frame.groupby("component").agg(
        {name: how[name] for name in how if name in frame.columns},
        split_out=frame.npartitions,
        shuffle_method="tasks",
    )
    rows = rows.rename(columns={"node": "size"})
    if not graph.directed:
        rows["edges"] = rows["edges"] // 2  # each was counted at both its ends
    pairs = rows["size"] * (rows["size"] - 1) / (1 if graph.directed else 2)
    rows["density"] = (rows["edges"] / pairs).where(pairs > 0)
    return rows[["size", "edges", "density", "weakest", *(["split"] * (stricter is not None))]]


def _chosen(dataset: xr.Dataset, threshold: float | None) -> tuple[float | None, float | None]:
    """The threshold that is meant, and the next greater one; None where there is none."""
    if "threshold" not in dataset.dims:
        if threshold is not None:
            raise InputError(
                f"threshold {threshold!r}: the run had no thresholds; run('wcc', graph, thresholds=[...]) has"
            )
        return None, None
    there = dataset["threshold"].values.tolist()
    if threshold is None and len(there) == 1:
        threshold = there[0]
    if threshold is None or threshold not in there:
        raise InputError(f"threshold must be one of those of the run, {there}, got {threshold!r}")
    return float(threshold), min((one for one in there if one > threshold), default=None)
