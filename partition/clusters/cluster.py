"""One cluster of a graph, as kernels use it, and sets of its nodes and live neighbours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dgsuite.base.errors import InputError
from dgsuite.partition.arrays import mapped
from dgsuite.partition.arrays.segments import expand, lend_all, lent, outside, single
from dgsuite.partition.clusters.partitioners import Partition

Identify = Callable[[NDArray[np.int64]], NDArray[np.int64]]
"""A function that returns the identifiers of given nodes."""

BY_ENTRY = ("indices", "weights", "in_indices", "in_weights", "directions", "weights_in")
"""Arrays with an element for each entry of the adjacency."""

MOST_NEIGHBOURS = int(np.iinfo(np.int32).max)
"""A node has no more: degrees, and messages that a node gets in a phase, are counted in 32 bits."""

OUT, IN = 1, 2
"""Bits of `Cluster.directions`: the edge leaves the row's node; it comes in."""


class shared(cached_property[Any]):  # noqa: N801 (it is used as a property)
    """A cached property that is an array of a cluster: nobody may write to it, and it is not sent along.

    Examples
    --------
    >>> import numpy as np
    >>> from dgsuite.partition.clusters.cluster import shared
    >>> class Part:
    ...     @shared
    ...     def degree(self):
    ...         return np.array([2, 1])
    >>> Part().degree.flags.writeable
    False
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__(lambda cluster: lent(function(cluster)))
        self.__doc__ = function.__doc__


class Earlier(NamedTuple):
    """What a run that goes on from an earlier result gives a cluster.

    Attributes
    ----------
    outputs
        Those of the earlier run, by name: of the nodes that the cluster had then, its first ones.
    rows, ends
        Of each entry of the adjacency that is new since, or has another weight: the index of its node in the
        cluster, ascending, and the node id of its other end.
    weights
        Of these entries, 1 where there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from dgsuite.partition.clusters.cluster import Earlier
    >>> none = np.empty(0, np.int64)
    >>> earlier = Earlier({"level": np.array([0, 1])}, none, none, none)
    >>> earlier.read_only().outputs["level"].flags.writeable
    False
    """

    outputs: dict[str, NDArray]
    rows: NDArray[np.int64]
    ends: NDArray[np.int64]
    weights: NDArray

    def read_only(self) -> Earlier:
        """The same, of which a kernel cannot change the arrays."""
        outputs, *entries = self
        return Earlier({name: lent(a) for name, a in outputs.items()}, *map(lent, entries))


@dataclass
class Block:
    """One cluster's block of the adjacency matrix, in CSR by source (see `dgsuite.partition.clusters.grid`).

    Attributes
    ----------
    rows, columns
        Shape of the process grid.
    in_column
        Clusters of the block's column.
    first
        First target of the block, whose targets are consecutive nodes.
    targets
        Number of targets.
    bases
        Shape (rows + 1,): local number of the first source that each cluster of the column owns.
    indptr, indices
        Targets of each source, counted from `first`, ascending.

    Examples
    --------
    Four clusters in a grid of two rows and two columns:

    >>> from dgsuite import Graph
    >>> graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], clusters=4)
    >>> from dgsuite.partition import arrange
    >>> block = arrange(graph).gather()[1].block
    >>> block.in_column, block.targets
    (array([1, 3]), 2)
    """

    rows: int
    columns: int
    in_column: NDArray[np.int64]
    first: int
    targets: int
    bases: NDArray[np.int64]
    indptr: NDArray
    indices: NDArray

    def __post_init__(self) -> None:
        lend_all(self)


@dataclass(eq=False)
class Cluster:
    """A set of nodes with their adjacency in CSR: one chunk of a `Graph`.

    Attributes
    ----------
    index
        Number of this cluster.
    partition
        Which cluster owns which node of the graph.
    indptr
        Row pointer, shape (size + 1,), from 0; int32 where it fits.
    indices
        Neighbours of each node as node ids, ascending in each row; int32 where ids fit.
    weights
        Weight of each entry of `indices`, or None.
    identifiers
        Identifiers of the nodes, int64, shape (size,), or a function that returns them; None for node ids.
    directed
        Whether rows hold out-edges only.
    block
        The cluster's block of the adjacency matrix, if the graph has a process grid.
    in_indptr, in_indices
        The edges that come in, as `indptr` and `indices`, where a directed graph's broadcasts are to be
        read along them (`Kernel.pulls`), else None.
    in_weights
        Weight of each entry of `in_indices`, where these and weights are there.
    directions
        Of each entry of `indices`, uint8, where a directed graph is seen both ways (`Kernel.both_ways`):
        `OUT`, `IN`, or both bits. None on other graphs; on an undirected one all edges go both ways.
    weights_in
        Where `directions` and weights are there: the weight of the edge that comes in, and `weights` has that
        of the edge that leaves. An entry with one edge has its weight in both.
    loops
        Index of each node with a self-loop, int64, ascending, where the graph keeps these, else None. They
        are no entries of `indices`.
    loop_weights
        Weight of each entry of `loops`, where these and weights are there.
    earlier
        What an earlier run has found, where a run goes on from it.
    disk
        Whether the arrays of its edges are mapped files on a disk of the machine; also of a copy elsewhere.

    Examples
    --------
    The second of two clusters of a path of four nodes:

    >>> import numpy as np
    >>> from dgsuite import Graph
    >>> c = Graph.from_edges([0, 1, 2], [1, 2, 3], weights=[5, 1, 2], clusters=2).gather()[1]
    >>> c.n, c.size, c.ids, c.degree, c.remote_degree
    (4, 2, array([2, 3]), array([2, 1], dtype=int32), array([1, 0], dtype=int32))
    >>> c.zeros(), c.full(-1, np.int32)
    (array([0, 0]), array([-1, -1], dtype=int32))
    >>> c.local(3), c.local(0)
    (array([1]), array([], dtype=int64))
    >>> at, ends = c.edges(np.array([0, 1]))
    >>> c.ids[at], ends, c.weights
    (array([2, 2, 3]), array([1, 3, 2], dtype=int32), array([1, 2, 2]))
    >>> c.entries(np.array([0, 1]), np.array([3, 1]))
    array([ 1, -1])
    >>> c.places(np.array([0, 1]), np.array([3, 1]))
    (array([1, 2]), array([ True, False]))
    >>> c.leaves(np.array([1]))
    True
    >>> c.check_degrees()  # they fit into 32 bits
    >>> c.first, c.positions - c.first, c.index_in(c.positions)
    (2, array([-1,  1,  0], dtype=int32), array([-1,  1,  0], dtype=int32))
    >>> c.pulls, c.senders[1], c.sender_weights
    (True, array([1, 3, 2], dtype=int32), array([1, 2, 2]))
    >>> c.nbytes == sum(array.nbytes for array in c.edge_arrays)
    True
    """

    index: int
    partition: Partition
    indptr: NDArray
    indices: NDArray
    weights: NDArray | None
    identifiers: NDArray[np.int64] | Identify | None
    directed: bool = False
    block: Block | None = None
    in_indptr: NDArray | None = None
    in_indices: NDArray | None = None
    in_weights: NDArray | None = None
    directions: NDArray[np.uint8] | None = None
    weights_in: NDArray | None = None
    loops: NDArray[np.int64] | None = None
    loop_weights: NDArray | None = None
    earlier: Earlier | None = None
    disk: bool = False
    cache: dict[Any, Any] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        derived = {name for name, value in vars(Cluster).items() if isinstance(value, shared)}
        state = {name: value for name, value in vars(self).items() if name not in derived}
        return {**state, "cache": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()

    def __post_init__(self) -> None:
        if self.disk:
            for name in BY_ENTRY:
                if (array := vars(self).get(name)) is not None:
                    setattr(self, name, mapped.moved(array))
        # a kernel that wrote to them would change the graph for all later runs
        lend_all(self)
        if self.earlier is not None:
            self.earlier = self.earlier.read_only()

    @property
    def n(self) -> int:
        """Number of nodes of the graph."""
        return self.partition.n

    @property
    def size(self) -> int:
        """Number of nodes of this cluster."""
        return len(self.indptr) - 1

    @property
    def nbytes(self) -> int:
        """Bytes of the adjacency, in memory or on disk, and of what an earlier run has found."""
        return sum(a.nbytes for a in self._arrays)

    def __sizeof__(self) -> int:
        """Bytes in memory: by them Dask says when a worker's memory is full, and results go to disk."""
        return object.__sizeof__(self) + mapped.in_memory(self._arrays)

    @property
    def _arrays(self) -> list[NDArray]:
        arrays: list[Any] = [*self.edge_arrays, self.identifiers, self.loops, self.loop_weights]
        if self.earlier is not None:
            outputs, *entries = self.earlier
            arrays += [*outputs.values(), *entries]
        return [a for a in arrays if isinstance(a, np.ndarray)]

    @property
    def edge_arrays(self) -> list[NDArray]:
        """The arrays that describe the edges."""
        arrays = (getattr(self, name) for name in ("indptr", "in_indptr", *BY_ENTRY))
        return [array for array in arrays if array is not None]

    @property
    def pulls(self) -> bool:
        """Whether nodes know the nodes with an edge to them, so that broadcasts are read along edges."""
        return not self.directed or self.in_indptr is not None

    @property
    def senders(self) -> tuple[NDArray, NDArray]:
        """Row pointers and nodes with an edge to each node, of a cluster that `pulls`."""
        if self.in_indptr is None or self.in_indices is None:
            return self.indptr, self.indices
        return self.in_indptr, self.in_indices

    @property
    def sender_weights(self) -> NDArray | None:
        """Weights of the edges of `senders`."""
        return self.weights if self.in_indptr is None else self.in_weights

    @shared
    def ids(self) -> NDArray[np.int64]:
        """Node ids of this cluster's nodes, ascending."""
        return self.partition.nodes(self.index)

    @shared
    def uid(self) -> NDArray[np.int64]:
        """Identifier of each node."""
        if self.identifiers is None:
            return self.ids
        return self.identifiers(self.ids) if callable(self.identifiers) else self.identifiers

    @property
    def first(self) -> int:
        """Position of the first node in the graph's layout."""
        return int(self.partition.offsets[self.index])

    @shared
    def positions(self) -> NDArray:
        """Position of each neighbour in the graph's layout, as `indices`. Less `first` it is the neighbour's
        index in this cluster, if it belongs to it.
        """
        return self.partition.position(self.indices)

    @shared
    def sender_positions(self) -> NDArray:
        """Position in the graph's layout of each node of `senders`."""
        same = self.in_indptr is None
        return self.positions if same else self.partition.position(self.senders[1])

    @shared
    def successor(self) -> NDArray[np.int64]:
        """The next node on the ring 0, 1, ..., n - 1, 0."""
        return (self.ids + 1) % max(self.n, 1)

    @shared
    def degree(self) -> NDArray[np.int32]:
        """Number of neighbours of each node."""
        self.check_degrees()
        return np.diff(self.indptr).astype(np.int32)

    @shared
    def out_degree(self) -> NDArray[np.int32]:
        """Number of edges that leave each node."""
        return self.degree if self.directions is None else self._count(OUT)

    @shared
    def in_degree(self) -> NDArray[np.int32]:
        """Number of edges that come in at each node, of a cluster that `pulls` or has `directions`."""
        if self.directions is not None:
            return self._count(IN)
        if not self.pulls:
            raise ValueError(
                "rows hold out-edges; a kernel that pulls, or looks both_ways, has others"
            )
        return np.diff(self.senders[0]).astype(np.int32)

    def check_degrees(self) -> None:
        """See that no node has more neighbours than are counted.

        Raises
        ------
        InputError
            One has.
        """
        for indptr in (self.indptr, self.in_indptr):
            if indptr is None or indptr[-1] <= MOST_NEIGHBOURS:
                continue
            counts = np.diff(indptr)
            if counts.max() > MOST_NEIGHBOURS:
                raise InputError(
                    f"node {self.ids[counts.argmax()]} has {counts.max():,} neighbours; a node can have at "
                    f"most {MOST_NEIGHBOURS:,}"
                )

    def _count(self, way: int) -> NDArray[np.int32]:
        """Number of entries of each row that go some way."""
        before = np.concatenate([[0], np.cumsum(self.directions & way > 0)])  # type: ignore[operator]
        return np.diff(before[self.indptr]).astype(np.int32)

    @shared
    def remote_degree(self) -> NDArray[np.int32]:
        """Number of neighbours of each node that belong to other clusters."""
        return self._elsewhere(self.indptr, self.indices)

    @shared
    def remote_in_degree(self) -> NDArray[np.int32]:
        """Number of edges that come in at each node from other clusters, of a cluster that `pulls`."""
        return self._elsewhere(*self.senders)

    def _elsewhere(self, indptr: NDArray, indices: NDArray) -> NDArray[np.int32]:
        lo, hi = self.partition.offsets[self.index], self.partition.offsets[self.index + 1]
        return outside(indptr, self.partition.position(indices), lo, hi)

    def zeros(self, dtype: DTypeLike = np.int64) -> NDArray:
        """An array of zeros, one per node."""
        return np.zeros(self.size, dtype)

    def full(self, value: Any, dtype: DTypeLike | None = None) -> NDArray:
        """An array with the same value for every node."""
        return np.full(self.size, value, dtype)

    def local(self, node: int) -> NDArray[np.int64]:
        """Index of a node in this cluster, shape (1,), or shape (0,) if another cluster owns it."""
        at = self.index_in(self.partition.position(np.array([node])))
        return at[at >= 0]

    def index_in(self, positions: NDArray) -> NDArray[np.int64]:
        """Index in this cluster of the nodes at some positions of the graph's layout; -1 for other nodes."""
        where = positions - self.first
        return np.where((where >= 0) & (where < self.size), where, -1)

    def entries(self, rows: NDArray, neighbours: NDArray) -> NDArray[np.int64]:
        """Index in `indices` of a given neighbour of each row (local index), or -1 if it is not one."""
        at, found = self.places(rows, neighbours)
        return np.where(found, at, -1)

    def places(
        self, rows: NDArray, neighbours: NDArray
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Index in `indices` of each row's first entry that is not below a node; whether it is the node."""
        low, high = self.indptr[rows].astype(np.int64), self.indptr[rows + 1].astype(np.int64)
        end = high.copy()
        while (low < high).any():
            middle = (low + high) // 2
            below = (low < high) & (self.indices[np.minimum(middle, end - 1)] < neighbours)
            high = np.where(below, high, np.maximum(middle, low))
            low = np.where(below, middle + 1, low)
        found = low < end
        found[found] = self.indices[low[found]] == neighbours[found]
        return low, found

    def leaves(self, nodes: NDArray) -> bool:
        """Whether nodes that a search has reached lead to no other nodes: each has at most one neighbour, or
        on a directed graph no edge that leaves.
        """
        return not self.degree[nodes].any() if self.directed else single(self.indptr, nodes)

    def edges(self, rows: NDArray) -> tuple[NDArray, NDArray]:
        """The edges of given nodes (local indices).

        Returns
        -------
        at
            Index into `rows` of each edge.
        ends
            Node id of each edge's other end.
        """
        at, entry = expand(self.indptr, rows)
        return at, self.indices[entry]


class Links:
    """How many live neighbours each node of a cluster has: IMSuite's shrinking neighbour lists.

    A kernel that lets neighbours go keeps one of these in its state and broadcasts over it, so that
    a message is counted for live neighbours only.

    Attributes
    ----------
    degree, remote
        int32, shape (size,): live neighbours of each node, and those in other clusters.
    gone
        bool, shape (entries,), in a traced run: which entries of the adjacency lead to neighbours that
        have left. None where nothing was dropped, or the run is not traced.

    Examples
    --------
    >>> import numpy as np
    >>> from dgsuite import Graph
    >>> from dgsuite.partition.clusters.cluster import Links
    >>> (c,) = Graph.from_edges([0, 1, 2], [1, 2, 3], clusters=1).gather()
    >>> links = Links(c)
    >>> links.drop(np.array([1, 3]), np.array([1, 1]), np.array([0, 0]))  # as node 2 leaves
    >>> links.degree
    array([1, 1, 2, 0], dtype=int32)
    """

    def __init__(self, cluster: Cluster) -> None:
        self.degree = cluster.degree.copy()
        self.remote = cluster.remote_degree.copy()
        self.gone: NDArray[np.bool_] | None = None
        self._entries = len(cluster.indices)

    def drop(
        self, nodes: NDArray, gone: NDArray, gone_remote: NDArray, edges: NDArray | None = None
    ) -> None:
        """Take off neighbours that have left, as counted by ``inbox.count``.

        Parameters
        ----------
        edges
            ``inbox.edges(nodes)``: the edges to these neighbours, in a traced run.
        """
        self.degree[nodes] -= gone
        self.remote[nodes] -= gone_remote
        if edges is not None:
            if self.gone is None:
                self.gone = np.zeros(self._entries, bool)
            self.gone[edges] = True
