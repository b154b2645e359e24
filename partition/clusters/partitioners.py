"""Partitions: which cluster owns which node.

Nodes are ordered by cluster, and by id within a cluster; the index of a node in this order is its
*position*. In contiguous blocks positions are the node ids themselves. All other code treats blocks and
arbitrary node-to-cluster maps alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dgsuite.base.errors import InputError
from dgsuite.base.extras import needed_by
from dgsuite.base.mixing import GOLDEN, mix
from dgsuite.partition.arrays.mapped import is_mapped
from dgsuite.partition.arrays.segments import lend_all, look_up
from dgsuite.partition.labels.columns import numpy_column


@dataclass(frozen=True, eq=False)
class Partition:
    """A map from nodes to clusters.

    Parameters
    ----------
    offsets
        int64, shape (clusters + 1,): cluster k holds positions ``offsets[k]`` to ``offsets[k + 1]``.
    order
        int64, shape (n,): the node at each position; None if positions are node ids.

    Examples
    --------
    Nodes 0 and 2 in cluster 0, nodes 1 and 3 in cluster 1:

    >>> import numpy as np
    >>> from dgsuite.partition import from_owner
    >>> partition = from_owner(np.array([0, 1, 0, 1]))
    >>> partition.n, partition.clusters, partition.nodes(1)
    (4, 2, array([1, 3]))
    >>> partition.owner(np.array([1, 2])), partition.position(np.array([1, 2]))
    (array([1, 0]), array([2, 1]))
    >>> partition.node(np.array([0, 1]))
    array([0, 2])
    """

    offsets: NDArray[np.int64]
    order: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        lend_all(self)

    @property
    def n(self) -> int:
        """Number of nodes."""
        return int(self.offsets[-1])

    @property
    def clusters(self) -> int:
        """Number of clusters, including empty ones."""
        return len(self.offsets) - 1

    @cached_property
    def _position(self) -> NDArray[np.int64]:
        assert self.order is not None
        position = np.empty(self.n, np.int64)
        position[self.order] = np.arange(self.n)
        return position

    def position(self, nodes: NDArray) -> NDArray:
        """Positions of the given nodes; of ends of edges on disk, there, too."""
        if self.order is None:
            return nodes
        return look_up(self._position, nodes) if is_mapped(nodes) else self._position[nodes]

    def node(self, positions: NDArray) -> NDArray:
        """Nodes at the given positions."""
        return positions if self.order is None else self.order[positions]

    def owner(self, nodes: NDArray) -> NDArray[np.int64]:
        """Cluster of each of the given nodes."""
        return np.searchsorted(self.offsets, self.position(nodes), side="right") - 1

    def nodes(self, cluster: int) -> NDArray[np.int64]:
        """Nodes of one cluster, ascending."""
        lo, hi = self.offsets[cluster], self.offsets[cluster + 1]
        return np.arange(lo, hi) if self.order is None else self.order[lo:hi]

    def __getstate__(self) -> dict:
        return {"offsets": self.offsets, "order": self.order}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Partition):
            return NotImplemented
        pairs = (self.offsets, other.offsets), (self.order, other.order)
        return all(a is b or np.array_equal(a, b) for a, b in pairs)  # type: ignore[arg-type]

    __hash__ = None  # type: ignore[assignment]


MOST_OF_METIS = np.iinfo(np.int32).max
"""Edge ends that METIS can count: it has 32 bits for them."""

MOST_CLUSTERS = 1 << 24
"""Each cluster is an object, so a much too large number by mistake would fill the memory."""


def check_clusters(clusters: object) -> int:
    """A number of clusters as an int.

    Parameters
    ----------
    clusters
        What a user gave.

    Raises
    ------
    InputError
        It is not an integer from 1 to `MOST_CLUSTERS`.

    Examples
    --------
    >>> from dgsuite.partition import check_clusters
    >>> check_clusters(4)
    4
    >>> check_clusters(0)
    Traceback (most recent call last):
    dgsuite.base.errors.InputError: clusters must be an integer of at least 1, got 0
    """
    if isinstance(clusters, bool) or not isinstance(clusters, int | np.integer) or clusters < 1:
        raise InputError(f"clusters must be an integer of at least 1, got {clusters!r}")
    if clusters > MOST_CLUSTERS:
        raise InputError(f"clusters must be at most {MOST_CLUSTERS}, got {clusters}")
    return int(clusters)


def blocks(n: int, clusters: int) -> Partition:
    """Contiguous blocks of equally many nodes; sizes differ by at most one.

    Parameters
    ----------
    n
        Number of nodes.
    clusters
        Number of blocks.

    Examples
    --------
    >>> from dgsuite.partition import blocks
    >>> blocks(10, 3).offsets
    array([ 0,  3,  6, 10])
    """
    k = check_clusters(clusters)
    return Partition(np.arange(k + 1, dtype=np.int64) * n // k)


def in_order(partition: Partition) -> Partition:
    """A partition into blocks of consecutive node ids, with as many clusters as a given one.

    Parameters
    ----------
    partition
        The given one, which is returned if it is such a partition already.

    Examples
    --------
    >>> from dgsuite.partition import hashed, in_order
    >>> in_order(hashed(10, 3)).nodes(0)
    array([0, 1, 2])
    """
    return partition if partition.order is None else blocks(partition.n, partition.clusters)


def balanced(degrees: ArrayLike, clusters: int) -> Partition:
    """Contiguous blocks of about equal load, where the load of a node is its degree plus one.

    Parameters
    ----------
    degrees
        Degree of each node, shape (n,).

    Examples
    --------
    >>> import numpy as np
    >>> from dgsuite.partition import balanced
    >>> balanced(np.array([9, 1, 1, 1, 1, 1]), 2).offsets
    array([0, 1, 6])
    """
    k = check_clusters(clusters)
    load = np.cumsum(np.asarray(degrees, np.int64) + 1)
    total = int(load[-1]) if len(load) else 0
    targets = np.arange(1, k) * (total / k)
    cuts = np.searchsorted(load, targets, side="left")
    around = np.concatenate([[0], load, [total]])
    cuts += around[cuts + 1] - targets < targets - around[cuts]
    return Partition(np.concatenate([[0], cuts, [len(load)]]).astype(np.int64))


def hashed(n: int, clusters: int) -> Partition:
    """Nodes assigned at random, by the SplitMix64 hash of their ids.

    Parameters
    ----------
    n
        Number of nodes.
    clusters
        Number of clusters.

    Examples
    --------
    >>> from dgsuite.partition import hashed
    >>> hashed(10, 3).nodes(0)
    array([3, 7])
    """
    k = check_clusters(clusters)
    x = mix(np.arange(n, dtype=np.uint64) + GOLDEN)
    return from_owner((x % np.uint64(k)).astype(np.int64), k)


def metis(indptr: NDArray, indices: NDArray, clusters: int) -> Partition:
    """Few edges between clusters of about equal size, by METIS (Karypis and Kumar 1998).

    Parameters
    ----------
    indptr, indices
        CSR adjacency of an undirected graph without self-loops.

    Raises
    ------
    InputError
        pymetis is not installed, or the graph has more edge ends than `MOST_OF_METIS`.

    Examples
    --------
    Two triangles, which an edge joins:

    >>> import numpy as np
    >>> from dgsuite.partition import metis
    >>> indptr = np.array([0, 2, 4, 7, 10, 12, 14])
    >>> indices = np.array([1, 2, 0, 2, 0, 1, 3, 2, 4, 5, 3, 5, 3, 4])
    >>> cut = metis(indptr, indices, 2)
    >>> sorted(cut.nodes(k).tolist() for k in range(2))
    [[0, 1, 2], [3, 4, 5]]
    """
    with needed_by("partition='metis'"):
        import pymetis
    k = check_clusters(clusters)
    n = len(indptr) - 1
    if k == 1 or n <= k:
        return blocks(n, k)
    if max(n, len(indices)) > MOST_OF_METIS:
        raise InputError(
            f"partition='metis' takes at most {MOST_OF_METIS} nodes and edge ends, which METIS counts in 32 "
            f"bits; the graph has {n} nodes and {len(indices)} edge ends. partition='edges' has no such limit"
        )
    _, owner = pymetis.part_graph(
        k, xadj=np.asarray(indptr, np.int32), adjncy=np.asarray(indices, np.int32)
    )
    return from_owner(np.asarray(owner, np.int64), k)


def from_owner(owner: ArrayLike, clusters: int | None = None) -> Partition:
    """The partition in which cluster ``owner[i]`` owns node i.

    Parameters
    ----------
    owner
        Integers, shape (n,), from 0 to ``clusters - 1``.
    clusters
        Number of clusters; by default one more than the largest owner.

    Raises
    ------
    InputError
        The map is not a one-dimensional array of integers, or has a number that is not a cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from dgsuite.partition import from_owner
    >>> from_owner(np.array([0, 1, 0])).offsets
    array([0, 2, 3])
    """
    owners = numpy_column(owner, "a node-to-cluster map")
    if owners.ndim != 1 or owners.dtype.kind not in "iu":
        raise InputError("a node-to-cluster map must be a one-dimensional array of integers")
    k = check_clusters(clusters if clusters is not None else int(owners.max(initial=0)) + 1)
    wrong = np.flatnonzero((owners < 0) | (owners >= k))
    if len(wrong):
        raise InputError(
            f"node {wrong[0]} is mapped to cluster {owners[wrong[0]]}; clusters are 0 to {k - 1}"
        )
    sizes = np.bincount(owners, minlength=k)
    order = np.argsort(owners, kind="stable").astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if np.array_equal(order, np.arange(len(order))):
        return Partition(offsets)
    return Partition(offsets, order)
