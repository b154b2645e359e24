"""Whether a graph is deep, that is, whether paths have many hops, and whether its clusters hold together."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dgsuite.partition.arrays.segments import distinct, expand
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.checks import of_clusters

if TYPE_CHECKING:
    from dgsuite.partition.graph.data import GraphData

SHALLOW_DEGREE = 8.0
"""Edge ends per node: with more, a graph is taken to be shallow without a look."""

STARTS = 4
"""Nodes of a cluster from which the look searches."""

HOPS = 64
"""A search that is still going on after so many hops is deep."""

NODES = 1 << 14
"""Nodes after which a search ends: what grows so fast is shallow."""


SAMPLE = 1 << 10
"""Nodes of a cluster whose neighbours are looked at."""

ALONE = 1 / 64
"""Clusters hold together if at most this share of the nodes has edges, but none within its cluster."""


class Look(NamedTuple):
    """What was seen of a graph.

    Attributes
    ----------
    yes
        Whether it is so.
    reason
        Why.
    """

    yes: bool
    reason: str


def look(graph: GraphData) -> Look:
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
    Look(yes=True, reason='searches within clusters take more than 64 hops')
    """
    ends = sum(graph.entries) / graph.n
    if ends > SHALLOW_DEGREE:
        return Look(False, f"{ends:.0f} edge ends per node: paths have few hops")
    found = of_clusters(graph, _deep, "looking at the graph's depth")
    if 2 * sum(size for size, deep in found if deep) > graph.n:
        return Look(True, f"searches within clusters take more than {HOPS} hops")
    return Look(False, f"searches within clusters end after at most {HOPS} hops")


def together(graph: GraphData) -> Look:
    """Whether nearly all nodes with edges have a neighbour in their own cluster, by a sample.

    Parameters
    ----------
    graph
        Where its clusters are on workers, they look.

    Examples
    --------
    >>> import numpy as np
    >>> from dgsuite import Graph
    >>> from dgsuite.partition.graph.depth import together
    >>> together(Graph.from_edges(np.arange(999), np.arange(1, 1000), clusters=2))
    Look(yes=True, reason='nodes with neighbours in other clusters alone are 0 % of a sample')
    """
    found = of_clusters(graph, _alone, "looking at the graph's clusters")
    share = sum(size * alone for size, alone in found) / graph.n
    return Look(
        share <= ALONE,
        f"nodes with neighbours in other clusters alone are {100 * share:.0f} % of a sample",
    )


def _alone(c: Cluster) -> tuple[int, float]:
    """Nodes of a cluster, and the share of them that has edges, but none to another node of it."""
    if not c.size:
        return 0, 0.0
    rows = np.unique(np.linspace(0, c.size - 1, SAMPLE).astype(np.int64))
    which, entry = expand(c.indptr, rows)
    inside = np.zeros(len(rows), bool)
    inside[which[c.index_in(c.partition.position(c.indices[entry])) >= 0]] = True
    return c.size, float(np.mean(~inside & (c.degree[rows] > 0)))


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
        at = c.index_in(c.partition.position(c.indices[entry]))
        at = at[at >= 0]
        front = distinct(at[~seen[at]])
    return len(front) > 0
