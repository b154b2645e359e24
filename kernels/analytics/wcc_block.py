"""Connected components by blocks, and on from an earlier result.

Connected components by blocks: those of each cluster first, and then of the clusters' components.

A cluster finds the components of its own edges by union and find (Tarjan 1975). From then on each of
them is one node. Nodes with edges to other clusters tell these in which component they are, unless it is the
largest of their cluster. So a neighbour that tells nothing is in the largest component of its own cluster.
Each cluster then tells all others which of the largest components, and of those that nodes have told of,
belong together, and every cluster joins them in the same way. All other components lie within one cluster, or
are part of such a set.

Connected components of a graph that has grown: new edges join the components that there were.

Every component is a node, and the new edges are the graph: components with new edges between them are told
to all clusters, each pair once, and every cluster joins them by union and find (Tarjan 1975). No other edge
is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import analytics, bsp
from dgsuite.kernels.analytics.wcc import Components
from dgsuite.kernels.analytics.wcc_nested import NestedComponents, by_thresholds
from dgsuite.kernels.tools import blocks
from dgsuite.partition.construction.build import id_dtype
from dgsuite.partition.graph.graph import Graph

SAMPLED_NODES = 1 << 10
"""Nodes that are looked at first."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    component: NDArray[np.int64] = bsp.initial(lambda c: c.ids.copy())
    root: bsp.NodeIds = bsp.initial(lambda c: np.arange(c.size, dtype=id_dtype(c.size)))
    most: int = -1  # root of the component that has the most nodes
    tellers: NDArray[np.int64] = bsp.no_nodes()  # nodes of others that have edges to other clusters
    sets: NDArray[np.signedinteger] = bsp.later()  # of the largest components, then of nodes


