"""Fragments of a spanning forest: rooted trees, known edge by edge where their nodes are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.tools.tree import Children


@dataclass(eq=False)
class Fragments(bsp.ClusterState):
    """The fragments of a cluster's nodes; at first each node is one."""

    row: NDArray[np.int64] = bsp.initial(  # per entry of the adjacency, its node
        lambda c: np.repeat(np.arange(c.size), c.degree)
    )
    is_child: NDArray[np.bool_] = bsp.initial(  # per entry, whether it leads to a child
        lambda c: np.zeros(len(c.indices), bool)
    )
    parent: NDArray[np.int32] = bsp.per_node(-1, np.int32)
    fragment: NDArray[np.int32] = bsp.initial(lambda c: c.ids.astype(np.int32))  # id of the root
    roots: NDArray[np.int64] = bsp.every_node()
    children: Children = bsp.initial(lambda c: Children(c.size))

    def reverse(self, c: bsp.Cluster, nodes: NDArray, below: NDArray) -> NDArray:
        """Give nodes a child as their parent, or none (-1); returns the old parents, now their children."""
        above = self.parent[nodes]
        self.parent[nodes] = below
        inner, on = below >= 0, above >= 0
        self.is_child[c.entries(nodes[inner], below[inner])] = False
        self.is_child[c.entries(nodes[on], above[on])] = True
        return above

    def list_roots(self, c: bsp.Cluster) -> None:
        """Bring roots and lists of children up to date with parents and edges; roots name their fragment."""
        self.roots = np.flatnonzero(self.parent < 0)
        self.fragment[self.roots] = c.ids[self.roots]
        entry = np.flatnonzero(self.is_child)
        self.children = Children(c.size)
        self.children.add(self.row[entry], c.indices[entry])
