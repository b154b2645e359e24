"""Core numbers by blocks: each cluster lowers its own nodes to the end, and sends what crosses its border.

A node's core number is the largest k such that k of its neighbours have k or more. Starting from degrees,
nodes take that as their new value until none falls (Montresor, De Pellegrini and Miorandi 2013). In whatever
order they do, the same values are left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.core_number import CoreNumber
from dgsuite.kernels.tools import blocks

NOT_HEARD = np.iinfo(np.int32).max
"""What a node holds of a neighbour that has sent nothing yet."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    core: NDArray[np.int32] = bsp.initial(lambda c: c.degree.astype(np.int32))
    """What a node's core number is at most."""
    heard: NDArray[np.int32] = bsp.initial(lambda c: np.full(len(c.indices), NOT_HEARD, np.int32))
    """By entry: that of a neighbour in another cluster."""
    support: NDArray[np.int32] = bsp.per_node(0, np.int32)  # neighbours with no less than the node
    due: NDArray[np.bool_] = bsp.per_node(False)  # nodes with too few of them


@dataclass(frozen=True)
class BlockCoreNumber(bsp.Kernel):
    """The largest k such that the node is in the k-core; see `CoreNumber`.

    Notes
    -----
    Rounds: one more than the times that a change crosses the border.

    Messages: at most ``rounds * 2 * m``.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("core_number", graph, form="block").core.values
    array([2, 2, 2, 1], dtype=int32)
    """

    name = "core_number"
    form = "block"
    outputs = CoreNumber.outputs
    fields = {"core": np.int32}
    along_edges = True
    state = State

    def extra_bytes(self, n: int, nodes: int, entries: int) -> int:
        return 4 * entries  # what each neighbour said

    def program(self, net: bsp.Net) -> bsp.Program:
        reply = yield bsp.Round(self.begin)
        if reply.any:
            yield from bsp.until_quiet(self.fall)

    def begin(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> tuple[bsp.Unicast, bsp.Vote]:
        from dgsuite.kernels.analytics import _cores

        _cores.count(c.indptr, c.positions, c.first, s.core, s.support)
        self.lower(c, s, np.flatnonzero(s.support < s.core))
        return self.tell(c, s, np.flatnonzero(c.remote_degree))

    def fall(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> tuple[bsp.Unicast, bsp.Vote]:
        from dgsuite.kernels.analytics import _cores

        entry, short = c.entries(inbox.node, inbox.src), np.empty(c.size, np.int64)
        news = inbox.node, entry, inbox["core"]
        count = _cores.hear(*news, s.heard, s.core, s.support, s.due, short)
        return self.tell(c, s, self.lower(c, s, short[:count]))

    def lower(self, c: bsp.Cluster, s: State, short: NDArray) -> NDArray[np.int64]:
        """Lower nodes that have too few neighbours, and others as they lose theirs; returns all of them."""
        from dgsuite.kernels.analytics import _cores

        fallen = np.empty(c.size, np.int64)
        rows = c.indptr, c.positions, c.first
        count = _cores.lower(*rows, s.heard, s.core, s.support, s.due, short, fallen)
        return fallen[:count]

    def tell(self, c: bsp.Cluster, s: State, nodes: NDArray) -> tuple[bsp.Unicast, bsp.Vote]:
        nodes, _, ends = blocks.crossing(c, nodes)
        return bsp.unicast(ends, nodes, core=s.core[nodes]), bsp.vote(any=len(ends) > 0)
