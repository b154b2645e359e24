"""Levels of a graph whose nodes are joined into communities, cut as the graph is, and who is in which.

A node of a level is named by a node of the graph, and lives in that node's cluster. The level's edges are
rows of the cluster; what they lead to is a *slot*: a row of the cluster, or a node of another cluster, which
tells this one whenever its community changes. A community is named by a node, too. That node's cluster adds
up its mass, and tells the clusters that have asked for it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.partition.arrays.segments import distinct, look_up, mark, transpose_outside

NOBODY = np.empty(0, np.int64)


class Level:
    """A cluster's part of a level.

    Attributes
    ----------
    indptr, ends, weight
        Edges of each row: slots at their other ends, and weights.
    mass
        Of each row, above 0 where it is a node of the level.
    live
        These rows.
    ghosts
        Nodes of the slots after the rows, ascending.
    coming
        Row pointer and rows next to each of these.
    row, to
        Which row tells which cluster where its community changes.
    """

    def __init__(
        self, indptr: NDArray, ends: NDArray, weight: NDArray, mass: NDArray, ghosts: NDArray
    ) -> None:
        self.indptr, self.ends, self.weight = indptr, ends, weight
        self.mass, self.ghosts, self.row, self.to = mass, ghosts, NOBODY, NOBODY
        self.coming = transpose_outside(indptr, ends, 0, len(mass), len(mass) + len(ghosts))

    @property
    def edges(self) -> tuple[NDArray, NDArray, NDArray]:
        """What loops over edges take."""
        return self.indptr, self.ends, self.weight

    @property
    def live(self) -> NDArray[np.int64]:
        """Rows that are nodes of the level."""
        return np.flatnonzero(self.mass)

    @property
    def slots(self) -> NDArray[np.int64]:
        """Slots of nodes of the level."""
        size = len(self.mass)
        return np.append(self.live, np.arange(size, size + len(self.ghosts)))

    def room(self, rows: NDArray, parts: Parts) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Room for loops that add up edges of some rows by community."""
        most = (self.indptr[rows + 1] - self.indptr[rows]).max(initial=0)
        return np.zeros(len(parts.names)), np.empty(most, np.int64)

    def slot(self, ghosts: NDArray) -> NDArray[np.int64]:
        """Slots of nodes of other clusters."""
        return len(self.mass) + np.searchsorted(self.ghosts, ghosts)


def slots_of(c: bsp.Cluster, ends: NDArray) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Nodes of other clusters among those at the ends of edges, and the slot of each end."""
    away = np.zeros(c.n, bool)
    mark(away, ends)
    away[c.ids] = False
    ghosts = np.flatnonzero(away)
    slot = np.empty(c.n, np.int32)
    slot[c.ids] = np.arange(c.size)
    slot[ghosts] = np.arange(c.size, c.size + len(ghosts))
    return ghosts, look_up(slot, ends)


def rows(c: bsp.Cluster, nodes: NDArray) -> NDArray[np.int64]:
    """Rows of nodes of a cluster."""
    return c.partition.position(nodes) - c.first


class Parts:
    """Communities of the nodes of a level, as a cluster knows them: none yet.

    Attributes
    ----------
    number
        Of the community of each slot.
    names
        Node that names each community, ascending.
    total, rest
        Mass of each community, and the weight of the edges that leave it (where that is kept), as was told
        last.
    mass, outer
        The same of the community that each row names.
    row, to
        Which row tells which cluster of the community that it names.
    unknown
        Names that the cluster has yet to ask for.
    """

    def __init__(self, level: Level) -> None:
        self.number = np.zeros(len(level.mass) + len(level.ghosts), np.int32)
        self.total, self.rest = np.empty((2, 0))
        self.mass, self.outer = np.zeros((2, len(level.mass)))
        self.names = self.row = self.to = self.unknown = NOBODY

    def name(self, slots: NDArray) -> NDArray[np.int64]:
        """Names of the communities of some slots."""
        return self.names[self.number[slots]]

    def note(self, slots: NDArray, names: NDArray) -> None:
        """Slots are in communities with some names from now on."""
        fresh = distinct(names)
        if len(self.names):
            at = np.minimum(np.searchsorted(self.names, fresh), len(self.names) - 1)
            fresh = fresh[self.names[at] != fresh]
        if len(fresh):
            both = np.sort(np.append(self.names, fresh), kind="stable")
            kept = np.searchsorted(both, self.names)
            if len(kept):
                self.number = kept.astype(np.int32)[self.number]
            total, rest = np.zeros((2, len(both)))
            total[kept], rest[kept] = self.total, self.rest
            self.names, self.total, self.rest = both, total, rest
            self.unknown = np.append(self.unknown, fresh)
        self.number[slots] = np.searchsorted(self.names, names)

    def told(self, inbox: bsp.Inbox) -> None:
        """Note what the clusters of communities tell of them."""
        at = np.searchsorted(self.names, inbox.shipped("node"))
        self.total[at], self.rest[at] = inbox.shipped("mass"), inbox.shipped("outer")

    def add(self, row: NDArray, mass: NDArray, outer: NDArray | None = None) -> None:
        """Add to the masses of communities that rows name, and to the weight of the edges that leave them."""
        self.mass += np.bincount(row, mass, len(self.mass))
        if outer is not None:
            self.outer += np.bincount(row, outer, len(self.mass))
