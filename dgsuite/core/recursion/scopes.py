"""Finishes that tasks have opened at a cluster's nodes, and the number of tasks that each waits for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NONE = -1
"""Node and slot of the finish above one that is under none."""

COLUMNS = np.dtype(
    [
        ("node", np.int64),  # local index of the node that opened it
        ("left", np.int64),  # tasks that have not ended
        ("then", np.int32),  # what runs at the end: an index into `Scopes.thens`
        ("depth", np.int32),
        ("home", np.int64),  # node of the finish that this one is under, or NONE
        ("slot", np.int64),  # which of the finishes there
    ]
)


class Scopes:
    """The open finishes of one cluster, by slot.

    A task under a finish spawns tasks only under a finish of its own. So a finish waits for its children
    alone, and the tree of finishes is the tree of tasks.
    """

    def __init__(self) -> None:
        self.rows = np.empty(64, COLUMNS)
        self.count = 0
        self.waiting = 0
        self.thens: list[str | None] = []

    def open(
        self,
        nodes: NDArray,
        left: NDArray,
        then: str | None,
        depth: int,
        above: tuple[NDArray, NDArray] | None,
    ) -> NDArray[np.int64]:
        """Open a finish at each node; returns the slots."""
        if not self.waiting:
            self.count = 0  # no reference to a slot is left
        first, end = self.count, self.count + len(nodes)
        while end > len(self.rows):
            self.rows = np.concatenate([self.rows, np.empty_like(self.rows)])
        if then not in self.thens:
            self.thens.append(then)
        home, slot = above if above is not None else (NONE, NONE)
        rows = self.rows[first:end]
        rows["node"], rows["left"], rows["depth"] = nodes, left, depth
        rows["then"], rows["home"], rows["slot"] = self.thens.index(then), home, slot
        self.count = end
        self.waiting += len(nodes)
        return np.arange(first, end)

    def ended(self, slots: NDArray) -> NDArray[np.int64]:
        """Tasks have ended, each under one of these finishes; returns the slots of those that are over."""
        np.subtract.at(self.rows["left"], slots, 1)
        slots = np.unique(slots)
        return slots[self.rows["left"][slots] == 0]

    def close(self, slots: NDArray) -> NDArray:
        """Close finishes that are over; returns their rows."""
        self.waiting -= len(slots)
        return self.rows[slots].copy()
