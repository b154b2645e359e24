"""What block forms of kernels share: a cluster's border, and what crosses it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.partition.arrays.segments import expand
from dgsuite.partition.clusters.cluster import Cluster


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
    where = c.positions[entry] - c.first
    out = (where < 0) | (where >= c.size)
    entry = entry[out]
    return border[at[out]], entry, c.indices[entry].astype(np.int64)
