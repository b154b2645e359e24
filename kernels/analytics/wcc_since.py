"""Connected components of a graph that has grown: new edges join the components that there were.

Every component is a node, and the new edges are the graph: components with new edges between them are told
to all clusters, each pair once, and every cluster joins them by union and find (Tarjan 1975). No other edge
is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.wcc import Components
from dgsuite.kernels.analytics.wcc_block import to_all, united
from dgsuite.partition.construction.build import id_dtype


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    old: NDArray[np.int64]  # components of the earlier run, of the first nodes
    component: NDArray[np.int64] = bsp.later()

    def before(self, c: bsp.Cluster, nodes: NDArray) -> NDArray[np.int64]:
        """Components of nodes as the run begins: a new node is one of its own."""
        found = c.partition.node(nodes + c.first)
        known = nodes < len(self.old)
        found[known] = self.old[nodes[known]]
        return found


@dataclass(frozen=True)
class ComponentsSince(bsp.Kernel):
    """Connected components, from those of the graph before it grew; see `Components` for the output.

    Notes
    -----
    Rounds: exactly ``1``.

    Messages: one for each new edge, or two on an undirected graph; and to each cluster one for each pair of
    components with new edges between them.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 3], [1, 2, 4])
    >>> before = dgsuite.run("wcc", graph)
    >>> dgsuite.run("wcc", graph.with_edges([4], [2]), since=before).component.values
    array([0, 0, 0, 0, 0])
    """

    name = "wcc"
    form = "block"
    outputs = Components.outputs
    fields = {"node": np.int64, "label": np.int64, "one": np.int64, "other": np.int64}
    undirected = False
    broadcasts = False
    ships = True
    same = ("thresholds",)

    def program(self, net: bsp.Net) -> bsp.Program:
        yield bsp.Round(self.tell, self.meet, self.settle)

    def start(self, c: bsp.Cluster) -> State:
        assert c.earlier is not None
        return State(c.earlier.outputs["component"])

    def first_state(self, c: bsp.Cluster) -> State:
        """The earlier components stay as they are: they are as large as the new ones."""
        return self.start(c)

    def tell(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        """Say to the clusters of new edges' other ends in which components the own ends are."""
        assert c.earlier is not None
        rows, ends = c.earlier.rows, c.earlier.ends
        return bsp.ship(c.partition.owner(ends), node=ends, label=s.before(c, rows))

    def meet(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        """Tell all clusters which components have new edges between them."""
        nodes = c.partition.position(inbox.shipped("node")) - c.first
        own, label = s.before(c, nodes), inbox.shipped("label")
        apart = own != label if c.directed else own < label  # else the other end tells
        least, most = np.minimum(own, label)[apart], np.maximum(own, label)[apart]
        return to_all(c, np.stack(np.divmod(np.unique(least * c.n + most), c.n)))

    def settle(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        from dgsuite.kernels.tools import _unions

        labels, least, _ = united(np.stack([inbox.shipped("one"), inbox.shipped("other")]))
        fall: NDArray = np.zeros(c.n, id_dtype(c.n))  # pages that nothing touches take no memory
        fall[labels] = labels - least
        s.component = np.empty(c.size, np.int64)
        first_new = len(s.old)
        new = s.before(c, np.arange(first_new, c.size))
        _unions.lower(s.old, fall, s.component[:first_new])
        _unions.lower(new, fall, s.component[first_new:])
