"""What block forms of kernels share: a cluster's border, and what crosses it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.partition.arrays.segments import expand
from dgsuite.partition.clusters.cluster import Cluster


def crossing(
    c: Cluster, nodes: NDArray, backwards: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The edges of some nodes that lead to other clusters; or backwards, that come from there.

    Returns
    -------
    nodes
        Index in the cluster of each edge's node, ascending.
    entry
        Its entry of the adjacency, or of `Cluster.senders`.
    ends
        Node id of its other end.
    """
    indptr, indices = c.senders if backwards else (c.indptr, c.indices)
    positions = c.sender_positions if backwards else c.positions
    remote = c.remote_in_degree if backwards else c.remote_degree
    border = np.sort(nodes[remote[nodes] > 0])
    at, entry = expand(indptr, border)
    out = c.index_in(positions[entry]) < 0
    entry = entry[out]
    return border[at[out]], entry, indices[entry].astype(np.int64)
