"""Clusters whose rows are packed: see `dgsuite.partition.arrays.packed`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.partition.arrays.packed import Numbers, Packed
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.shared import shared

ROWS = ("indices", "in_indices")
"""Arrays that are packed."""


class PackedCluster(Cluster):
    """A cluster whose rows are packed; see `Cluster`.

    The engine reads `coded`. For a kernel that reads `indices` itself, these are unpacked once. A cluster
    that `dataclasses.replace` makes of it has its rows unpacked, too.
    """

    rows: dict[str, Packed | None] = {}

    @classmethod
    def of(cls, c: Cluster, packed: Packed | None = None) -> PackedCluster:
        """A cluster with its rows packed, or with those that are packed already in their place."""
        made = cls.__new__(cls)
        state = c.__getstate__()
        found = {name: state.pop(name) for name in ROWS}
        rows = {name: None if each is None else Packed.of(each) for name, each in found.items()}
        vars(made).update(state, rows=rows if packed is None else {**rows, "indices": packed})
        made.__post_init__()
        return made

    def informed(self, into: Cluster) -> PackedCluster:
        """The same cluster with the edges that come in, which are the rows of another."""
        made = type(self).__new__(type(self))
        rows = {**self.rows, "in_indices": Packed.of(into.indices)}
        come = {"in_indptr": into.indptr, "in_weights": into.weights}
        vars(made).update(self.__getstate__(), **come, rows=rows)
        made.__post_init__()
        return made

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        for name in self.rows:
            state.pop(name, None)
        return state

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.disk and self.rows:
            self.rows = {name: rows and rows.on_disk() for name, rows in self.rows.items()}

    @shared
    def indices(self) -> NDArray:  # type: ignore[override]
        """Neighbours of each node, unpacked."""
        return np.asarray(self.rows["indices"])

    @shared
    def in_indices(self) -> NDArray | None:  # type: ignore[override]
        """Nodes with an edge to each node, unpacked."""
        rows = self.rows["in_indices"]
        return None if rows is None else np.asarray(rows)

    @property
    def coded(self) -> Numbers:
        """Neighbours of each node, packed."""
        return self.rows.get("indices") or self.indices

    @property
    def coded_senders(self) -> tuple[NDArray, Numbers]:
        """Row pointers and nodes with an edge to each node, packed."""
        if self.in_indptr is None:
            return self.indptr, self.coded
        return self.in_indptr, self.rows.get("in_indices") or self.senders[1]

    @property
    def stored(self) -> list[NDArray]:
        """The arrays that it has of the edges."""
        if not self.rows:
            return super().stored
        packed = [
            a for rows in self.rows.values() if rows is not None for a in (rows.words, rows.heads)
        ]
        return [a for a in (self.indptr, self.in_indptr, *packed) if a is not None]
