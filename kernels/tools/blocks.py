"""What block forms of kernels share: a cluster's border, and what crosses it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.partition.arrays.segments import expand
from dgsuite.partition.clusters.cluster import Cluster


def index_in(c: Cluster, positions: NDArray) -> NDArray[np.int64]:
    """Index in a cluster of the nodes at some positions of the graph's layout; -1 for those of others."""
    where = positions - c.first
    return np.where((where >= 0) & (where < c.size), where, -1)


def crossing(
    c: Cluster, nodes: NDArray
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The edges of some nodes that lead to other clusters.

    Returns
    -------
    at
        Index in `nodes` of each edge.
    entry
        Its entry of the adjacency.
    ends
        Node id of its other end.
    """
    border = np.flatnonzero(c.remote_degree[nodes])
    at, entry = expand(c.indptr, nodes[border])
    out = index_in(c, c.positions[entry]) < 0
    entry = entry[out]
    return border[at[out]], entry, c.indices[entry].astype(np.int64)
