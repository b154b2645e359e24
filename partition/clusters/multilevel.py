"""Few edges between clusters of about equal load: labels spread along edges, with limits to their size.

Nodes first gather under labels that are far smaller than a cluster. The labels become the nodes of a coarse
graph, and so on, until few are left. These are dealt to clusters in an order in which neighbours are near
each other (reverse Cuthill-McKee). On the way back nodes at the border move to the cluster that most of their
edges lead to (Meyerhenke, Sanders and Schulz 2017, ParHIP). The rows of the finest graph are in blocks, which
may be on workers; all coarser ones are in this process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from dgsuite.partition.clusters.partitioners import Partition, blocks, check_clusters, from_owner

GROUPS = 8
"""Labels of the coarsest graph to a cluster, about: clusters are uneven with fewer, and cut more edges with
more."""

SLACK = 1.03
"""Largest load of a cluster, over the mean."""

SWEEPS = 6
"""Times that labels spread on each level, at most."""

SHRINKS = 0.9
"""A level that has more than this part of the nodes of the finer one is not worth its time."""


@dataclass(frozen=True)
class Block:
    """Consecutive rows of the adjacency of an undirected graph.

    Attributes
    ----------
    first
        Number of the first node.
    indptr, indices
        As a cluster has them; neighbours are node numbers.
    weights
        int64, by entry: edges that it stands for; empty where each is one.
    mass
        int64, by node: its load.
    """

    first: int
    indptr: NDArray
    indices: NDArray
    weights: NDArray[np.int64]
    mass: NDArray[np.int64]

    @classmethod
    def of(cls, first: int, indptr: NDArray, indices: NDArray) -> Block:
        """Rows of a graph: the load of a node is its degree plus one."""
        mass = np.diff(indptr).astype(np.int64) + 1
        return cls(first, indptr, indices, np.empty(0, np.int64), mass)

    def spread(
        self, labels: NDArray[np.int64], room: NDArray[np.int64], sweeps: int
    ) -> NDArray[np.int64]:
        """New labels of these nodes, given those of all nodes and the room that labels have here."""
        from dgsuite.partition.arrays._compiled.propagation import propagate

        labels, room = labels.copy(), room.copy()
        tally, most = np.zeros(len(room), np.int64), int(np.diff(self.indptr).max(initial=0))
        touched = np.empty(most, np.int64)
        rows = self.indptr, self.indices, self.weights, self.mass, self.first
        for _ in range(sweeps):
            if not propagate(*rows, labels, room, tally, touched):
                break
        return labels[self.first : self.first + len(self.mass)]

    def contract(self, labels: NDArray[np.int64], count: int) -> csr_array:
        """The weights of these rows' edges between labels, shape (count, count)."""
        own = labels[self.first : self.first + len(self.mass)]
        rows, columns = np.repeat(own, np.diff(self.indptr)), labels[self.indices]
        weights = self.weights if len(self.weights) else np.ones(len(columns), np.int64)
        out = rows != columns
        made: csr_array = coo_array(
            (weights[out], (rows[out], columns[out])), (count, count)
        ).tocsr()
        return made


Each = Callable[..., list[Any]]
"""Calls a method of every block, by name, with the same arguments."""


@dataclass(frozen=True)
class Level:
    """A graph in blocks of rows.

    Parameters
    ----------
    each
        Calls the method.
    pieces
        How many blocks there are.
    mass
        Load of all nodes, int64, shape (nodes,).
    """

    each: Each
    pieces: int
    mass: NDArray[np.int64]

    def deal(self, clusters: int) -> NDArray[np.int64]:
        """The cluster of each node."""
        total = int(self.mass.sum())
        coarse, group = self._coarser(total // (clusters * GROUPS))
        owner = self._in_order(clusters) if coarse is None else coarse.deal(clusters)[group]
        return self._spread(owner, int(SLACK * total / clusters) + 1, clusters)

    def _coarser(self, limit: int) -> tuple[Level | None, NDArray[np.int64]]:
        """The graph of labels of at most some load, and the label of each node; None if there are as many."""
        nodes = len(self.mass)
        found = self._spread(np.arange(nodes), limit, nodes)
        used, group = np.unique(found, return_inverse=True)
        if len(used) > SHRINKS * nodes:
            return None, group
        edges = self._contracted(group, len(used))
        mass = np.bincount(group, self.mass).astype(np.int64)
        rows = Block(0, edges.indptr, edges.indices, edges.data, mass)
        return in_process([rows]), group

    def _contracted(self, group: NDArray, count: int) -> csr_array:
        first, *others = self.each("contract", group, count)
        return sum(others, first)

    def _spread(self, labels: NDArray, limit: int, count: int) -> NDArray[np.int64]:
        """Let labels spread, each up to a load."""
        at_once = SWEEPS if self.pieces == 1 else 1
        for _ in range(SWEEPS // at_once):
            load = np.bincount(labels, self.mass, count).astype(np.int64)
            spread = np.concatenate(
                self.each("spread", labels, (limit - load) // self.pieces, at_once)
            )
            if np.array_equal(spread, labels):
                break
            labels = spread
        return labels

    def _in_order(self, clusters: int) -> NDArray[np.int64]:
        """Deal nodes to clusters in an order in which neighbours are near each other."""
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        nodes = len(self.mass)
        edges = self._contracted(np.arange(nodes), nodes)
        order = reverse_cuthill_mckee(edges, symmetric_mode=True)
        before = np.cumsum(self.mass[order]) - self.mass[order]
        owner = np.empty(nodes, np.int64)
        owner[order] = before * clusters // int(self.mass.sum())
        return owner


def in_process(pieces: Sequence[Block]) -> Level:
    """A graph in blocks of this process."""

    def each(method: str, *given: Any) -> list[Any]:
        return [getattr(piece, method)(*given) for piece in pieces]

    return Level(each, len(pieces), np.concatenate([piece.mass for piece in pieces]))


def multilevel(indptr: NDArray, indices: NDArray, clusters: int) -> Partition:
    """Few edges between clusters of about equal load; the load of a node is its degree plus one.

    Parameters
    ----------
    indptr, indices
        CSR adjacency of an undirected graph without self-loops.
    clusters
        Number of clusters.

    Examples
    --------
    A path of six nodes, numbered at random:

    >>> import numpy as np
    >>> from dgsuite.partition import multilevel
    >>> indptr = np.array([0, 2, 3, 5, 7, 8, 10])
    >>> indices = np.array([2, 3, 5, 0, 5, 0, 4, 3, 1, 2])
    >>> cut = multilevel(indptr, indices, 2)
    >>> sorted(cut.nodes(k).tolist() for k in range(2))
    [[0, 3, 4], [1, 2, 5]]
    """
    k = check_clusters(clusters)
    n = len(indptr) - 1
    if k == 1 or n <= k:
        return blocks(n, k)
    return from_owner(in_process([Block.of(0, indptr, indices)]).deal(k), k)
