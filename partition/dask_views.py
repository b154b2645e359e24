"""The clusters of a graph as Dask collections: their tasks, a bag, and arrays of what they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from numpy.typing import DTypeLike, NDArray

from partition.client.waiting import Watch
from partition.client.workers import cluster_ranges, worker_addresses
from partition.cluster import Cluster
from partition.distribute import members

if TYPE_CHECKING:
    import dask.array as da
    import dask.bag as db
    from dask.highlevelgraph import HighLevelGraph
    from distributed import Client

    from partition.graph import Graph

Key = tuple[str, int]
"""Of a cluster's task: the name of the graph, and the number of the cluster."""


def keys(graph: Graph) -> list[Key]:
    """The key of each cluster."""
    return [(graph.name, k) for k in range(len(graph.parts))]


def tasks(graph: Graph) -> HighLevelGraph:
    """The clusters, or futures of them, by key."""
    return _layer(graph, graph.name, dict(zip(keys(graph), graph.parts, strict=True)))


def _layer(graph: Graph, name: str, some: Mapping[Any, Any]) -> HighLevelGraph:
    """Tasks that need a graph's clusters, if they are not these clusters themselves."""
    from dask.highlevelgraph import HighLevelGraph

    if name == graph.name:
        return HighLevelGraph({name: some}, {name: set()})
    layers = {**tasks(graph).layers, name: some}
    return HighLevelGraph(layers, {graph.name: set(), name: {graph.name}})


def bag(graph: Graph) -> db.Bag:
    """A bag with one cluster per partition."""
    import dask.bag as db

    name = f"bag-{graph.name}"
    some = {(name, k): (_as_list, key) for k, key in enumerate(keys(graph))}
    return db.Bag(_layer(graph, name, some), name, len(some))


def array(
    graph: Graph, attribute: str, sizes: Sequence[int] | NDArray, dtype: DTypeLike | None
) -> da.Array:
    """An attribute of all clusters as one array, one chunk per cluster.

    Parameters
    ----------
    attribute
        Name of an array of `Cluster`.
    sizes
        Length of the attribute in each cluster.
    """
    import dask.array as da

    # da.concatenate would leave out the chunks of empty clusters
    name = f"{attribute}-{graph.name}"
    some = {(name, k): (getattr, key, attribute) for k, key in enumerate(keys(graph))}
    return da.Array(_layer(graph, name, some), name, (tuple(map(int, sizes)),), dtype=dtype)


def _as_list(item: Any) -> list[Any]:
    return [item]


def client_of(lazy: Any) -> Client | None:
    """The client whose workers hold what a Dask collection, or a dataset, is made from, if any."""
    from distributed import futures_of

    found = futures_of(lazy)
    return found[0].client if found else None


def here(values: Any) -> Any:
    """An array or a dataset in this process, also where the workers of any client hold it."""
    if not getattr(values, "chunks", None):
        return values
    return values.compute(scheduler=client_of(values))


def rebuilt(found: Mapping[Any, Any], empty: Graph, *, rename: Mapping[str, str] = {}) -> Graph:
    """A graph from what Dask made of its clusters, by key: `dask.persist` calls it.

    Parameters
    ----------
    empty
        The graph without its clusters.
    rename
        New names of the keys.

    Raises
    ------
    TypeError
        It made tasks of them, but a graph is never lazy.
    """
    name = rename.get(empty.name, empty.name)
    parts = [found[name, k] for k in range(len(empty.entries))]
    if not all(isinstance(part, Cluster) or hasattr(part, "status") for part in parts):
        raise TypeError("a dgsuite.Graph holds clusters or futures of them, and no tasks")
    return empty.like(parts, empty.entries)


def computed(parts: Sequence[Cluster], empty: Graph) -> Graph:
    """A graph from its computed clusters: `dask.compute` calls it."""
    return empty.like(parts, empty.entries)


def on_workers(graph: Graph, client: Client) -> list[Any]:
    """Send the clusters of this process to workers; returns futures of them."""
    workers = worker_addresses(client)
    ranges = cluster_ranges(len(graph.parts), len(workers)).tolist()
    watch = Watch(client, "sending the graph to the workers", workers)
    there = []
    for worker, (first, last) in zip(workers, pairwise(ranges), strict=False):
        # all at once, since they share the partition
        group = watch.scatter(graph.parts[first:last], worker)
        there += members(client, worker, group, last - first)
    watch.wait_or_raise(there)
    return there
