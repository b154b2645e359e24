"""Whether a graph is deep: whether paths between its nodes have many hops."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dgsuite.partition.arrays.segments import distinct, expand
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.checks import of_clusters

if TYPE_CHECKING:
    from dgsuite.partition.graph.graph import Graph

SPARSE = 8.0
"""Edge ends per node: with more, a graph is taken to be shallow without a look."""

STARTS = 4
"""Nodes of a cluster from which the look searches."""

HOPS = 64
"""A search that is still going on after so many hops is deep."""

NODES = 1 << 14
"""Nodes after which a search ends: what grows so fast is shallow."""


class Look(NamedTuple):
    """What was seen of a graph's depth.

    Attributes
    ----------
    deep
        Whether the graph is deep within its clusters.
    reason
        Why so.
    """

    deep: bool
    reason: str


def look(graph: Graph) -> Look:
    """A first look at a graph's depth: by its degrees, then by short searches within its clusters.

    Parameters
    ----------
    graph
        Where its clusters are on workers, they search.

    Notes
    -----
    A graph whose nodes are numbered at random is not deep within its clusters, whatever its paths: most
    edges lead from one cluster to another.

    Examples
    --------
    >>> import numpy as np
    >>> from dgsuite import Graph
    >>> from dgsuite.partition.graph.depth import look
    >>> look(Graph.from_edges(np.arange(999), np.arange(1, 1000)))
    Look(deep=True, reason='searches within clusters take more than 64 hops')
    """
    ends = sum(graph.entries) / graph.n
    if ends > SPARSE:
        return Look(False, f"{ends:.0f} edge ends per node: paths have few hops")
    found = of_clusters(graph, _deep, "looking at the graph's depth")
    if 2 * sum(size for size, deep in found if deep) > graph.n:
        return Look(True, f"searches within clusters take more than {HOPS} hops")
    return Look(False, f"searches within clusters end after at most {HOPS} hops")


def _deep(c: Cluster) -> tuple[int, bool]:
    """Nodes of a cluster, and whether a search within it is deep."""
    if not c.size:
        return 0, False
    seen = c.full(False)
    starts = c.size * np.arange(1, 2 * STARTS, 2) // (2 * STARTS)
    return c.size, any(_goes_on(c, start, seen) for start in starts.tolist())


def _goes_on(c: Cluster, start: int, seen: np.ndarray) -> bool:
    """Whether a search goes on for more than `HOPS` hops, in nodes that were not seen before."""
    front, found = np.array([start]), 0
    for _ in range(HOPS):
        seen[front] = True
        found += len(front)
        if not len(front) or found > NODES:
            return False
        _, entry = expand(c.indptr, front)
        at = c.partition.position(c.indices[entry]) - c.first
        at = at[(at >= 0) & (at < c.size)]
        front = distinct(at[~seen[at]])
    return len(front) > 0
