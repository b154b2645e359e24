"""Core numbers by peeling (Seidman 1983; Batagelj and Zaversnik 2003), all nodes of a level at once.

Nodes with the fewest live neighbours leave, and then those that have no more than that left. It takes as
many rounds as there are layers to peel, and one a level: some hundreds on a Kronecker graph, half its nodes
on a path.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    core: NDArray[np.int32] = bsp.initial(lambda c: c.degree.astype(np.int32))
    """Live neighbours; of a node that has left, its core number."""
    live: NDArray[np.int64] = bsp.every_node()  # at the end of a level
    due: NDArray[np.int64] = bsp.no_nodes()  # live nodes with the fewest live neighbours


@dataclass(frozen=True)
class CoreNumber(bsp.Kernel):
    """The largest k such that the node is in the k-core.

    The k-core is the largest set of nodes of which each has k neighbours or more in the set.
    Outputs ``core``. Each node sends one message to each neighbour, when it leaves. Weights do
    not count.

    Notes
    -----
    Rounds: at most ``2 * n``: one for each layer that is peeled, and one for each level.

    Messages: exactly ``2 * m``: a node sends once to each neighbour, when it leaves.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("core_number", graph).core.values
    array([2, 2, 2, 1], dtype=int32)
    """

    name = "core_number"
    streams = True
    outputs = {"core": bsp.Output("largest k of whose k-core the node is part")}
    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        least = yield bsp.Round(self.rest, k=-1, opening=True)
        while least.min is not None:
            least = yield bsp.Round(self.peel, k=least.min)

    def peel(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, k: int
    ) -> bsp.Vote | tuple[bsp.Broadcast, bsp.Vote]:
        due = inbox.count_down(s.core, floor=k)
        if not len(due):  # as where a level begins
            due = s.due[s.core[s.due] == k]
        if not len(due):
            return self.rest(c, s, inbox, k)
        s.due = due[:0]
        return bsp.broadcast(due), bsp.vote(min=k)

    def rest(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, k: int) -> bsp.Vote:
        """All nodes up to `k` have left. Of the others, those with the fewest live neighbours are next."""
        s.live = s.live[s.core[s.live] > k]
        left = s.core[s.live]
        least = left.min(initial=c.n)
        s.due = s.live[left == least]
        return bsp.vote(min=least if len(left) else None)
