"""What block forms of kernels share: a cluster's border, and what crosses it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
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


def tell(
    c: Cluster, nodes: NDArray, backwards: bool = False, **values: NDArray
) -> tuple[Any, bsp.Vote]:
    """Some nodes tell some of their values, by node, along their edges that cross the border, if any do."""
    nodes, _, ends = crossing(c, nodes, backwards)
    told: Any = {name: of[nodes] for name, of in values.items()}
    return bsp.unicast(ends, nodes, **told), bsp.vote(any=len(ends) > 0)
