"""The edges of each node that count at a threshold: how many, and the weakest of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    edges: NDArray[np.int64] = bsp.per_node(0)
    weakest: NDArray[np.float64] = bsp.per_node(np.nan, np.float64)


@dataclass(frozen=True)
class CountedEdges(bsp.Kernel):
    """The edges of each node whose weight is at least a threshold; of a directed graph those that leave it.

    Outputs ``edges``, their number, and ``weakest``, the smallest of their weights as a float64: NaN where
    there is none, or the graph has no weights. `dgsuite.components` adds them up.

    Parameters
    ----------
    threshold
        By default all edges count.

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite.kernels.analytics.counted import CountedEdges
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3], weights=[0.9, 0.7, 0.8])
    >>> ds = dgsuite.run(CountedEdges, graph, threshold=0.8)
    >>> ds["edges"].values, ds["weakest"].values
    (array([1, 1, 1, 1]), array([0.9, 0.9, 0.8, 0.8]))
    """

    threshold: float | None = None

    name = "counted_edges"
    outputs = {
        "edges": bsp.Output("edges that count"),
        "weakest": bsp.Output("smallest of their weights"),
    }
    state = State
    undirected = False

    def program(self, net: bsp.Net) -> bsp.Program:
        yield bsp.Round(self.count)

    def count(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        if c.weights is None:
            s.edges = np.diff(c.indptr).astype(np.int64)
            return
        with np.errstate(over="ignore"):  # of weights of 32 bits
            counts = np.ones(len(c.weights), bool)
            if self.threshold is not None:
                counts = c.weights >= self.threshold
        before = np.append(0, np.cumsum(counts))[c.indptr]
        s.edges = np.diff(before)
        some = np.flatnonzero(s.edges)
        if len(some):
            weakest = np.minimum.reduceat(c.weights[counts], before[some])
            s.weakest[some] = weakest
