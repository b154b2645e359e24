"""A graph without its methods: what modules take that need its clusters, and what is known of them."""

from __future__ import annotations

import uuid
from collections.abc import Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dgsuite.base.names import Edges
from dgsuite.base.once import Lock, Once
from dgsuite.partition.client.session import seceded
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.partitioners import Partition
from dgsuite.partition.construction import build
from dgsuite.partition.labels.labels import Labels

if TYPE_CHECKING:
    import pandas as pd
    from distributed import Client


SAME = (
    *("partition", "directed", "weight_dtype", "attrs", "labels", "identified", "chosen", "built"),
    *("rows", "keeps_loops", "edges"),
)
"""What graphs with the same nodes share, unless it changes: see `GraphData.like`."""


class TaskLock(Lock):
    """A `Lock` for tasks: one that has to wait leaves its worker's thread pool meanwhile, since what it waits
    for may need the thread.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            with seceded():
                self._lock.acquire()


class Cache(Once):
    """Values by key, as `Once`, that may take tasks of a Dask cluster to make, and that are pickled.

    Parameters
    ----------
    values
        What is known already.

    Examples
    --------
    >>> from dgsuite.partition.graph.data import Cache
    >>> cache = Cache()
    >>> cache.get("largest", lambda: max([3, 1, 2]))
    3
    >>> cache.get("largest", lambda: max([4]), valid=lambda value: value > 3)
    4
    """

    __slots__ = ()

    def __init__(self, values: Mapping[Hashable, Any] = MappingProxyType({})) -> None:
        super().__init__()
        self._values = {**values}
        self.lock = TaskLock()

    def __reduce__(self) -> tuple[type[Cache], tuple[dict[Hashable, Any]]]:
        return Cache, ({**self._values},)


class GraphData:
    """The clusters of a graph, and what is known of them: see `dgsuite.partition.graph.graph.Graph`."""

    def __init__(
        self,
        parts: Sequence[Any],
        partition: Partition,
        *,
        entries: Sequence[int],
        directed: bool,
        weight_dtype: DTypeLike | None = None,
        attrs: dict[str, Any] | None = None,
        labels: Labels | None = None,
        identified: bool = False,
        chosen: bool = True,
        saved: Any = None,
        built: Any = None,
        rows: pd.DataFrame | None = None,
        keeps_loops: bool = False,
        edges: Edges = "memory",
    ) -> None:
        self._parts = list(parts)
        self.partition = partition
        self.entries = [int(e) for e in entries]
        self.directed = directed
        self.weight_dtype = weight_dtype
        self.attrs = dict(attrs or {})
        self.labels = labels
        self.identified = identified
        self.chosen = chosen
        self.saved = saved
        self.built = built
        self.rows = rows
        self.keeps_loops = keeps_loops
        self.edges = edges
        self.homes: list[str] = []
        self.cache = Cache()
        self.derived = Cache()
        self.placed: dict[Any, Any] = {}
        self.name = f"cluster-{uuid.uuid4().hex}"

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self.partition.n

    @property
    def m(self) -> int:
        """Number of edges; an undirected edge counts once."""
        total = sum(self.entries)
        return total if self.directed else total // 2

    @property
    def parts(self) -> list[Any]:
        """The clusters: `Cluster` objects in this process, or futures of them."""
        return self._parts

    @property
    def client(self) -> Client | None:
        """The client whose workers hold the clusters; None if this process does."""
        return None if self.local else self._parts[0].client

    @property
    def weighted(self) -> bool:
        """Whether edges have weights."""
        return self.weight_dtype is not None

    @property
    def local(self) -> bool:
        """Whether this process holds the clusters, not workers."""
        return all(isinstance(part, Cluster) for part in self._parts)

    @property
    def nbytes(self) -> int:
        """Bytes of all clusters: rows, weights, self-loops, identifiers. Those on workers are not asked."""
        if self.local:
            return sum(part.nbytes for part in self.parts)
        loops = self.built.loops if self.keeps_loops and self.built is not None else 0
        weight = 0 if self.weight_dtype is None else np.dtype(self.weight_dtype).itemsize
        return int(cluster_bytes(self).sum()) + loops * (8 + weight)

    def like(self, parts: Sequence[Any], entries: Sequence[int], **changes: Any) -> Self:
        """A graph with the same nodes and other clusters.

        Parameters
        ----------
        parts
            The clusters, or futures of them.
        entries
            Number of entries of the adjacency in each cluster.
        changes
            Arguments of the constructor that differ.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> graph = Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
        >>> graph.like(graph.parts, graph.entries, attrs={'root': 1}).attrs
        {'root': 1}
        """
        same = {name: getattr(self, name) for name in SAME}
        return type(self)(parts, entries=entries, **{**same, **changes})


def width(count: Any) -> Any:
    """Bytes of a number below each count: of a node among so many, or of a place among entries."""
    return np.where(np.asarray(count) > build.MOST_SHORT, 8, 4)


def adjacency(
    n: int, nodes: NDArray[np.int64], entries: NDArray[np.int64], extra: int
) -> NDArray[np.int64]:
    """Bytes of rows in CSR: a pointer for each row, and for each entry a node and `extra` bytes more.

    Parameters
    ----------
    nodes, entries
        Rows and entries of each cluster of a graph of n nodes.
    """
    each = int(width(n)) + extra
    found: NDArray[np.int64] = (nodes + 1) * width(entries) + entries * each
    return found


def cluster_bytes(graph: GraphData) -> NDArray[np.int64]:
    """Bytes of each cluster's arrays, as far as its sizes say: all but those of a kernel's views."""
    nodes = np.diff(graph.partition.offsets)
    weight = 0 if graph.weight_dtype is None else np.dtype(graph.weight_dtype).itemsize
    entries = np.array(graph.entries, np.int64)
    return adjacency(graph.n, nodes, entries, weight) + 8 * nodes * graph.identified
