"""A graph as a Dask collection, and its clusters as others: a bag, and arrays of what they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dgsuite.partition.client.tasks import spanned
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.client.workers import cluster_ranges, worker_addresses
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.construction.build import id_dtype
from dgsuite.partition.construction.distribute import members
from dgsuite.partition.graph import views
from dgsuite.partition.graph.data import GraphData

if TYPE_CHECKING:
    import dask.array as da
    import dask.bag as db
    from distributed import Client


class Collection(GraphData):
    """What makes `dgsuite.partition.graph.graph.Graph` a Dask collection, whose chunks are the clusters."""

    @property
    def clusters(self) -> db.Bag:
        """A Dask bag with one `Cluster` per partition."""
        import dask.bag as db

        name = f"bag-{self.name}"
        some = {(name, k): [key] for k, key in enumerate(self.__dask_keys__())}
        return db.Bag(self._needing(name, some), name, len(some))

    @property
    def indptr(self) -> da.Array:
        """Row pointers (int64), one chunk per cluster: from 0, with one entry more than it has nodes."""
        dtype = id_dtype(max(self.entries))
        sizes = np.diff(self.partition.offsets) + 1
        return self._array("indptr", dtype, sizes).astype(np.int64)

    @property
    def indices(self) -> da.Array:
        """Neighbours as node ids (int32 where they fit), ascending in each row, one chunk per cluster."""
        return self._array("indices", id_dtype(self.n), self.entries)

    @property
    def weights(self) -> da.Array | None:
        """Weight of each entry of `indices`, or None."""
        if not self.weighted:
            return None
        return self._array("weights", self.weight_dtype, self.entries)

    @property
    def uid(self) -> da.Array:
        """Identifier of each node (int64), one chunk per cluster."""
        return self._array("uid", np.int64)

    @property
    def degree(self) -> da.Array:
        """Number of edges of each node (int32), one chunk per cluster, in the order of the partition. Edges
        that leave and edges that come in count, as in networkx.
        """
        return self.out_degree + self.in_degree if self.directed else self.out_degree

    @property
    def out_degree(self) -> da.Array:
        """Number of edges that leave each node (int32), one chunk per cluster."""
        return self._array("out_degree", np.int32)

    @property
    def in_degree(self) -> da.Array:
        """Number of edges that come in at each node (int32), one chunk per cluster."""
        both = views.incoming(self) if self.directed else self
        return both._array("in_degree", np.int32)

    def _array(
        self, attribute: str, dtype: DTypeLike | None, sizes: Sequence[int] | NDArray | None = None
    ) -> da.Array:
        """An attribute of all clusters as one array, one chunk per cluster.

        Parameters
        ----------
        attribute
            Name of an array of `Cluster`.
        sizes
            Length of the attribute in each cluster; by default its nodes.
        """
        import dask.array as da

        # da.concatenate would leave out the chunks of empty clusters
        name = f"{attribute}-{self.name}"
        some = {(name, k): (getattr, key, attribute) for k, key in enumerate(self.__dask_keys__())}
        sizes = np.diff(self.partition.offsets) if sizes is None else sizes
        chunks = (tuple(map(int, sizes)),)
        return da.Array(self._needing(name, some), name, chunks, dtype=dtype)

    def visualize(self, filename: str | None = "graph", **options: Any) -> Any:
        """Draw the tasks that stand for the clusters, as `dask.visualize` does, with Graphviz.

        Parameters
        ----------
        filename
            Where to write the picture, without its ending; None writes no file.
        options
            Those of `dask.visualize`.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> Graph.from_edges([0, 1], [1, 2]).visualize("tasks")  # doctest: +SKIP
        """
        import dask

        return dask.visualize(self, filename=filename, **options)

    def __dask_graph__(self) -> Any:
        from dask.highlevelgraph import HighLevelGraph

        parts = dict(zip(self.__dask_keys__(), self.parts, strict=True))
        return HighLevelGraph({self.name: parts}, {self.name: set()})

    def _needing(self, name: str, some: Mapping[Any, Any]) -> Any:
        """Tasks that need the clusters."""
        from dask.highlevelgraph import HighLevelGraph

        layers = {**self.__dask_graph__().layers, name: some}
        return HighLevelGraph(layers, {self.name: set(), name: {self.name}})

    def __dask_keys__(self) -> list[Any]:
        return [(self.name, k) for k in range(len(self.parts))]

    def __dask_layers__(self) -> tuple[str]:
        return (self.name,)

    def __dask_tokenize__(self) -> str:
        return self.name

    def __dask_postcompute__(self) -> tuple[Any, tuple[Any, ...]]:
        return self._empty().like, (self.entries,)

    def __dask_postpersist__(self) -> tuple[Any, tuple[Any, ...]]:
        return rebuilt, (self._empty(),)

    def _empty(self) -> Self:
        """The graph without its clusters, but with its name."""
        empty = self.like([], self.entries)
        empty.name = self.name
        return empty

    @staticmethod
    def __dask_optimize__(tasks: Any, keys: Any, **options: Any) -> Any:
        return tasks  # nothing can be merged or left out

    @staticmethod
    def __dask_scheduler__(*arguments: Any, **options: Any) -> Any:
        from dask.threaded import get

        return get(*arguments, **options)


def client_of(lazy: Any) -> Client | None:
    """The client whose workers hold what a Dask collection, or a dataset, is made from, if any."""
    from distributed import futures_of

    found = futures_of(lazy)
    return found[0].client if found else None


def here(values: Any) -> Any:
    """An array or a dataset in this process, also where the workers of any client hold it."""
    if not getattr(values, "chunks", None):
        return values
    with spanned():
        return values.compute(scheduler=client_of(values))


def rebuilt(
    found: Mapping[Any, Any], empty: Collection, *, rename: Mapping[str, str] = {}
) -> Collection:
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


def on_workers(graph: GraphData, client: Client) -> list[Any]:
    """Send the clusters of this process to workers; returns futures of them."""
    workers = worker_addresses(client)
    ranges = cluster_ranges(len(graph.parts), len(workers)).tolist()
    watch = Watch(client, "sending the graph to the workers", workers)
    there = []
    for worker, (first, last) in zip(workers, pairwise(ranges), strict=False):
        # all at once, since they share the partition
        group = watch.scatter(graph.parts[first:last], worker)
        there += members(client, worker, group, last - first)
    watch.wait(there)
    return there
