"""Minimum spanning trees."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import (
    Job,
    Outputs,
    at_edges,
    collect,
    edges_within,
    ends,
    marked,
    says,
)
from dgsuite.genval.rules.registry import judges
from dgsuite.partition.clusters.cluster import Cluster

AT_ONCE = 1 << 18
"""Edges that are checked at a time."""


@judges("mst", outputs={"parent": 1})
def mst(job: Job) -> Iterator[list[Found]]:
    """A spanning tree of each component; no other edge is lighter than the heaviest tree edge between its
    ends (the cycle property; Tarjan 1983, chapter 6).
    """
    found, nodes, weights = zip(*job.each(_tree_edges), strict=True)
    rooted, top = _rooted(job.outputs["parent"])
    yield [*found, rooted, *job.each(_joined, top=top)]
    up = np.zeros(job.n, np.result_type(*weights))
    up[np.concatenate(nodes)] = np.concatenate(weights)
    yield job.each(_lighter, up=up)


def _tree_edges(c: Cluster, outputs: Outputs) -> tuple[Found, NDArray, NDArray]:
    """Check that the edges to parents exist; also returns their children and weights."""
    above = outputs["parent"][c.ids]
    rows = np.flatnonzero(above != -1)
    entry = c.entries(rows, above[rows])
    absent = marked(c.size, rows[entry < 0])
    weights = np.ones(len(c.indices), np.int64) if c.weights is None else c.weights
    found = collect(c.ids, ("parent", absent, "one of its neighbours, or -1 at the root", above))
    there = entry >= 0
    return found, c.ids[rows[there]], weights[entry[there]]


def _rooted(parent: NDArray) -> tuple[Found, NDArray]:
    """Check that parents lead to a root; also returns each node's root, or a node on the cycle above it."""
    n, nodes = len(parent), np.arange(len(parent))
    top = np.where((parent < 0) | (parent >= n), nodes, parent)
    for _ in range(max(n - 1, 1).bit_length()):
        top = top[top]
    lost, told = (parent[top] != -1) & (parent != -1), says("node {}, which is on a cycle", top)
    return collect(nodes, ("tree", lost, "a path to a root", told)), top


def _joined(c: Cluster, outputs: Outputs, top: NDArray) -> Found:
    """Check that no edge joins two trees."""
    expected = "neighbours in its tree, that of node {}"
    return edges_within(c, "tree", top, expected, "node {} in that of node {}")


class _Ancestors:
    """Ancestors 1, 2, 4, ... levels up, and the heaviest edge on the path to each (binary lifting)."""

    def __init__(self, parent: NDArray, up: NDArray) -> None:
        nodes = np.arange(len(parent))
        root = parent == -1
        least = np.iinfo(up.dtype).min if up.dtype.kind != "f" else -np.inf
        above = [np.where(root, nodes, parent)]
        heaviest = [np.where(root, least, up)]
        self.depth = (~root).astype(np.int64)
        while (above[-1] != above[-1][above[-1]]).any():
            a, h = above[-1], heaviest[-1]
            # the depth of nodes whose ancestor is the root is already complete
            self.depth = self.depth + self.depth[a]
            above.append(a[a])
            heaviest.append(np.maximum(h, h[a]))
        self.above, self.heaviest, self.least = above, heaviest, least

    def between(self, u: NDArray, v: NDArray) -> NDArray:
        """Weight of the heaviest edge on the path from each u to its v."""
        u, v = np.where(self.depth[u] < self.depth[v], (v, u), (u, v))
        most = np.full(len(u), self.least, self.heaviest[0].dtype)
        gap = self.depth[u] - self.depth[v]
        for level, (above, heaviest) in enumerate(zip(self.above, self.heaviest, strict=True)):
            climb = (gap >> level) & 1 == 1
            most[climb] = np.maximum(most[climb], heaviest[u[climb]])
            u[climb] = above[u[climb]]
        for above, heaviest in zip(reversed(self.above), reversed(self.heaviest), strict=True):
            climb = above[u] != above[v]
            most[climb] = np.maximum(most[climb], heaviest[u[climb]])
            most[climb] = np.maximum(most[climb], heaviest[v[climb]])
            u[climb], v[climb] = above[u[climb]], above[v[climb]]
        apart = u != v
        most[apart] = np.maximum(most[apart], self.heaviest[0][u[apart]])
        most[apart] = np.maximum(most[apart], self.heaviest[0][v[apart]])
        return most


def _lighter(c: Cluster, outputs: Outputs, up: NDArray) -> Found:
    """Check that no edge outside the tree is lighter than a tree edge that it could replace."""
    tree = _Ancestors(outputs["parent"].astype(np.int64), up)
    weights = np.ones(len(c.indices), np.int64) if c.weights is None else c.weights
    row, other = ends(c)
    once = np.flatnonzero(c.ids[row] < other)
    wrong = []
    for start in range(0, len(once), AT_ONCE):
        entry = once[start : start + AT_ONCE]
        most = tree.between(c.ids[row[entry]], other[entry].astype(np.int64))
        wrong.append(entry[weights[entry] < most])
    light = marked(len(row), np.concatenate([once[:0], *wrong]))
    told = "no edge lighter than one it could replace in the tree"
    found = "edge to node {} of weight {}"
    return collect(c.ids, at_edges(c, "minimum", light, told, found, other, weights))
