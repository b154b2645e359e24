"""Connected components by blocks: those of each cluster first, and then of the clusters' components.

A cluster finds the components of its own edges by union and find (Tarjan 1975). From then on each of
them is one node. Clusters tell each other which of these have edges between them; these edges, each once,
go to all, and every cluster joins them in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.wcc import Components
from dgsuite.kernels.tools import blocks


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    component: NDArray[np.int64] = bsp.initial(lambda c: c.ids.copy())
    root: NDArray[np.int64] = bsp.initial(lambda c: np.arange(c.size))  # in the cluster's own edges
    border: NDArray[np.int64] = bsp.no_nodes()  # nodes with edges to other clusters


@dataclass(frozen=True)
class BlockComponents(bsp.Kernel):
    """Connected components, of each cluster first; see `Components` for the output.

    Notes
    -----
    Rounds: exactly ``1``.

    Messages: at most ``2 * m``, and to each cluster one for each pair of components with edges between them,
    of which there are at most ``m``.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 3], [1, 2, 4])
    >>> dgsuite.run("wcc", graph, form="block").component.values
    array([0, 0, 0, 3, 3])
    """

    name = "wcc"
    form = "block"
    outputs = Components.outputs
    fields = {"label": np.int64, "one": np.int64, "other": np.int64}
    both_ways = True
    ships = True
    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        yield bsp.Round(self.contract, self.meet, self.settle)

    def contract(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        from dgsuite.kernels.analytics import _blocks

        _blocks.unite(c.indptr, c.positions, c.first, s.root)
        s.border = np.flatnonzero(c.remote_degree)
        nodes, _, ends = blocks.crossing(c, s.border)
        return bsp.unicast(ends, nodes, label=c.ids[s.root[nodes]])

    def meet(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        """Tell all clusters which components have edges between them, each pair from one end."""
        root, label = s.root[inbox.node], inbox["label"]
        first = c.ids[root] < label
        pairs = np.unique(root[first] * c.n + label[first])
        root, label = np.divmod(pairs, c.n)
        clusters = c.partition.clusters
        one, other = np.tile(c.ids[root], clusters), np.tile(label, clusters)
        return bsp.ship(np.repeat(np.arange(clusters), len(pairs)), one=one, other=other)

    def settle(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        from dgsuite.kernels.tools import _unions

        pairs = np.concatenate([inbox.shipped("one"), inbox.shipped("other")])
        labels, at = np.unique(pairs, return_inverse=True)
        joined = np.arange(len(labels))
        _unions.join_all(joined, *at.reshape(2, -1))
        met = np.unique(s.root[s.border])
        s.component[met] = labels[joined[np.searchsorted(labels, c.ids[met])]]
        s.component = s.component[s.root]
