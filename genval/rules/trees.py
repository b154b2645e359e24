"""Minimum spanning trees."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import Job, Outputs, collect, ends, exactly, forest, marked, says
from dgsuite.genval.rules.registry import judges
from dgsuite.partition.clusters.cluster import Cluster


@judges("mst", outputs={"parent": 1})
def mst(job: Job) -> Iterator[list[Found]]:
    """Edges to parents that lead to roots, as many as in a minimum spanning forest, and of the same weights:
    those of all minimum spanning forests are the same in ascending order.
    """
    found, nodes, weights, light = zip(*job.each(_edges), strict=True)
    yield [*found, _rooted(job.outputs["parent"])]
    node, weight = np.concatenate(nodes), np.concatenate(weights)
    *_, right = forest(job.n, *(np.concatenate(parts) for parts in zip(*light, strict=True)))
    many = f"{len(right)} edges, as many as join all that edges can join"
    yield [job.whole("spanning", len(weight) != len(right), many, str(len(weight)))]
    order = np.argsort(weight, kind="stable")
    yield [collect(node[order], exactly("minimum", weight[order], np.sort(right)))]


def _edges(c: Cluster, outputs: Outputs) -> tuple[Found, NDArray, NDArray, tuple[NDArray, ...]]:
    """Check that the edges to parents exist. Their children and weights, and the minimum spanning forest of
    the cluster's edges, which has all that may be in one of the graph.
    """
    above = outputs["parent"][c.ids]
    rows = np.flatnonzero(above != -1)
    entry = c.entries(rows, above[rows])
    absent, there = marked(c.size, rows[entry < 0]), entry >= 0
    weights = np.ones(len(c.indices), np.int64) if c.weights is None else c.weights
    found = collect(c.ids, ("parent", absent, "one of its neighbours, or -1 at the root", above))
    row, other = ends(c)
    once = c.ids[row] < other
    light = forest(c.n, c.ids[row[once]], other[once], weights[once])
    return found, c.ids[rows[there]], weights[entry[there]], light


def _rooted(parent: NDArray) -> Found:
    """Check that parents lead to a root."""
    n, nodes = len(parent), np.arange(len(parent))
    top = np.where((parent < 0) | (parent >= n), nodes, parent)
    for _ in range(max(n - 1, 1).bit_length()):
        top = top[top]
    lost, told = (parent[top] != -1) & (parent != -1), says("node {}, which is on a cycle", top)
    return collect(nodes, ("tree", lost, "a path to a root", told))