class BlockComponents(bsp.Kernel):
    """Connected components, of each cluster first; see `Components` for the output.

    Notes
    -----
    Rounds: exactly ``1``.

    Messages: at most ``2 * m``, and to each cluster one for each component of a cluster's own edges and one
    for each of other clusters that it has met.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 3], [1, 2, 4])
    >>> dgsuite.run("wcc", graph, form="block").component.values
    array([0, 0, 0, 3, 3])
    """

    name = "wcc"
    obeys = bsp.Model("clusters", None)
    form = "block"
    outputs = Components.outputs
    fields = {"label": np.int64, "one": np.int64, "other": np.int64}
    both_ways = True
    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        yield bsp.Round(self.contract, self.meet, self.settle)

    def contract(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        s.most = analytics._blocks.unite(c.indptr, c.positions, c.first, s.root)
        s.tellers = nodes = np.flatnonzero((s.root != s.most) & (c.remote_degree > 0))
        remote = c.remote_degree[nodes]
        told: Any = {"edges": lambda: blocks.crossing(c, nodes)[1], "label": c.ids[s.root[nodes]]}
        return bsp.broadcast(nodes, to=(remote, remote), **told)

    def meet(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        """Join the components here by what others told, and tell all clusters what concerns these.

        Largest components are known by the number of nodes plus that of their cluster.
        """
        clusters = c.partition.clusters
        nodes, entry, ends = blocks.crossing(c, s.tellers)
        told, label = inbox.along("label", entry)
        root = s.root[nodes]
        large = self.largest(c, s, inbox)
        s.sets = np.empty(clusters + c.size, s.root.dtype)
        s.sets[:clusters] = np.arange(clusters)
        np.add(s.root, clusters, out=s.sets[clusters:])
        there = np.append(c.partition.owner(ends[~told]), large)
        here = np.append(root[~told], np.full(len(large), s.most)) + clusters
        analytics._unions.join_all(s.sets, there, here)
        root, label = root[told], label[told]
        within = s.sets[root + clusters] - clusters
        names = np.where(within < 0, c.n + clusters + within, c.ids[within.clip(0)])
        first = c.ids[root] < label
        members = analytics._blocks.first_of(s.sets, clusters)
        met = np.flatnonzero(members >= 0)
        pairs = [
            np.stack([np.arange(clusters), s.sets[:clusters]]) + c.n,
            np.stack([names, c.ids[root]]),
            np.stack([c.ids[root[first]], label[first]]),
            np.stack([c.n + met, c.ids[members[met]]]),
        ]
        known = np.concatenate(pairs, axis=1)
        _, _, new = united(known)
        return to_all(c, known[:, new])

    def settle(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        labels, joined, _ = united(np.stack([inbox.shipped("one"), inbox.shipped("other")]))
        clusters = c.partition.clusters
        nodes = np.searchsorted(labels, c.n)
        here = c.index_in(c.partition.position(labels[:nodes]))
        own = np.flatnonzero(here >= 0)
        large = np.zeros(clusters, np.int64)
        large[labels[nodes:] - c.n] = joined[nodes:]
        s.component[here[own]] = joined[own]
        analytics._blocks.spread(s.sets, large, s.component)

    def largest(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> NDArray[np.int64]:
        """Clusters up to this one to whose largest component the one here has an edge; and this one."""
        found = np.zeros(c.index + 1, np.bool_)
        found[c.index :] = c.size > 0
        begin, end = 0, SAMPLED_NODES
        while begin < c.size and not found.all():
            nodes = begin + np.flatnonzero(s.root[begin:end] == s.most)
            _, entry, ends = blocks.crossing(c, nodes)
            told, _ = inbox.along("label", entry)
            owner = c.partition.owner(ends[~told])
            found[owner[owner < c.index]] = True
            begin, end = end, 2 * end
        return np.flatnonzero(found)


def united(pairs: NDArray[np.int64]) -> tuple[NDArray, NDArray, NDArray]:
    """Names, ascending, the smallest name of each one's set, and which pairs joined two sets."""
    names, at = np.unique(pairs, return_inverse=True)
    root = np.arange(len(names))
    new = analytics._unions.join_all(root, *at.reshape(2, -1))
    return names, names[root], new


def to_all(c: bsp.Cluster, pairs: NDArray[np.int64]) -> bsp.Shipment:
    """Pairs of components that belong together, to all clusters."""
    clusters = c.partition.clusters
    one, other = np.tile(pairs, clusters)
    return bsp.ship(np.repeat(np.arange(clusters), pairs.shape[1]), one=one, other=other)


@dataclass(eq=False)
class SinceState(bsp.ClusterState):
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
    obeys = bsp.Model("clusters", None)
    form = "block"
    outputs = bsp.by_parameters(by_thresholds)
    values = NestedComponents.values
    fields = {"node": np.int64, "label": np.int64, "one": np.int64, "other": np.int64}
    undirected = False
    broadcasts = False
    same = ("single", "thresholds")

    def suited(self, graph: Graph) -> bsp.Kernel:  # type: ignore[override]
        """The kernel for thresholds, where there are some."""
        if self.thresholds is None:
            return self
        checked = NestedComponents(thresholds=self.thresholds).suited(graph).thresholds
        return replace(self, thresholds=checked)

    def program(self, net: bsp.Net) -> bsp.Program:
        for column, threshold in enumerate(self.thresholds or [None]):
            yield bsp.Round(self.tell, self.meet, self.settle, column=column, threshold=threshold)

    def start(self, c: bsp.Cluster) -> SinceState:
        assert c.earlier is not None
        old = c.earlier.outputs["component"]
        old = old if old.ndim == 2 else old[:, None]
        return SinceState(old, np.empty((c.size, old.shape[1]), np.int64))

    def first_state(self, c: bsp.Cluster) -> SinceState:
        """The earlier components stay as they are: they are as large as the new ones."""
        return self.start(c)

    def tell(
        self, c: bsp.Cluster, s: SinceState, inbox: bsp.Inbox, column: int, threshold: float | None
    ) -> bsp.Shipment:
        """Say to the clusters of new edges' other ends in which components the own ends are."""
        assert c.earlier is not None
        _, rows, ends, weights = c.earlier
        if threshold is not None:
            with np.errstate(over="ignore"):  # of weights of 32 bits
                counts = weights >= threshold
            rows, ends = rows[counts], ends[counts]
        return bsp.ship(c.partition.owner(ends), node=ends, label=s.before(c, rows, column))

    def meet(self, c: bsp.Cluster, s: SinceState, inbox: bsp.Inbox, column: int) -> bsp.Shipment:
        """Tell all clusters which components have new edges between them."""
        nodes = c.partition.position(inbox.shipped("node")) - c.first
        own, label = s.before(c, nodes, column), inbox.shipped("label")
        apart = own != label if c.directed else own < label  # else the other end tells
        least, most = np.minimum(own, label)[apart], np.maximum(own, label)[apart]
        return to_all(c, np.stack(np.divmod(np.unique(least * c.n + most), c.n)))

    def settle(self, c: bsp.Cluster, s: SinceState, inbox: bsp.Inbox, column: int) -> None:
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

    def spoils(self, before: NDArray, after: NDArray) -> NDArray[np.bool_]:
        """Components may come apart where an edge counts no more."""
        found = super().spoils(before, after)
        with np.errstate(over="ignore"):  # of weights of 32 bits
            for least in self.thresholds or ():
                found |= (before >= least) & (after < least)
        return found
