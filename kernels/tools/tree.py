"""Rooted trees: children of nodes, and parents that are given with a graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dgsuite.partition.arrays.segments import ranges
from dgsuite.partition.clusters.cluster import Cluster

Parents = Sequence[int] | NDArray | None
"""The parent of each node; None for its neighbour with a smaller id."""


class Children:
    """For each node the ids of its children; a node learns of all its children at once.

    Parameters
    ----------
    size
        Nodes of the cluster.

    Attributes
    ----------
    count
        int64, shape (size,): children of each node.
    """

    def __init__(self, size: int) -> None:
        self.count = np.zeros(size, np.int64)
        self._first = np.zeros(size, np.int64)
        self._ids = np.empty(0, np.int64)

    def add(self, parents: NDArray, children: NDArray) -> None:
        """Take in children, ordered by parent (local index)."""
        if not len(parents):
            return
        heads = np.flatnonzero(np.diff(parents, prepend=-1))
        nodes = parents[heads]
        self._first[nodes] = len(self._ids) + heads
        self.count[nodes] = np.diff(heads, append=len(parents))
        self._ids = np.concatenate([self._ids, children])

    def of(self, nodes: NDArray) -> tuple[NDArray, NDArray]:
        """Children of some nodes: which of them each belongs to (an index), and its id."""
        at, entry = ranges(self._first[nodes], self.count[nodes])
        return at, self._ids[entry]


class Family:
    """Parents and children of a cluster's nodes in a rooted tree; see `parent_entries`.

    Attributes
    ----------
    rows, up
        Nodes with a parent, and for each the entry of the adjacency that leads to it.
    leaf
        bool, shape (size,): whether a node has no children.
    inner, children
        Nodes with children, and for each how many, and how many of them in other clusters.
    """

    def __init__(self, c: Cluster, root: int, parents: Parents) -> None:
        self.rows, self.up = parent_entries(c, root, parents)
        children, remote = c.degree.copy(), c.remote_degree.copy()
        children[self.rows] -= 1
        remote[self.rows] -= c.partition.owner(c.indices[self.up]) != c.index
        self.leaf = children == 0
        self.inner = np.flatnonzero(children)
        self.children = children[self.inner], remote[self.inner]
        self._entries = len(c.indices)

    def down(self) -> NDArray[np.int64]:
        """The entries of the adjacency that lead to children."""
        return np.delete(np.arange(self._entries), self.up)


def parent_entries(c: Cluster, root: int, parents: Parents) -> tuple[NDArray, NDArray]:
    """A cluster's nodes with a parent, and the entry of the adjacency that leads to it.

    Parameters
    ----------
    root
        Node id of the root.
    parents
        Parent of each node of the graph, or None: then it is the neighbour with a smaller id.

    Returns
    -------
    Local indices, ascending, and entries of ``c.indices``, -1 where there is none.
    """
    rows = np.flatnonzero(c.ids != root)
    if parents is not None:
        return rows, c.entries(rows, np.asarray(parents)[c.ids[rows]])
    # rows ascend, so a smaller neighbour comes first
    first = c.indptr[rows]
    some = c.degree[rows] > 0
    some[some] = c.indices[first[some]] < c.ids[rows[some]]
    return rows, np.where(some, first, -1)


def wrong_parents(c: Cluster, root: int, parents: Parents) -> str | None:
    """What is wrong with the parents of a cluster's nodes in a tree, or None; see `parent_entries`."""
    if parents is not None and len(parents) != c.n:
        return f"{len(parents)} parents for {c.n} nodes"
    rows, entry = parent_entries(c, root, parents)
    if (lost := entry < 0).any():
        return f"node {c.ids[rows[lost][0]]} has no edge to its parent"
    if parents is not None:
        # in a tree all parents lead to the root unless two nodes are each other's
        nodes, above = c.ids[rows], c.indices[entry]
        mutual = (above != root) & (np.asarray(parents)[above] == nodes)
        if mutual.any():
            return f"nodes {nodes[mutual][0]} and {above[mutual][0]} are each other's parents"
    else:
        at, ends = c.edges(np.arange(c.size))
        smaller = np.bincount(at[ends < c.ids[at]], minlength=c.size)
        if (smaller > 1).any():
            node = c.ids[smaller > 1][0]
            return f"node {node} has several neighbours with smaller ids: pass parents="
    return None
