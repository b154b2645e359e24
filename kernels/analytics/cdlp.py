"""Communities by label propagation (Raghavan, Albert and Kumara 2007), as LDBC Graphalytics defines it.

The original visits nodes one by one and breaks ties at random. Here all nodes take a step at the same time
and the smallest label wins, so that there is one right answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import analytics, bsp
from dgsuite.kernels.analytics.extremes import Scaled, amounts, negative
from dgsuite.partition.arrays.segments import lent
from dgsuite.partition.clusters.cluster import IN, OUT
from dgsuite.partition.graph.graph import Graph


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    label: bsp.NodeIds  # -1 for none
    fresh: NDArray[np.int64] = bsp.every_node()  # nodes with a new label
    fixed: NDArray[np.bool_] | None = None  # nodes that keep their label, if any are to
    weight: NDArray | None = None  # of each entry, where more than the number counts


@dataclass(frozen=True)
class LabelPropagation(Scaled):
    """Communities by label propagation, as LDBC Graphalytics defines it.

    Every node begins with its own id as its label. In each step all nodes at once take the label
    that is most frequent among their neighbours, of several the smallest. On a directed graph neighbours are
    those along edges in any direction, and one with an edge each way counts twice.

    Outputs ``label``. Nodes without neighbours keep their own. Only nodes whose label has changed send it,
    and only their neighbours look again; when none has changed, no further step would change any.

    Parameters
    ----------
    iterations
        Number of steps at most, from 1 on.
    weighted
        Take the label with the greatest sum of weights, which must not be negative. An edge of weight 0 does
        not count. Each weight is rounded to a multiple of the 2^-52nd part of their sum, so that sums are
        exact. By default all edges are alike, as in Graphalytics.
    labels
        Labels to begin with, each the name of a node: a mapping from nodes, of which others have no label
        at first; or an array with one for each node, -1 or no node for none, such as the labels of another
        run. A node without a label does not count, and gets one as soon as a neighbour has one.
    fixed
        Nodes whose labels stay, such as those whose class is known.

    Notes
    -----
    Rounds: at most ``iterations``; fewer if labels stop changing.

    Exchanges: at most ``rounds``.

    Messages: at most ``rounds * 2 * m``: nodes whose label has changed send it to all neighbours.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
    >>> dgsuite.run("cdlp", graph).label.values
    array([0, 0, 0, 2, 2, 2], dtype=int32)

    Two nodes are known to be of different kinds, and the others become what they are next to:

    >>> dgsuite.run("cdlp", graph, labels={1: 1, 5: 5}, fixed=[1, 5]).label.values
    array([1, 1, 1, 5, 5, 5], dtype=int32)
    """

    iterations: int = 10
    weighted: bool = False
    labels: Mapping[bsp.Node, bsp.Node] | Sequence[bsp.NodeOrNone] | None = None
    fixed: Sequence[bsp.Node] | None = None

    name = "cdlp"
    obeys = bsp.Model("edges", reduces="data")
    streams = True
    outputs = {"label": bsp.Output("label of the community", nodes=True)}
    fields = {"label": bsp.NODE}
    ranges = {"label": bsp.counts}  # or none, -1
    bounds = {"label": bsp.between(-1, lambda n: n - 1)}
    refuses = bsp.no_faults(bsp.READS_LATEST)
    both_ways = True
    allowed = {"iterations": (1, np.inf)}

    def suited(self, graph: Graph) -> Self:
        """Without weights where the graph has none."""
        return replace(self, weighted=self.weighted and graph.weighted)

    def check(self, c: bsp.Cluster) -> str | None:
        given = self.labels
        if given is not None and not isinstance(given, Mapping) and len(given) != c.n:
            return f"labels must have one for each of {c.n} nodes, got {len(given)}"
        wrong = negative(c.weights) or negative(c.weights_in) if self.weighted else None
        return super().check(c) or wrong

    def program(self, net: bsp.Net) -> bsp.Program:
        if self.weighted:
            yield from self.scaled(weighted=True)
        for _ in range(self.iterations):
            reply = yield bsp.Round(self.spread, self.adopt)
            if not reply.any:
                return

    def start(self, c: bsp.Cluster) -> State:
        state = State.of(c, label=self.first(c).astype(bsp.node_dtype(c)))
        if self.fixed is not None:
            state.fixed = np.isin(c.ids, self.fixed)
        if self.weighted:
            state.weight = self.weights(c)
        elif c.directions is not None:  # an edge each way counts twice
            state.weight = (1 + (c.directions == IN | OUT)).astype(np.uint8)
        return state

    def first(self, c: bsp.Cluster) -> NDArray:
        """Labels to begin with."""
        if self.labels is None:
            return c.ids
        if not isinstance(self.labels, Mapping):
            return np.asarray(self.labels)[c.ids]
        label = np.full(c.n, -1)
        label[[*self.labels]] = [*self.labels.values()]
        return label[c.ids]

    def weights(self, c: bsp.Cluster) -> NDArray[np.float64]:
        """Of each entry; on a directed graph in two rows: edges that leave, and those that come in."""
        there = amounts(c.weights if self.weighted else None, len(c.indices))
        if c.directions is None:
            return there
        back = amounts(c.weights_in if self.weighted else None, len(c.indices))
        return np.stack([there * (c.directions & OUT > 0), back * (c.directions & IN > 0)])

    def spread(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(s.fresh, label=s.label[s.fresh])

    def adopt(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        rows = inbox.receivers()
        if s.fixed is not None:
            rows = rows[~s.fixed[rows]]
        s.fresh = np.empty(len(rows), np.int64)
        if len(rows):
            weights = lent(np.empty(0, np.uint8)) if s.weight is None else s.weight
            weights = s.weight = weights.sum(axis=0) if weights.ndim == 2 else weights
            how = weights, rows, np.zeros(c.n, np.int32 if weights.itemsize == 1 else np.float64)
            count = analytics._cdlp.adopt(*inbox.latest("label"), *how, s.label, s.fresh)
            s.fresh = s.fresh[:count]
        return bsp.vote(any=len(s.fresh) > 0)
