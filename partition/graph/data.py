"""A graph without its methods: what modules take that need its clusters, and what is known of them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import DTypeLike

from dgsuite.base.names import Edges
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.partitioners import Partition
from dgsuite.partition.graph.cache import Cache
from dgsuite.partition.labels.labels import Labels

if TYPE_CHECKING:
    from distributed import Client


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
        same = {
            "partition": self.partition,
            "directed": self.directed,
            "weight_dtype": self.weight_dtype,
            "attrs": self.attrs,
            "labels": self.labels,
            "identified": self.identified,
            "chosen": self.chosen,
            "built": self.built,
            "keeps_loops": self.keeps_loops,
            "edges": self.edges,
        }
        return type(self)(parts, entries=entries, **{**same, **changes})
