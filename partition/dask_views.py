"""The clusters of a graph as Dask collections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import DTypeLike, NDArray

from partition.cluster import Cluster

if TYPE_CHECKING:
    import dask.array as da
    import dask.bag as db


def bag(parts: Sequence[Any], name: str) -> db.Bag:
    """A bag with one cluster per partition.

    Parameters
    ----------
    parts
        Clusters, or futures of them.
    name
        Unique name of the graph.
    """
    import dask.bag as db
    from dask import delayed

    return db.from_delayed([delayed(_as_list)(part) for part in _delayed(parts, name)])


def array(
    parts: Sequence[Any],
    name: str,
    attribute: str,
    sizes: Sequence[int] | NDArray,
    dtype: DTypeLike | None,
) -> da.Array:
    """An attribute of all clusters as one array, one chunk per cluster.

    Parameters
    ----------
    parts, name
        As for `bag`.
    attribute
        Name of an array of `Cluster`.
    sizes
        Length of the attribute in each cluster.
    """
    import dask.array as da
    from dask.highlevelgraph import HighLevelGraph

    # da.concatenate would leave out the chunks of empty clusters
    delayed = _delayed(parts, name)
    key = f"{attribute}-{name}"
    tasks = {(key, i): (getattr, part.key, attribute) for i, part in enumerate(delayed)}
    graph = HighLevelGraph.from_collections(key, tasks, dependencies=delayed)
    return da.Array(graph, key, (tuple(map(int, sizes)),), dtype=dtype)


def _delayed(parts: Sequence[Any], name: str) -> list[Any]:
    from dask import delayed

    # a cluster of this process gets a fixed key, so that several arrays share one task
    return [
        delayed(part, name=f"{name}-{i}", traverse=False)
        if isinstance(part, Cluster)
        else delayed(part)
        for i, part in enumerate(parts)
    ]


def _as_list(item: Any) -> list[Any]:
    return [item]
