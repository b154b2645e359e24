"""Components in which no source has two records: the best links first, as constrained single linkage.

Edges are taken by falling weight, and one that would join two records of a source is passed over (Kruskal
1956; Davidson and Ravi 2005). Within a component of all edges that count one decision depends on those before
it, and components do not depend on each other. So the edges of each go to the cluster of its smallest node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dgsuite.base.errors import InputError
from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.wcc import Components
from dgsuite.kernels.analytics.wcc_nested import NestedComponents, State
from dgsuite.partition.labels.columns import numpy_column

if TYPE_CHECKING:
    from dgsuite.partition.graph.graph import Graph


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

    fields = {
        **NestedComponents.fields,
        **dict.fromkeys(("one", "other", "level", "node", "column"), np.int64),
        "weight": np.float64,
    }
    both_ways = False
    ships = True

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
        column = int(np.argmin(self.levels))
        yield bsp.Round(self.bring, self.link, self.learn, column=column)

    def bring(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, column: int) -> bsp.Shipment:
        """Each edge that counts, once, to the cluster of its component."""
        assert c.weights is not None
        row = np.repeat(np.arange(c.size), c.degree)
        entry = np.flatnonzero((c.ids[row] < c.indices) & (s.missed < len(self.levels)))
        row = row[entry]
        return bsp.ship(
            c.partition.owner(s.component[row, column]),
            one=c.ids[row],
            other=c.indices[entry],
            level=s.missed[entry],
            weight=c.weights[entry],
        )

    def link(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Shipment:
        """Join by the best links, and tell nodes their components at each threshold."""
        from dgsuite.kernels.tools import _unions

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
            _unions.join_apart(root, after, source, *ends[:, first : cuts[k + 1]])
            labels[k] = nodes[root]
        told = np.tile(nodes, len(columns))
        return bsp.ship(
            c.partition.owner(told),
            node=told,
            column=np.repeat(columns, len(nodes)),
            label=labels.ravel(),
        )

    def learn(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        row = c.partition.position(inbox.shipped("node")) - c.first
        s.component[row, inbox.shipped("column")] = inbox.shipped("label")


@dataclass(frozen=True)
class SingleComponents(SingleNested):
    """The same of all edges, without thresholds."""

    thresholds: Sequence[float] | None = None
    outputs = Components.outputs

    def learn(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        super().learn(c, s, inbox)
        s.component = s.component[:, 0]
