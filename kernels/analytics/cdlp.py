"""Communities by label propagation (Raghavan, Albert and Kumara 2007), as LDBC Graphalytics defines it.

The original visits nodes one by one and breaks ties at random. Here all nodes take a step at the same time
and the smallest label wins, so that there is one right answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    label: NDArray[np.int32] = bsp.initial(lambda c: c.ids.astype(np.int32))
    fresh: NDArray[np.int64] = bsp.initial(lambda c: np.arange(c.size))  # nodes with a new label


@dataclass(frozen=True)
class LabelPropagation(bsp.Kernel):
    """Communities by label propagation, as LDBC Graphalytics defines it.

    Every node begins with its own id as its label. In each step all nodes at once take the label that
    is most frequent among their neighbours, of several the smallest. On a directed graph neighbours are
    those along edges in any direction, and one with an edge each way counts twice.

    Outputs ``label``. Nodes without neighbours keep their own. Only nodes whose label has changed send it,
    and only their neighbours look again; when none has changed, no further step would change any.
    Weights do not count.

    Parameters
    ----------
    iterations
        Number of steps at most, from 1 on.

    Notes
    -----
    Rounds: at most ``iterations``; fewer if labels stop changing.

    Messages: at most ``rounds * 2 * m``: nodes whose label has changed send it to all neighbours.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
    >>> dgsuite.run("cdlp", graph).label.values
    array([0, 0, 0, 2, 2, 2], dtype=int32)
    """

    iterations: int = 10

    name = "cdlp"
    outputs = {"label": bsp.Output("label of the community", nodes=True)}
    fields = {"label": np.int32}
    state = State
    both_ways = True

    def check(self, c: bsp.Cluster) -> str | None:
        if self.iterations < 1:
            return f"iterations must be at least 1, got {self.iterations}"
        return None

    def program(self, net: bsp.Net) -> bsp.Program:
        for _ in range(self.iterations):
            reply = yield bsp.Round(self.spread, self.adopt)
            if not reply.any:
                return

    def spread(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(s.fresh, label=s.label[s.fresh])

    def adopt(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        from dgsuite.kernels.analytics import _cdlp

        rows = inbox.receivers()
        s.fresh = np.empty(len(rows), np.int64)
        if len(rows):
            counts = np.zeros(c.n, np.int32)
            ways = np.empty(0, np.uint8) if c.directions is None else c.directions
            labels = inbox.latest("label")
            count = _cdlp.adopt(*labels, ways, rows, counts, s.label, s.fresh)
            s.fresh = s.fresh[:count]
        return bsp.vote(any=len(s.fresh) > 0)
