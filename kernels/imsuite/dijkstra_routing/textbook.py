"""Routing tables by Dijkstra's algorithm (Peleg 2000, chapter 9; IMSuite dijkstraRouting).

Every node learns the links of all nodes and computes the cheapest way to each. It learns them from each node
directly, as if any two were neighbours (an all-to-all overlay, as in IMSuite), where protocols by link state
flood them along the edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know after `route`, shape (size, n): the cost of the way to each node,
    and the first node on it.
    """

    cost: NDArray = bsp.later()
    next_hop: NDArray = bsp.later()


class DijkstraRouting(bsp.Kernel):
    """Routing tables of all nodes.

    Outputs ``cost`` and ``next_hop``, shape (n, n): of the cheapest way from each node to each
    target, of several with equal cost one with the fewest hops. Weights are costs; edges cost 1 where the
    graph has none.

    Parameters
    ----------
    faithful
        Of entries of equal cost settle the one found last, as IMSuite does.

    Notes
    -----
    Rounds: exactly ``1``. Link state, which floods the links of each node along the edges, would take as many
    as the diameter.

    Exchanges: at most ``rounds``.

    Messages: exactly ``n * (n - 1)``: every node tells every other its links, whether or not they are
    neighbours. Link state would take up to 2 m n.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> ds = dgsuite.run("dr", graph)
    >>> ds.cost.values
    array([[0, 1, 1, 2],
           [1, 0, 1, 2],
           [1, 1, 0, 1],
           [2, 2, 1, 0]])
    >>> ds.next_hop.values
    array([[0, 1, 2, 2],
           [0, 1, 2, 2],
           [0, 1, 2, 3],
           [2, 2, 2, 3]], dtype=int32)
    """

    name = "dr"
    obeys = bsp.Model("nodes", None)
    short_ids = True
    outputs = {
        "cost": bsp.Output("cost of the cheapest way", dims=("node", "target")),
        "next_hop": bsp.Output(
            "neighbour on the way, the node itself at home", dims=("node", "target"), nodes=True
        ),
    }
    fields = {"source": np.int32, "target": np.int32, "weight": np.int64}
    refuses = bsp.no_faults(bsp.ANNOUNCES)
    needs = ("connected", "non-negative weights")
    weighs = True
    state = State
    last_first: ClassVar[bool] = False
    """Of entries of equal cost, whether the one found last is settled first."""

    def check(self, c: bsp.Cluster) -> str | None:
        if c.weights is not None and len(c.weights):
            most = c.weights.max().item()
            real = c.weights.dtype.kind == "f"
            if most * c.n > (np.finfo(np.float64) if real else np.iinfo(np.int64)).max:
                return f"a way of {c.n} nodes and weights like {most} does not fit 64 bits"
        return None

    def program(self, net: bsp.Net) -> bsp.Program:
        yield bsp.Round(self.advertise, self.route)

    def advertise(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Announcement:
        nodes = np.arange(c.size)
        at, ends = c.edges(nodes)
        # weights are sent as 64 bits, whichever kind they are
        weight = self.weights(c).view(np.int64)
        return bsp.announce(nodes, source=c.ids[at], target=ends, weight=weight)

    def route(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Extra:
        s.cost, s.next_hop, _, fetched = self.search(c, inbox)
        return bsp.extra(comm=fetched)

    def search(
        self, c: bsp.Cluster, inbox: bsp.Inbox, trees: bool = False
    ) -> tuple[NDArray, NDArray, NDArray, int]:
        """Cheapest ways from the cluster's nodes, in the whole graph: see `_compiled.routes`."""
        from dgsuite.kernels.imsuite.dijkstra_routing import _compiled

        source = inbox.board("source")
        order = np.argsort(source, kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=c.n))])
        edges = indptr, inbox.board("target")[order], source[order]
        weight = inbox.board("weight").view(self.weights(c).dtype)[order]
        return _compiled.routes(*edges, weight, c.ids, self.last_first, trees)

    def weights(self, c: bsp.Cluster) -> NDArray:
        """Weights as int64 or float64; 1 where the graph has none."""
        if c.weights is None:
            return np.ones(len(c.indices), np.int64)
        return c.weights.astype(np.float64 if c.weights.dtype.kind == "f" else np.int64)
