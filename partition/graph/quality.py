"""Quality of a partition: cut edges, balance, and size of the halos."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dgsuite.partition.arrays.segments import distinct
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.checks import of_clusters

if TYPE_CHECKING:
    import xarray as xr

    from dgsuite.partition.graph.data import GraphData


def describe(graph: GraphData) -> xr.Dataset:
    """Cut edges, balance and halos of a graph's clusters, counted where the clusters are.

    Parameters
    ----------
    graph
        In this process, or on workers.

    Returns
    -------
    xarray.Dataset
        Per cluster: ``nodes``, ``ends`` (adjacency entries), ``cut`` (entries that lead to other
        clusters), ``halo`` (neighbours in other clusters, each counted once). Attributes: ``cut_edges``
        and ``cut_share``, number and share of edges between clusters; ``node_balance`` and
        ``edge_balance``, the largest cluster over the mean; ``halo_share``, values sent between clusters
        when every node broadcasts, over n.

    Examples
    --------
    >>> from dgsuite import Graph
    >>> from dgsuite import partition
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], clusters=2)
    >>> partition.describe(path).attrs["cut_edges"]
    1
    """
    import xarray as xr

    rows = of_clusters(graph, _count, "describing the graph")
    nodes, ends, cut, halo = np.array(rows, np.int64).T
    both = 1 if graph.directed else 2

    def by_cluster(values: np.ndarray, long_name: str) -> tuple[str, np.ndarray, dict[str, str]]:
        return "cluster", values, {"long_name": long_name, "units": "1"}

    return xr.Dataset(
        {
            "nodes": by_cluster(nodes, "nodes"),
            "ends": by_cluster(ends, "adjacency entries"),
            "cut": by_cluster(cut, "entries that lead to other clusters"),
            "halo": by_cluster(halo, "nodes of other clusters that it reads"),
        },
        {"cluster": np.arange(len(nodes))},
        {
            "cut_edges": int(cut.sum()) // both,
            "cut_share": float(cut.sum() / max(ends.sum(), 1)),
            "node_balance": float(nodes.max() / max(nodes.mean(), 1e-9)),
            "edge_balance": float(ends.max() / ends.mean()) if ends.any() else 1.0,
            "halo_share": float(halo.sum() / graph.n),
        },
    )


def _count(c: Cluster) -> tuple[int, int, int, int]:
    lo, hi = c.partition.offsets[c.index], c.partition.offsets[c.index + 1]
    position = c.partition.position(c.indices)
    away = (position < lo) | (position >= hi)
    seen = distinct(position[away])
    return c.size, len(c.indices), int(np.count_nonzero(away)), len(seen)
