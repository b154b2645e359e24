"""Local clustering coefficients (Watts and Strogatz 1998), as LDBC Graphalytics defines them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.analytics import triangles
from dgsuite.partition.clusters.cluster import IN, OUT


@dataclass(eq=False)
class State(triangles.State):
    """What the nodes of a cluster know."""

    coefficient: NDArray[np.float64] = bsp.per_node(0.0)
    mutual: NDArray[np.int64] = bsp.later()  # pairs of neighbours with an edge each way


@dataclass(frozen=True)
class ClusteringCoefficient(triangles.Triangles):
    """Local clustering coefficients, as LDBC Graphalytics defines them; of directed graphs, too.

    Outputs ``coefficient``: of the pairs of neighbours of each node, the share that an edge joins; 0 where
    there is no pair. On a directed graph neighbours are those along edges in any direction, and a pair with
    an edge each way counts twice as much as one with an edge one way. Weights do not count.

    Notes
    -----
    Rounds: exactly ``1``.

    Messages: at most ``6 * m``: a node sends its degree, then two lists, to each neighbour.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("lcc", graph).coefficient.round(3).values
    array([1.   , 1.   , 0.333, 0.   ])
    """

    name = "lcc"
    outputs = {"coefficient": bsp.Output("local clustering coefficient")}
    fields = {**triangles.Triangles.fields, "mutual": np.bool_}
    state = State
    both_ways = True

    def more(self, c: bsp.Cluster, entries: NDArray) -> dict[str, NDArray]:
        return {} if c.directions is None else {"mutual": c.directions[entries] == IN | OUT}

    def close(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Share:  # type: ignore[override]
        if c.directions is not None:
            starts, ends, nodes = inbox.shared("neighbour")
            mutual = inbox.shared("mutual").values
            before = np.concatenate([[0], np.cumsum(mutual)])
            lists = bsp.Shared(before[starts], before[ends], nodes[mutual])
            s.mutual = triangles.between(c, s.core, lists)
        return super().close(c, s, inbox)

    def add(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:  # type: ignore[override]
        super().add(c, s, inbox)
        joined = s.triangles + (s.triangles if c.directions is None else s.mutual)  # ordered pairs
        s.coefficient = joined / np.maximum(c.degree * (c.degree.astype(np.int64) - 1), 1)
