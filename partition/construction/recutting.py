"""Rows of clusters, from which those of another block partition are made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.partitioners import Partition
from dgsuite.partition.construction.build import id_dtype
from dgsuite.partition.sources.piece import joined


class Rows(NamedTuple):
    """Consecutive rows of a cluster, as its attributes of these names; all counted from the first row."""

    indptr: NDArray
    indices: NDArray
    weights: NDArray | None
    uid: NDArray
    loops: NDArray | None
    loop_weights: NDArray | None
    disk: bool


def cut(cluster: Cluster, first: int, last: int) -> Rows:
    """Rows `first` to `last` (node ids) of a cluster of a block partition."""
    base = int(cluster.partition.offsets[cluster.index])
    a, b = first - base, last - base
    s, e = int(cluster.indptr[a]), int(cluster.indptr[b])
    weights = None if cluster.weights is None else cluster.weights[s:e]
    loops, of_loops = cluster.loops, cluster.loop_weights
    if loops is not None:
        i, j = np.searchsorted(loops, [a, b]).tolist()
        loops, of_loops = loops[i:j] - a, None if of_loops is None else of_loops[i:j]
    return Rows(
        cluster.indptr[a : b + 1] - s,
        cluster.indices[s:e],
        weights,
        cluster.uid[a:b],
        loops,
        of_loops,
        cluster.disk,
    )


def join(
    index: int,
    partition: Partition,
    directed: bool,
    weight_dtype: DTypeLike | None,
    rows: Sequence[Rows],
) -> Cluster:
    """Make a cluster from consecutive rows that `cut` returned."""
    ends = np.cumsum([0] + [len(some.indices) for some in rows])
    pointers = [some.indptr[1:] + e for some, e in zip(rows, ends, strict=False)]
    starts = np.cumsum([0] + [len(some.uid) for some in rows])
    looped = [
        some.loops + s for some, s in zip(rows, starts, strict=False) if some.loops is not None
    ]
    weights = of_loops = None
    if weight_dtype is not None:
        weights = joined([r.weights for r in rows if r.weights is not None], weight_dtype)
        if looped:
            parts = [r.loop_weights for r in rows if r.loop_weights is not None]
            of_loops = joined(parts, weight_dtype)
    return Cluster(
        index,
        partition,
        np.concatenate([np.zeros(1, np.int64), *pointers]).astype(id_dtype(int(ends[-1]))),
        joined([some.indices for some in rows], id_dtype(partition.n)),
        weights,
        joined([some.uid for some in rows], np.int64),
        directed,
        loops=np.concatenate(looped) if looped else None,
        loop_weights=of_loops,
        disk=any(some.disk for some in rows),
    )
