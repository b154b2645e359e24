"""The edges that count within the components of an earlier result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp


@dataclass(eq=False)
class State(bsp.ClusterState):
    """The edges that count."""

    source: NDArray[np.int64] = bsp.no_nodes()
    target: NDArray[np.int64] = bsp.no_nodes()
    weight: NDArray = bsp.no_nodes()
    component: NDArray[np.int64] = bsp.no_nodes()


@dataclass(frozen=True)
class CountedPairs(bsp.Kernel):
    """The edges within components, of an earlier result that each cluster has: see `dgsuite.pairs`.

    Outputs ``source``, ``target``, ``weight`` (1 if there are none) and ``component``, a table with a row for
    each edge, of a directed graph for each direction.

    Parameters
    ----------
    threshold
        The least weight of an edge that counts. By default all count.
    apart
        Whether edges that count may lie between components, and are left out.

    Examples
    --------
    >>> from dgsuite.kernels.analytics.counted import CountedPairs
    >>> CountedPairs(threshold=0.8).threshold
    0.8
    """

    threshold: float | None = None
    apart: bool = False

    name = "counted_pairs"
    outputs = {
        "source": bsp.Output("one end", dims=("pair",), nodes=True),
        "target": bsp.Output("other end", dims=("pair",), nodes=True),
        "weight": bsp.Output("weight of the edge", dims=("pair",)),
        "component": bsp.Output("component of the ends", dims=("pair",), nodes=True),
    }
    numbered = ("pair",)
    fields = {"label": np.int64}
    state = State
    undirected = False

    def program(self, net: bsp.Net) -> bsp.Program:
        yield bsp.Round(self.tell, self.keep)

    def first_state(self, c: bsp.Cluster) -> State:
        """Components of an earlier result are no part of it."""
        return State.of(c)

    def tell(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast | None:
        return bsp.broadcast(label=component(c)) if self.apart else None

    def keep(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        row = np.repeat(np.arange(c.size), c.degree)
        kept = np.ones(len(row), bool) if c.directed else c.ids[row] < c.indices
        if self.threshold is not None:
            assert c.weights is not None
            with np.errstate(over="ignore"):  # of weights of 32 bits
                kept &= c.weights >= self.threshold
        if self.apart:
            kept &= inbox.along("label")[1] == component(c)[row]
        row = row[kept]
        s.source, s.target, s.component = c.ids[row], c.indices[kept], component(c)[row]
        s.weight = np.ones(len(row)) if c.weights is None else c.weights[kept]


def component(c: bsp.Cluster) -> NDArray[np.int64]:
    """Components of the nodes of a cluster in an earlier result."""
    assert c.earlier is not None
    return c.earlier.outputs["component"]
