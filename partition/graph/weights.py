"""The distribution of a graph's weights. It is counted in integers, so it does not depend on the clusters."""

from __future__ import annotations

from math import inf, ldexp
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.checks import of_clusters, once

if TYPE_CHECKING:
    from dgsuite.partition.graph.data import GraphData

LOWEST, HIGHEST = -1073, 1024
"""Exponents of the smallest and of the largest float64, as `numpy.frexp` has them."""


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
    parts = of_clusters(graph, _of_cluster)
    return Spread(
        sum(part.counts for part in parts),
        min(part.least for part in parts),
        max(part.most for part in parts),
    )


def _of_cluster(c: Cluster) -> Spread:
    weights = np.ones(len(c.indices)) if c.weights is None else c.weights.astype(np.float64)
    weights = weights[weights > 0]
    exponents = np.frexp(weights)[1] - LOWEST
    counts = np.bincount(exponents, minlength=HIGHEST - LOWEST + 1)
    return Spread(counts, float(weights.min(initial=inf)), float(weights.max(initial=0)))
