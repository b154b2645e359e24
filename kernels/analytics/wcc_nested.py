"""Connected components by the weights of edges.

Connected components at several thresholds: those of the heaviest edges first, which the next ones join.

An edge counts where its weight is at least the threshold, so components at a smaller threshold are unions of
those at a greater one, and edges are looked at by falling weight, as for a spanning forest (Kruskal 1956).
A cluster finds the components of its own heaviest edges by union and find (Tarjan 1975). From then on each
of them is one node, its root. At every threshold the edges that now count are compared once. Those whose ends
are in different components stay, and along them roots hook and shortcut as nodes do in
`dgsuite.kernels.analytics.wcc` (Zhang, Azad and Hu 2020, FastSV).

Components in which no source has two records: the best links first, as constrained single linkage.

Edges are taken by falling weight, and one that would join two records of a source is passed over (Kruskal
1956; Davidson and Ravi 2005). Within a component of all edges that count one decision depends on those before
it, and components do not depend on each other. So the edges of each go to the cluster of its smallest node.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.kernels import analytics, bsp
from dgsuite.kernels.analytics.wcc import Components
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.labels.columns import numpy_column

EVERY = (-sys.float_info.max,)
"""A threshold that all weights reach."""


def by_thresholds(kernel: Any) -> dict[str, bsp.Output]:
    """The output of a kernel, with a column for each threshold where there are some."""
    output = Components.outputs["component"]
    dims = ("node",) if kernel.thresholds is None else ("node", "threshold")
    return {"component": output._replace(dims=dims)}


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    component: NDArray[np.int64]  # by node and threshold
    label: NDArray[np.int64] = bsp.initial(lambda c: c.ids.copy())  # of a root: name, and parent
    root: NDArray[np.int64] = bsp.initial(lambda c: np.arange(c.size))  # in the heaviest own edges
    missed: NDArray[np.int64] = bsp.later()  # of each entry: thresholds above its weight
    entry: NDArray[np.int64] = bsp.rows()  # of the edges between components that now count
    row: NDArray[np.int64] = bsp.no_nodes()  # nodes of these
    tellers: NDArray[np.int64] = bsp.no_nodes()  # each of them once
    live: NDArray[np.int64] = bsp.no_nodes()  # roots that hook
    alive: NDArray[np.bool_] = bsp.per_node(False)  # the same as a mask
    children: NDArray[np.int64] = bsp.rows(lambda c: np.empty((2, 0), np.int64))  # of roots
    heard: NDArray[np.int64] = bsp.later()  # least label of a root and its neighbours
    before: NDArray[np.int64] = bsp.later()  # labels of live roots as the round began
    fresh: NDArray[np.bool_] = bsp.per_node(False)  # roots with a new label


@dataclass(frozen=True)
class NestedComponents(bsp.Kernel):
    """Connected components at each of several thresholds; see `Components` for the output.

    Parameters
    ----------
    thresholds
        Numbers, finite and different.

    Notes
    -----
    Rounds: about ``log2`` of the number of components that lie on a path, for each threshold.

    Messages: at most ``2 * m`` for each threshold, and ``rounds * (2 * m + 2 * n)``.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3], weights=[0.9, 0.7, 0.8])
    >>> dgsuite.run("wcc", graph, thresholds=[0.8, 0.7]).component.values
    array([[0, 0],
           [0, 0],
           [2, 0],
           [2, 0]])
    """

    thresholds: Sequence[float] | None = ()

    name = "wcc"
    form = "block"
    outputs = bsp.by_parameters(by_thresholds)
    fields = {"label": np.int64}
    both_ways = True

    def suited(self, graph: Graph) -> Self:
        """The kernel with thresholds that are floats.

        Raises
        ------
        InputError
            They are no thresholds, or the graph has no weights.
        """
        found = None if self.thresholds is None else checked(self.thresholds)
        if not graph.weighted:
            raise InputError(
                "kernel 'wcc': thresholds and single= compare the weights of edges, but the graph has none; "
                "give some, or name their column by weight= when the graph is made"
            )
        return replace(self, thresholds=found)

    def values(self, dim: str) -> NDArray[np.float64]:
        """The thresholds."""
        return np.array(self.thresholds)

    @property
    def levels(self) -> Sequence[float]:
        """The thresholds, or one that all weights reach."""
        return EVERY if self.thresholds is None else self.thresholds

    def program(self, net: bsp.Net) -> bsp.Program:
        yield bsp.Round(self.contract, opening=True)
        for column in np.argsort(self.levels)[::-1].tolist():
            level = sum(other > self.levels[column] for other in self.levels)
            left = yield bsp.Round(self.tell, self.compare, level=level)
            if left.any:
                phases = (self.call, self.hook, self.answer, self.shorten, self.listen)
                yield from bsp.until_quiet(*phases)
            yield bsp.Round(self.settle, closing=True, column=column)

    def start(self, c: bsp.Cluster) -> State:
        return State.of(c, component=np.empty((c.size, len(self.levels)), np.int64))

    def contract(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        assert c.weights is not None
        weights = c.weights if c.weights_in is None else np.maximum(c.weights, c.weights_in)
        s.missed = np.zeros(len(weights), np.min_scalar_type(len(self.levels)))
        with np.errstate(over="ignore"):  # of weights of 32 bits
            for threshold in self.levels:
                s.missed += weights < threshold
        heaviest = s.missed == 0
        indptr = np.append(0, np.cumsum(heaviest, dtype=c.indptr.dtype))[c.indptr]
        analytics._blocks.unite(indptr, c.positions[heaviest], c.first, s.root)

    # The edges that count from a threshold on.

    def tell(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, level: int) -> bsp.Broadcast:
        """The ends of edges that may lie between components say in which they are."""
        s.entry = np.flatnonzero(s.missed == level)
        s.row = np.searchsorted(c.indptr, s.entry, side="right") - 1
        other = c.index_in(c.positions[s.entry])
        keep(s, (other < 0) | (s.root[other] != s.root[s.row]))
        return bsp.broadcast(s.tellers, label=s.label[s.root[s.tellers]])

    def compare(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        _, label = inbox.along("label", s.entry)
        apart = label != s.label[s.root[s.row]]
        keep(s, apart)
        s.alive[:] = s.fresh[:] = False
        s.alive[s.root[s.row]] = True
        s.live = np.flatnonzero(s.alive)
        s.heard = s.label.copy()
        np.minimum.at(s.heard, s.root[s.row], label[apart])
        return bsp.vote(any=len(s.live) > 0)

    # Between components: a root that is its own parent hooks to the least label that it hears or is offered.

    def call(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        """Roots that have hooked say so to their children."""
        parent, child = s.children
        hooked = np.flatnonzero(s.label[parent] != c.ids[parent])
        parent, child = parent[hooked], child[hooked]
        if len(hooked):
            s.children = np.delete(s.children, hooked, axis=1)
        return bsp.unicast(child, parent, label=s.label[parent])

    def hook(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        """The others offer it to their parents, or ask for the label of a new one."""
        self.wake(s, inbox.node)
        s.before = s.label[s.live]
        s.label[inbox.node], s.fresh[inbox.node] = inbox["label"], True
        parent = s.label[s.live]
        least = np.minimum(parent, s.heard[s.live])
        top = parent == c.ids[s.live]
        s.label[s.live[top]] = least[top]
        asks = ~top & (s.fresh[s.live] | (least < parent))
        return bsp.unicast(parent[asks], s.live[asks], label=least[asks])

    def answer(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        nodes, label = inbox.min("label")
        before = len(s.live)
        self.wake(s, nodes)
        s.before = np.append(s.before, s.label[s.live[before:]])
        top = s.label[nodes] == c.ids[nodes]
        s.label[nodes[top]] = np.minimum(c.ids[nodes[top]], label[top])
        parent = inbox.node
        label = s.label[parent]
        stays = label == c.ids[parent]
        s.children = np.append(s.children, np.stack([parent, inbox.src])[:, stays], axis=1)
        return bsp.unicast(inbox.src, parent, label=label)

    def wake(self, s: State, roots: NDArray) -> None:
        """Have roots hook."""
        asleep = roots[~s.alive[roots]]
        s.alive[asleep] = True
        s.live = np.append(s.live, asleep)

    def shorten(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        s.label[inbox.node] = inbox["label"]
        s.fresh[s.live] = s.label[s.live] < s.before
        root = s.root[s.tellers]
        news = s.fresh[root]
        return bsp.broadcast(s.tellers[news], label=s.label[root[news]])

    def listen(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        told, label = inbox.along("label", s.entry)
        np.minimum.at(s.heard, s.root[s.row[told]], label[told])
        return bsp.vote(any=s.fresh[s.live] | (s.heard[s.live] < s.label[s.live]))

    def settle(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, column: int) -> None:
        s.component[:, column] = s.label[s.root]


def keep(s: State, kept: NDArray[np.bool_]) -> None:
    """Drop the other edges."""
    s.entry, s.row = s.entry[kept], s.row[kept]
    s.tellers = s.row[np.flatnonzero(np.diff(s.row, prepend=-1))]


def checked(thresholds: Sequence[float]) -> tuple[float, ...]:
    """Thresholds as floats.

    Raises
    ------
    InputError
        There are none, one is not a finite number, or one is there more than once.
    """
    found = np.asarray(thresholds).tolist()
    if not found or not all(map(_finite, found)):
        raise InputError(
            f"kernel 'wcc': thresholds must be finite numbers, at least one, such as [0.95, 0.9], got {found}"
        )
    if len(set(found)) < len(found):
        twice = next(one for one in found if found.count(one) > 1)
        raise InputError(
            f"kernel 'wcc': thresholds must be different, and {twice} is there more than once"
        )
    return tuple(map(float, found))


def _finite(number: object) -> bool:
    return isinstance(number, Real) and not isinstance(number, bool) and math.isfinite(number)


@dataclass(frozen=True)
class SingleNested(NestedComponents):
    """Components with at most one record of a source, at each threshold; see `Components` for the output.

    Parameters
    ----------
    single
        The source of each node, in the order of node ids.

    Notes
    -----
    Rounds: those of `NestedComponents`, and one more.

    Messages: those of `NestedComponents`, and one for each edge that counts, and for each of its nodes and
    each threshold.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3], weights=[0.9, 0.7, 0.8])
    >>> dgsuite.run("wcc", graph, thresholds=[0.6], single=["a", "b", "a", "b"]).component.values.T
    array([[0, 0, 2, 2]])
    """

    single: Sequence[Any] = ()

    obeys = bsp.Model("clusters", None, "data")
    fields = {
        **NestedComponents.fields,
        **dict.fromkeys(("one", "other", "level", "node", "column"), np.int64),
        "weight": np.float64,
    }
    both_ways = False

    def suited(self, graph: Graph) -> Self:
        """The kernel with a number for each source.

        Raises
        ------
        InputError
            Not every node has a source; or as `NestedComponents` says.
        """
        import pandas as pd

        sources = numpy_column(self.single, "kernel 'wcc': single")
        if sources.shape != (graph.n,):
            raise InputError(
                f"kernel 'wcc': single must have a source for each of {graph.n} nodes, got shape "
                f"{sources.shape}"
            )
        return replace(super().suited(graph), single=pd.factorize(sources)[0])

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from super().program(net)
        yield bsp.Round(self.bring, self.link, self.learn, column=int(np.argmin(self.levels)))

    def bring(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, column: int) -> bsp.Shipment:
        """Each edge that counts, once, to the cluster of its component."""
        assert c.weights is not None
        row = np.repeat(np.arange(c.size), c.degree)
        entry = np.flatnonzero((c.ids[row] < c.indices) & (s.missed < len(self.levels)))
        row = row[entry]
        owner = c.partition.owner(s.component[row, column])
        how = {"level": s.missed[entry], "weight": c.weights[entry]}
        return bsp.ship(owner, one=c.ids[row], other=c.indices[entry], **how)

    def link(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        """Join by the best links, and tell nodes their components at each threshold."""
        one, other = inbox.shipped("one"), inbox.shipped("other")
        level = inbox.shipped("level")
        order = np.lexsort([other, one, -inbox.shipped("weight"), level])
        nodes, at = np.unique(np.stack([one, other])[:, order], return_inverse=True)
        ends, root, after = at.reshape(2, -1), np.arange(len(nodes)), np.arange(len(nodes))
        _, source = np.unique(np.asarray(self.single)[nodes], return_inverse=True)
        columns = np.argsort(self.levels)[::-1]
        cuts = np.searchsorted(level[order], np.arange(len(columns) + 1))
        labels = np.empty((len(columns), len(nodes)), np.int64)
        for k, first in enumerate(cuts[:-1]):
            analytics._unions.join_apart(root, after, source, *ends[:, first : cuts[k + 1]])
            labels[k] = nodes[root]
        node, column = np.tile(nodes, len(columns)), np.repeat(columns, len(nodes))
        return bsp.ship(c.partition.owner(node), node=node, column=column, label=labels.ravel())

    def learn(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        row = c.partition.position(inbox.shipped("node")) - c.first
        s.component[row, inbox.shipped("column")] = inbox.shipped("label")
        if self.thresholds is None:
            s.component = s.component[:, 0]
