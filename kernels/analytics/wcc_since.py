"""Connected components of a graph that has grown: new edges join the components that there were.

Every component is a node, and the new edges are the graph: components with new edges between them are told
to all clusters, each pair once, and every cluster joins them by union and find (Tarjan 1975). No other edge
is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.wcc import Components
from dgsuite.kernels.analytics.wcc_block import to_all, united
from dgsuite.kernels.analytics.wcc_nested import NestedComponents
from dgsuite.partition.construction.build import id_dtype

if TYPE_CHECKING:
    from dgsuite.partition.graph.graph import Graph


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    old: NDArray[np.int64]  # components of the earlier run, of the first nodes, by threshold
    component: NDArray[np.int64]  # by node and threshold

    def before(self, c: bsp.Cluster, nodes: NDArray, column: int) -> NDArray[np.int64]:
        """Components of nodes as the run begins: a new node is one of its own."""
        found = c.partition.node(nodes + c.first)
        known = nodes < len(self.old)
        found[known] = self.old[nodes[known], column]
        return found


@dataclass(frozen=True)
class ComponentsSince(bsp.Kernel):
    """Connected components, from those of the graph before it grew; see `Components` for the output.

    Parameters
    ----------
    thresholds
        Those of the earlier run.

    Notes
    -----
    Rounds: exactly ``1``, or one for each threshold.

    Messages: one for each new edge, or two on an undirected graph; and to each cluster one for each pair of
    components with new edges between them. The same for each threshold, of the edges that count.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 3], [1, 2, 4])
    >>> before = dgsuite.run("wcc", graph)
    >>> dgsuite.run("wcc", graph.with_edges([4], [2]), since=before).component.values
    array([0, 0, 0, 0, 0])
    """

    thresholds: Sequence[float] | None = None

    name = "wcc"
    form = "block"
    outputs = Components.outputs
    fields = {"node": np.int64, "label": np.int64, "one": np.int64, "other": np.int64}
    undirected = False
    broadcasts = False
    ships = True
    same = ("single", "thresholds")

    def suited(self, graph: Graph) -> bsp.Kernel:  # type: ignore[override]
        """The kernel for thresholds, where there are some."""
        if self.thresholds is None:
            return self
        checked = NestedComponents(thresholds=self.thresholds).suited(graph).thresholds
        return NestedSince(self.seed, self.faithful, checked)

    def program(self, net: bsp.Net) -> bsp.Program:
        for column, threshold in enumerate(self.thresholds or [None]):
            yield bsp.Round(self.tell, self.meet, self.settle, column=column, threshold=threshold)

    def start(self, c: bsp.Cluster) -> State:
        assert c.earlier is not None
        old = c.earlier.outputs["component"]
        old = old if old.ndim == 2 else old[:, None]
        return State(old, np.empty((c.size, old.shape[1]), np.int64))

    def first_state(self, c: bsp.Cluster) -> State:
        """The earlier components stay as they are: they are as large as the new ones."""
        return self.start(c)

    def tell(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, column: int, threshold: float | None
    ) -> bsp.Shipment:
        """Say to the clusters of new edges' other ends in which components the own ends are."""
        assert c.earlier is not None
        _, rows, ends, weights = c.earlier
        if threshold is not None:
            with np.errstate(over="ignore"):  # of weights of 32 bits
                counts = weights >= threshold
            rows, ends = rows[counts], ends[counts]
        return bsp.ship(c.partition.owner(ends), node=ends, label=s.before(c, rows, column))

    def meet(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, column: int) -> bsp.Shipment:
        """Tell all clusters which components have new edges between them."""
        nodes = c.partition.position(inbox.shipped("node")) - c.first
        own, label = s.before(c, nodes, column), inbox.shipped("label")
        apart = own != label if c.directed else own < label  # else the other end tells
        least, most = np.minimum(own, label)[apart], np.maximum(own, label)[apart]
        return to_all(c, np.stack(np.divmod(np.unique(least * c.n + most), c.n)))

    def settle(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, column: int) -> None:
        labels, least, _ = united(np.stack([inbox.shipped("one"), inbox.shipped("other")]))
        fall: NDArray = np.zeros(c.n, id_dtype(c.n))  # pages that nothing touches take no memory
        fall[labels] = labels - least
        old, first_new = s.old[:, column], len(s.old)
        new = s.before(c, np.arange(first_new, c.size), column)
        component = s.component[:, column]
        component[:first_new] = old - fall[old]
        component[first_new:] = new - fall[new]
        if self.thresholds is None:
            s.component = component


@dataclass(frozen=True)
class NestedSince(ComponentsSince):
    """The same at several thresholds: each column from its own."""

    outputs = NestedComponents.outputs
    values = NestedComponents.values

    def spoils(self, before: NDArray, after: NDArray) -> NDArray[np.bool_]:
        """Components may come apart where an edge counts no more."""
        with np.errstate(over="ignore"):  # of weights of 32 bits
            each = [(before >= least) & (after < least) for least in self.thresholds or ()]
        return np.any(each, axis=0)
