"""Connected components of a graph that has grown: new edges join the components that there were.

Every component is a node, and the new edges are the graph: components with new edges between them are told
to all clusters, each pair once, and every cluster joins them by union and find (Tarjan 1975).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.wcc import Components
from dgsuite.kernels.analytics.wcc_block import State, joined, to_all


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
    fields = {"label": np.int64, "one": np.int64, "other": np.int64}
    undirected = False
    ships = True
    state = State
    same = ("thresholds",)

    def program(self, net: bsp.Net) -> bsp.Program:
        yield bsp.Round(self.tell, self.meet, self.settle)

    def tell(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        assert c.earlier is not None
        rows, ends = c.earlier.rows, c.earlier.ends
        return bsp.unicast(ends, rows, label=s.component[rows])

    def meet(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        """Tell all clusters which components have new edges between them, each pair once."""
        own, label = s.component[inbox.node], inbox["label"]
        apart = own != label if c.directed else own < label  # else the other end tells
        pairs = np.unique(np.sort(np.stack([own, label])[:, apart], axis=0), axis=1)
        return to_all(c, *pairs)

    def settle(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        labels, least = joined(inbox)
        fall = np.zeros(c.n, np.int64)  # by component; pages that nothing touches take no memory
        fall[labels] = labels - least
        s.component -= fall[s.component]
