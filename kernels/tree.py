"""Children of a cluster's nodes in a tree that the nodes build."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partition.segments import ranges


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
