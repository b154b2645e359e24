"""Choose which cluster owns which node, as the arguments of `Graph.from_edges` ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dgsuite.base.errors import InputError
from dgsuite.partition.client.tasks import submitted
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.clusters import partitioners
from dgsuite.partition.clusters.cluster import Cluster, Identify
from dgsuite.partition.clusters.partitioners import Partition
from dgsuite.partition.construction import distribute
from dgsuite.partition.construction.build import Plan
from dgsuite.partition.labels.columns import numpy_column
from dgsuite.partition.sources import edges

if TYPE_CHECKING:
    from distributed import Client

How = str | Partition | ArrayLike
"""How nodes are divided among clusters: "nodes", "edges", "hash", "metis", a map, or a
`Partition`."""


def cut(
    pieces: Sequence[Any],
    n: int,
    directed: bool,
    how: How,
    clusters: int | None,
    client: Client | None,
    workers: Sequence[str],
) -> Partition:
    """The partition that `Graph.from_edges` is asked for.

    Parameters
    ----------
    pieces
        The edge list, from `dgsuite.partition.sources.edges.pieces`.
    clusters
        Number of clusters; by default that of the partition, else one per worker, else one.

    Raises
    ------
    InputError
        The partition is unknown, or does not have `clusters` clusters or `n` nodes.
    """
    k = partitioners.check_clusters(clusters) if clusters is not None else max(len(workers), 1)
    if isinstance(how, Partition):
        partition = how
        if clusters is not None and how.clusters != k:
            raise InputError(f"the partition has {how.clusters} clusters, not {k}")
    elif not isinstance(how, str):
        partition = partitioners.from_owner(how, clusters)
    elif how == "nodes":
        partition = partitioners.blocks(n, k)
    elif how == "edges":
        partition = partitioners.balanced(edges.degrees(pieces, n, directed, client), k)
    elif how == "hash":
        partition = partitioners.hashed(n, k)
    elif how == "metis":
        partition = _by_metis(pieces, n, k, client, workers)
    else:
        raise InputError(
            f"partition must be 'nodes', 'edges', 'hash', 'metis', a Partition or an array "
            f"with the cluster of each node, got {how!r}"
        )
    if partition.n != n:
        raise InputError(f"the partition maps {partition.n} nodes, but the graph has {n}")
    return partition


def _by_metis(
    pieces: Sequence[Any], n: int, clusters: int, client: Client | None, workers: Sequence[str]
) -> Partition:
    """METIS's partition, computed by one process on the undirected graph."""
    whole = partitioners.blocks(n, 1)
    parts = distribute.construct(list(pieces), whole, None, Plan(False), client, workers).parts
    if client is None or isinstance(parts[0], Cluster):
        return _metis(parts[0], clusters)
    future = submitted(client, _metis, parts[0], clusters)
    (partition,) = Watch(client, "partitioning by METIS", inputs=parts).gather([future])
    return partition


def _metis(cluster: Cluster, clusters: int) -> Partition:
    return partitioners.metis(cluster.indptr, cluster.indices, clusters)


def check_identifiers(uid: ArrayLike | Identify, n: int) -> NDArray[np.int64] | Identify:
    """Identifiers of nodes as int64, shape (n,); a function that makes them is returned as it is.

    Raises
    ------
    InputError
        They are not distinct integers below 2^63, one per node.
    """
    if callable(uid):
        return uid
    ids = numpy_column(uid, "uid")
    if ids.shape != (n,) or ids.dtype.kind not in "iu":
        raise InputError(
            f"uid must be {n} integers, one per node, got dtype {ids.dtype}, shape {ids.shape}"
        )
    if ids.max() > np.iinfo(np.int64).max:
        node = int(ids.argmax())
        raise InputError(f"identifier {ids[node]} of node {node} is not below 2^63")
    order = np.argsort(ids, kind="stable")
    same = np.flatnonzero(np.diff(ids[order]) == 0)
    if len(same):
        a, b = int(order[same[0]]), int(order[same[0] + 1])
        raise InputError(f"nodes {a} and {b} have the same identifier {ids[a]}")
    return ids.astype(np.int64)
