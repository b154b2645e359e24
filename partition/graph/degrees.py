"""Statistics of a graph's degrees, counted where the clusters are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.checks import of_clusters
from dgsuite.partition.graph.views import incoming

if TYPE_CHECKING:
    import xarray as xr

    from dgsuite.partition.graph.data import GraphData

UNDIRECTED, DIRECTED = ("all",), ("all", "out", "in")


def statistics(graph: GraphData) -> xr.Dataset:
    """See `Graph.degree_statistics`."""
    import xarray as xr

    ways = DIRECTED if graph.directed else UNDIRECTED
    counted = of_clusters(incoming(graph) if graph.directed else graph, _counts)
    nodes = np.zeros((len(ways), max(c.shape[1] for c in counted)), np.int64)
    for counts in counted:
        nodes[:, : counts.shape[1]] += counts
    occurs = np.flatnonzero(nodes.any(axis=0))
    nodes = nodes[:, occurs]
    total = nodes @ occurs
    here = nodes > 0
    described = {
        "nodes": (("edges", "degree"), nodes, "nodes of the degree"),
        "mean": ("edges", total / graph.n, "mean degree"),
        "min": ("edges", occurs[here.argmax(axis=1)], "least degree"),
        "max": ("edges", occurs[::-1][here[:, ::-1].argmax(axis=1)], "largest degree"),
        "isolated": ("edges", np.where(occurs[0] == 0, nodes[:, 0], 0), "nodes without such edges"),
    }
    return xr.Dataset(
        {
            name: (dims, values, {"long_name": text, "units": "1"})
            for name, (dims, values, text) in described.items()
        },
        {"edges": [*ways], "degree": ("degree", occurs, {"long_name": "degree", "units": "1"})},
        {"n": graph.n, "m": graph.m},
    )


def _counts(c: Cluster) -> NDArray[np.int64]:
    """Nodes of each degree from 0 on, for each kind of edges."""
    degrees = [c.degree]
    if c.directed:
        degrees = [c.out_degree + c.in_degree, c.out_degree, c.in_degree]
    length = max(int(d.max(initial=0)) for d in degrees) + 1
    return np.stack([np.bincount(d, minlength=length) for d in degrees])
