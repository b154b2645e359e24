"""A graph without its methods: what modules take that need its clusters, and what is known of them."""

from __future__ import annotations

import uuid
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from threading import RLock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.names import Edges
from dgsuite.base.once import Once
from dgsuite.partition.client.session import seceded
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.partitioners import Partition
from dgsuite.partition.construction import build
from dgsuite.partition.labels.labels import Labels

if TYPE_CHECKING:
    import pandas as pd
    from distributed import Client


class TaskLock:
    """A lock that a thread may take again. A task that has to wait leaves its worker's thread pool meanwhile,
    since what it waits for may need the thread.
    """

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = RLock()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            with seceded():
                self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


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


@dataclass(eq=False, repr=False)
class GraphData:
    """The clusters of a graph, and what is known of them: see `dgsuite.partition.graph.graph.Graph`."""

    _parts: list[Any]
    partition: Partition
    _: KW_ONLY
    entries: list[int]
    directed: bool
    weight_dtype: np.dtype | None = None
    attrs: dict[str, Any] = field(default_factory=dict)
    labels: Labels | None = None
    identified: bool = False
    chosen: bool = True
    saved: Any = None
    built: Any = None
    rows: pd.DataFrame | None = None
    keeps_loops: bool = False
    edges: Edges = "memory"
    homes: list[str] = field(default_factory=list, init=False)
    cache: Cache = field(default_factory=Cache, init=False)
    derived: Cache = field(default_factory=Cache, init=False)
    name: str = field(default_factory=lambda: f"cluster-{uuid.uuid4().hex}", init=False)

    def __post_init__(self) -> None:
        self._parts, self.entries = list(self._parts), [int(e) for e in self.entries]
        self.weight_dtype = None if self.weight_dtype is None else np.dtype(self.weight_dtype)
        self.attrs = dict(self.attrs or {})

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
        return int(cluster_bytes(self).sum()) + loops * (8 + _weight_bytes(self))

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
        return replace(self, **{"_parts": parts, "entries": entries, "saved": None, **changes})


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


def _weight_bytes(graph: GraphData) -> int:
    return 0 if graph.weight_dtype is None else graph.weight_dtype.itemsize


def cluster_bytes(graph: GraphData) -> NDArray[np.int64]:
    """Bytes of each cluster's arrays, as far as its sizes say: all but those of a kernel's views."""
    nodes = np.diff(graph.partition.offsets)
    entries = np.array(graph.entries, np.int64)
    each = adjacency(graph.n, nodes, entries, _weight_bytes(graph))
    return each + 8 * nodes * graph.identified
