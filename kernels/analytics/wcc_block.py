"""Connected components by blocks: those of each cluster first, and then of the clusters' components.

A cluster finds the components of its own edges by union and find (Tarjan 1975). From then on each of
them is one node: it hooks and shortcuts along the edges that cross the border, as nodes do in
`dgsuite.kernels.analytics.wcc` (Zhang, Azad and Hu 2020, FastSV).
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

    component: NDArray[np.int64] = bsp.initial(lambda c: c.ids.copy())  # a root's label, and parent
    root: NDArray[np.int64] = bsp.initial(lambda c: np.arange(c.size))  # in the cluster's own edges
    border: NDArray[np.int64] = bsp.no_nodes()  # nodes with edges to other clusters
    live: NDArray[np.int64] = bsp.no_nodes()  # roots with such nodes
    heard: NDArray[np.int64] = bsp.later()  # least label of a root and its neighbours
    before: NDArray[np.int64] = bsp.later()  # labels of live roots as the round began
    fresh: NDArray[np.bool_] = bsp.per_node(True)  # roots with a new label


@dataclass(frozen=True)
class BlockComponents(bsp.Kernel):
    """Connected components, of each cluster first; see `Components` for the output.

    Notes
    -----
    Rounds: about ``log2`` of the number of clusters' components that lie on a path.

    Messages: at most ``rounds * (2 * m + 2 * n)``.

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
    fields = {"label": np.int64}
    both_ways = True
    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        left = yield bsp.Round(self.contract, opening=True)
        if left.any:
            yield from bsp.until_quiet(self.tell, self.hook, self.answer, self.shorten)
        yield bsp.Round(self.settle, closing=left.any)

    def contract(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        from dgsuite.kernels.analytics import _blocks

        _blocks.unite(c.indptr, c.positions, c.first, s.root)
        s.border = np.flatnonzero(c.remote_degree)
        s.live = np.unique(s.root[s.border])
        s.heard = s.component.copy()
        return bsp.vote(any=len(s.live) > 0)

    def tell(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        nodes, _, ends = blocks.crossing(c, s.border[s.fresh[s.root[s.border]]])
        return bsp.unicast(ends, nodes, combine="min", label=s.component[s.root[nodes]])

    def hook(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        nodes, label = inbox.min("label")
        np.minimum.at(s.heard, s.root[nodes], label)
        s.before = parent = s.component[s.live]
        s.component[s.live] = label = np.minimum(parent, s.heard[s.live])
        asks = parent != c.ids[s.live]
        return bsp.unicast(parent[asks], s.live[asks], label=label[asks])

    def answer(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        nodes, label = inbox.min("label")
        s.component[nodes] = np.minimum(s.component[nodes], label)
        return bsp.unicast(inbox.src, inbox.node, label=s.component[inbox.node])

    def shorten(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        nodes = inbox.node
        s.component[nodes] = np.minimum(s.component[nodes], inbox["label"])
        s.fresh[s.live] = s.component[s.live] < s.before
        return bsp.vote(any=bool(s.fresh[s.live].any()))

    def settle(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        s.component = s.component[s.root]
