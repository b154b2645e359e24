"""What is measured of a graph where its clusters are: cuts and halos, depth, and the spread of weights."""

from __future__ import annotations

from math import inf, ldexp
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.partition.arrays.segments import distinct, expand
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.checks import of_clusters, once

if TYPE_CHECKING:
    import xarray as xr

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

LOWEST, HIGHEST = -1073, 1024
"""Exponents of the smallest and of the largest float64, as `numpy.frexp` has them."""


def describe(graph: GraphData) -> xr.Dataset:
    """Cut edges, balance and halos of a graph's clusters, counted where the clusters are.

    Parameters
    ----------
    graph
        In this process, or on workers.

    Returns
    -------
    xarray.Dataset
        Per cluster: ``nodes``, ``ends`` (adjacency entries), ``cut`` (entries that lead to other
        clusters), ``halo`` (neighbours in other clusters, each counted once). Attributes: ``cut_edges``
        and ``cut_share``, number and share of edges between clusters; ``node_balance`` and
        ``edge_balance``, the largest cluster over the mean; ``halo_share``, values sent between clusters
        when every node broadcasts, over n.

    Examples
    --------
    >>> from dgsuite import Graph
    >>> from dgsuite import partition
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], clusters=2)
    >>> partition.describe(path).attrs["cut_edges"]
    1
    """
    import xarray as xr

    rows = of_clusters(graph, _count, "describing the graph")
    nodes, ends, cut, halo = np.array(rows, np.int64).T
    both = 1 if graph.directed else 2

    def by_cluster(values: np.ndarray, long_name: str) -> tuple[str, np.ndarray, dict[str, str]]:
        return "cluster", values, {"long_name": long_name, "units": "1"}

    return xr.Dataset(
        {
            "nodes": by_cluster(nodes, "nodes"),
            "ends": by_cluster(ends, "adjacency entries"),
            "cut": by_cluster(cut, "entries that lead to other clusters"),
            "halo": by_cluster(halo, "nodes of other clusters that it reads"),
        },
        {"cluster": np.arange(len(nodes))},
        {
            "cut_edges": int(cut.sum()) // both,
            "cut_share": float(cut.sum() / max(ends.sum(), 1)),
            "node_balance": float(nodes.max() / max(nodes.mean(), 1e-9)),
            "edge_balance": float(ends.max() / ends.mean()) if ends.any() else 1.0,
            "halo_share": float(halo.sum() / graph.n),
        },
    )


def _count(c: Cluster) -> tuple[int, int, int, int]:
    lo, hi = c.partition.offsets[c.index], c.partition.offsets[c.index + 1]
    position = c.partition.position(c.indices)
    away = (position < lo) | (position >= hi)
    seen = distinct(position[away])
    return c.size, len(c.indices), int(np.count_nonzero(away)), len(seen)


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
    >>> from dgsuite.partition.graph.measures import look
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
    >>> from dgsuite.partition.graph.measures import together
    >>> together(Graph.from_edges(np.arange(999), np.arange(1, 1000), clusters=2))
    Look(yes=True, reason='nodes with neighbours in other clusters alone are 0 % of a sample')
    """
    found = of_clusters(graph, _alone, "looking at the graph's clusters")
    share = sum(size * alone for size, alone in found) / graph.n
    why = f"nodes with neighbours in other clusters alone are {100 * share:.0f} % of a sample"
    return Look(share <= ALONE, why)


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


class Spread(NamedTuple):
    """A histogram of the positive weights.

    Attributes
    ----------
    counts
        int64, shape (HIGHEST - LOWEST + 1,): for each e from `LOWEST` on, the number of adjacency entries
        with a weight of at least 2^(e - 1) and less than 2^e.
    least, most
        Smallest and largest weight; infinity and 0 if there is none.
    """

    counts: NDArray[np.int64]
    least: float
    most: float

    @property
    def mean(self) -> float:
        """Approximate mean, with each weight replaced by the middle of its bin; 0 if there is none.

        It is at most a third too small and at most a half too large.
        """
        used = np.flatnonzero(self.counts)
        if not len(used):
            return 0.0
        top = int(used[-1])
        total = sum(ldexp(int(self.counts[i]), int(i) - top) for i in used)
        return ldexp(0.75 * total / int(self.counts.sum()), top + LOWEST)


def spread(graph: GraphData) -> Spread:
    """The distribution of the weights of a graph, computed once per graph."""
    found: Spread = once(graph, "spread of the weights", _spread)
    return found


def _spread(graph: GraphData) -> Spread:
    parts = of_clusters(graph, _spread_of)
    return Spread(
        sum(part.counts for part in parts),
        min(part.least for part in parts),
        max(part.most for part in parts),
    )


def _spread_of(c: Cluster) -> Spread:
    weights = np.ones(len(c.indices)) if c.weights is None else c.weights.astype(np.float64)
    weights = weights[weights > 0]
    exponents = np.frexp(weights)[1] - LOWEST
    counts = np.bincount(exponents, minlength=HIGHEST - LOWEST + 1)
    return Spread(counts, float(weights.min(initial=inf)), float(weights.max(initial=0)))
