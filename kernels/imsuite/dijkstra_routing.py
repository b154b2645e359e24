"""Routing tables by Dijkstra's algorithm (Peleg 2000, chapter 9; IMSuite dijkstraRouting).

Every node learns the links of all nodes and works out for itself the cheapest way to each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernels.base import (
    Announcement,
    Extra,
    Inbox,
    Kernel,
    Net,
    Output,
    Program,
    Round,
    State,
    announce,
    extra,
)
from partition.cluster import Cluster


@dataclass(frozen=True)
class DijkstraRouting(Kernel):
    """Routing tables of all nodes.

    Outputs ``cost`` and ``next_hop``, shape (n, n): of the cheapest way from each node to each
    target, of several with equal cost one with the fewest hops.

    Parameters
    ----------
    faithful
        Of entries of equal cost settle the one found last, as the original does.
    """

    name = "dr"
    outputs = {
        "cost": Output("cost of the cheapest way", dims=("node", "target")),
        "next_hop": Output(
            "neighbour on the way, the node itself at home", dims=("node", "target"), nodes=True
        ),
    }
    fields = {"source": np.int32, "target": np.int32, "weight": np.int64}
    needs = ("connected", "non-negative weights")

    def check(self, c: Cluster) -> str | None:
        if c.weights is not None and len(c.weights):
            most = c.weights.max().item()
            real = c.weights.dtype.kind == "f"
            if most * c.n > (np.finfo(np.float64) if real else np.iinfo(np.int64)).max:
                return f"a way of {c.n} nodes and weights like {most} does not fit 64 bits"
        return None

    def program(self, net: Net) -> Program:
        yield Round(self.advertise, self.route)

    def start(self, c: Cluster) -> State:
        return State()

    def advertise(self, c: Cluster, s: State, inbox: Inbox) -> Announcement:
        nodes = np.arange(c.size)
        at, ends = c.edges(nodes)
        # weights of either kind travel as their bits
        return announce(nodes, source=c.ids[at], target=ends, weight=self.weights(c).view(np.int64))

    def route(self, c: Cluster, s: State, inbox: Inbox) -> Extra:
        s.cost, s.next_hop, _, fetched = self.search(c, inbox)
        return extra(comm=fetched)

    def search(
        self, c: Cluster, inbox: Inbox, trees: bool = False
    ) -> tuple[NDArray, NDArray, NDArray, int]:
        """Cheapest ways from the cluster's nodes, in the whole graph: see `kernels._compiled.routes`."""
        from kernels import _compiled

        source = inbox.board("source")
        order = np.argsort(source, kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=c.n))])
        return _compiled.routes(
            indptr,
            inbox.board("target")[order],
            source[order],
            inbox.board("weight").view(self.weights(c).dtype)[order],
            c.ids,
            self.faithful,
            trees,
        )

    def weights(self, c: Cluster) -> NDArray:
        """Weights as int64 or float64; 1 where the graph has none."""
        if c.weights is None:
            return np.ones(len(c.indices), np.int64)
        return c.weights.astype(np.float64 if c.weights.dtype.kind == "f" else np.int64)
