"""Fragments of a spanning forest: rooted trees, known edge by edge where their nodes are, and the lightest
edges that leave them: weights as integers, and a total order of edges of equal weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.tools.tree import Children

NONE = np.iinfo(np.int64).max
"""Key of no edge: larger than any other."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """The fragments of a cluster's nodes; at first each node is one. The lightest edge known that leaves a
    node's fragment has the key `best` and leads from node `inner` to node `outer`.
    """

    # per entry of the adjacency, its node, and whether it leads to a child
    row: NDArray[np.int64] = bsp.initial(lambda c: np.repeat(np.arange(c.size), c.degree))
    is_child: NDArray[np.bool_] = bsp.initial(lambda c: np.zeros(len(c.indices), bool))
    parent: NDArray[np.int32] = bsp.per_node(-1, np.int32)
    fragment: NDArray[np.int32] = bsp.initial(lambda c: c.ids.astype(np.int32))  # id of the root
    roots: NDArray[np.int64] = bsp.every_node()
    children: Children = bsp.initial(lambda c: Children(c.size))
    key: NDArray[np.int64] = bsp.initial(lambda c: keys(c))  # per entry, see `ordered`
    # entries that lead to other fragments
    leaving: NDArray[np.int64] = bsp.rows(lambda c: np.arange(len(c.indices)))
    best: NDArray[np.int64] = bsp.per_node(NONE)
    inner: NDArray[np.int32] = bsp.per_node(-1, np.int32)
    outer: NDArray[np.int32] = bsp.per_node(-1, np.int32)
    pending: NDArray[np.int64] = bsp.per_node()  # children that have not reported
    undone: int = 0  # roots that have not selected an edge
    joining: NDArray[np.int64] = bsp.no_nodes()  # new roots, from which an edge leaves
    partner: NDArray[np.int32] = bsp.per_node(-1, np.int32)  # other end of a new root's edge

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

    def look(self, c: bsp.Cluster, inbox: bsp.Inbox) -> None:
        """Find the lightest of each node's edges to neighbours that name another `fragment`."""
        _, theirs = inbox.along("fragment", self.leaving)
        # an edge within a fragment stays so
        self.leaving = self.leaving[theirs != self.fragment[self.row[self.leaving]]]
        row, key = self.row[self.leaving], self.key[self.leaving]
        self.best[:] = NONE
        heads = np.flatnonzero(np.diff(row, prepend=-1))
        if len(heads):
            self.best[row[heads]] = np.minimum.reduceat(key, heads)
        # an edge's name ascends along a row, and of several values for one place the last one stays
        chosen = np.flatnonzero(key == self.best[row])[::-1]
        self.inner[row[chosen]] = c.ids[row[chosen]]
        self.outer[row[chosen]] = c.indices[self.leaving[chosen]]

    def take_lighter(self, c: bsp.Cluster, inbox: bsp.Inbox) -> NDArray:
        """Take edges from messages with `key`, `inner` and `outer` where they are lighter than a node's own.

        Returns the nodes that got messages.
        """
        nodes, key = inbox.min("key")
        lighter = key < self.best[nodes]
        self.best[nodes[lighter]] = key[lighter]
        self.inner[nodes[lighter]] = -1
        node, key = inbox.node, inbox["key"]
        least = np.flatnonzero((key == self.best[node]) & (key < NONE))
        node, inner, outer = node[least], inbox["inner"][least], inbox["outer"][least]
        # of all that weigh the least, the first one by name is assigned last
        mine = self.inner[node]
        first = (mine < 0) | (name_edges(c, inner, outer) < name_edges(c, mine, self.outer[node]))
        node, inner, outer = node[first], inner[first], outer[first]
        order = np.argsort(-name_edges(c, inner, outer), kind="stable")
        self.inner[node[order]] = inner[order]
        self.outer[node[order]] = outer[order]
        return nodes

    def edge_of(self, nodes: NDArray) -> dict[str, Any]:
        """The edges of some nodes, as fields of a message."""
        return {"key": self.best[nodes], "inner": self.inner[nodes], "outer": self.outer[nodes]}


def keys(c: bsp.Cluster) -> NDArray[np.int64]:
    """Weights of a cluster's entries as integers in the same order; 1 where the graph has none."""
    return np.ones(len(c.indices), np.int64) if c.weights is None else ordered(c.weights)


def ordered(weights: NDArray) -> NDArray[np.int64]:
    """Weights as integers in the same order."""
    if weights.dtype.kind == "u":
        return (weights.astype(np.uint64) ^ np.uint64(1 << 63)).view(np.int64)
    if weights.dtype.kind != "f":
        return weights.astype(np.int64)
    bits = (weights.astype(np.float64) + 0.0).view(np.int64)  # -0.0 is 0.0
    return np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)


def name_edges(c: bsp.Cluster, inner: NDArray, outer: NDArray) -> NDArray[np.int64]:
    """A number for each of some edges, ascending by the smaller of its nodes, then the larger."""
    return np.minimum(inner, outer).astype(np.int64) * c.n + np.maximum(inner, outer)
