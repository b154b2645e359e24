"""Clusters that have grown: rows are woven together with what they have got when they are first read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dgsuite.base.once import Lock
from dgsuite.partition.arrays.segments import inserted, lifted
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.shared import shared
from dgsuite.partition.construction.build import id_dtype

ROWS = ("indptr", "indices", "weights")
"""Arrays that are woven."""


class Added(NamedTuple):
    """Entries that rows are to get, ascending by row, then column.

    Attributes
    ----------
    rows
        Index of the node in the cluster.
    columns
        Node id of the other end.
    at
        Before which entry of the rows that are there each comes.
    weights
        Weight of each, or None.
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    at: NDArray[np.int64]
    weights: NDArray | None

    def places(
        self, rows: NDArray, columns: NDArray, n: int
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Of entries of a graph of n nodes: the first one here that is not before each; whether it is it."""
        own, keys = self.rows * n + self.columns, rows * n + columns
        at = np.searchsorted(own, keys)
        return at, np.append(own, -1)[at] == keys

    def and_also(self, others: Added, before: NDArray[np.int64]) -> Added:
        """These and others, each before one of these."""
        weights = self.weights
        if weights is not None and others.weights is not None:
            weights = np.insert(weights, before, others.weights)
        return Added(
            np.insert(self.rows, before, others.rows),
            np.insert(self.columns, before, others.columns),
            np.insert(self.at, before, others.at),
            weights,
        )


def nothing(weights: NDArray | None) -> Added:
    """No entries, for rows that have some weights."""
    no = np.empty(0, np.int64)
    return Added(no, no, no, None if weights is None else np.empty(0, weights.dtype))


class Growth:
    """Rows of a cluster, and what they are to get; of threads that read them, one weaves.

    Parameters
    ----------
    base
        A cluster with the rows that are there.
    added
        What they are to get.
    size
        How many rows there are then.
    dtype
        Of `indices` then.
    """

    def __init__(self, base: Cluster, added: Added, size: int, dtype: DTypeLike) -> None:
        self.parts = base, added
        self.size, self.dtype = size, np.dtype(dtype)
        self._lock = Lock()

    @property
    def entries(self) -> int:
        """Number of entries of the rows."""
        base, added = self.parts
        return len(base.indices) + len(added.rows)

    def woven(self) -> Cluster:
        """A cluster with all rows; the earlier ones are let go."""
        with self._lock:
            base, added = self.parts
            indptr, indices, weights = base.indptr, base.indices, base.weights
            if len(added.rows) or base.size < self.size:
                indptr = lifted(indptr, added.rows, self.size, id_dtype(self.entries))
            if len(added.rows):
                indices = inserted(indices, added.at, added.columns, self.dtype)
                if weights is not None and added.weights is not None:
                    weights = inserted(weights, added.at, added.weights, weights.dtype)
            indices = indices.astype(self.dtype, copy=False)
            if indptr is not base.indptr or indices is not base.indices:
                base = replace(base, indptr=indptr, indices=indices, weights=weights)
                self.parts = base, nothing(weights)
            return base


class GrownCluster(Cluster):
    """A cluster whose rows are woven when they are first read; see `Cluster`.

    A cluster that `dataclasses.replace` makes of it has its rows, and no `growth`.
    """

    growth: Growth | None = None

    @classmethod
    def of(cls, c: Cluster, growth: Growth, **changes: Any) -> GrownCluster:
        """A cluster with other rows, and other attributes."""
        made = cls.__new__(cls)
        vars(made).update(c.__getstate__(), **changes, growth=growth)
        for name in ROWS:
            vars(made).pop(name, None)
        return made

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        if self.growth is not None:
            for name in ROWS:
                state.pop(name, None)
        return state

    @shared
    def indptr(self) -> NDArray:  # type: ignore[override]
        """Row pointer."""
        return self._woven.indptr

    @shared
    def indices(self) -> NDArray:  # type: ignore[override]
        """Neighbours of each node."""
        return self._woven.indices

    @shared
    def weights(self) -> NDArray | None:  # type: ignore[override]
        """Weight of each entry."""
        return self._woven.weights

    @property
    def _woven(self) -> Cluster:
        assert self.growth is not None
        return self.growth.woven()

    @property
    def size(self) -> int:
        """Number of nodes of this cluster."""
        return len(self.indptr) - 1 if self.growth is None else self.growth.size

    @property
    def stored(self) -> list[NDArray]:
        """The arrays that it has of the edges, woven or not."""
        if self.growth is None:
            return super().stored
        base, added = self.growth.parts
        return [*base.edge_arrays, *(array for array in added if array is not None)]


def growth_of(c: Cluster) -> Growth:
    """The rows of a cluster, and what they are to get, if they have not been woven yet."""
    if isinstance(c, GrownCluster) and c.growth is not None:
        return c.growth
    bare = replace(
        c, identify=None, block=None, earlier=None, loops=None, loop_weights=None, cache={}
    )
    return Growth(bare, nothing(c.weights), c.size, c.indices.dtype)
