"""Local clustering coefficients (Watts and Strogatz 1998), as LDBC Graphalytics defines them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import kernels.base as bsp
from kernels.analytics import triangles


@dataclass(eq=False)
class State(triangles.State):
    """What the nodes of a cluster know."""

    coefficient: NDArray[np.float64] = bsp.per_node(0.0)


@dataclass(frozen=True)
class ClusteringCoefficient(triangles.Triangles):
    """Of the pairs of neighbours of each node, the share that an edge joins; 0 where there is no pair.

    Outputs ``coefficient``.
    """

    name = "lcc"
    outputs = {"coefficient": bsp.Output("local clustering coefficient")}
    state = State

    def close(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:  # type: ignore[override]
        super().close(c, s, inbox)
        pairs = c.degree * (c.degree.astype(np.int64) - 1) // 2
        s.coefficient = s.triangles / np.maximum(pairs, 1)
