"""Maximal matching by random numbers of edges (after Israeli and Itai 1986; Preis 1999).

Every node chooses its best edge. An edge that both its ends choose is in the matching, and both leave: the
best edge of all is always one of these. Then nodes whose choice has left choose again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.tools.rng import uniform


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    number: NDArray[np.float64]  # drawn
    mate: bsp.NodeIds = bsp.per_node(-1, bsp.NODE)
    entry: NDArray[np.int64] = bsp.per_node(-1)  # choice, as an entry of the adjacency
    live: bsp.Subset = bsp.initial(lambda c: bsp.Subset(c.degree > 0))


@dataclass(frozen=True)
class Matching(bsp.Kernel):
    """Edges that share no end, so many that no other can be added.

    Outputs ``mate``, the other end of the node's edge; -1 where it has none. Weights do not count.

    Notes
    -----
    Rounds: at most ``n / 2 + 1``; O(log n) are expected.

    Messages: at most ``rounds * n + 4 * m``: a node proposes once in a round, and sends a number at the
    start and when it leaves.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> dgsuite.run("matching", graph).mate.values
    array([1, 0, 3, 2], dtype=int32)
    """

    name = "matching"
    streams = True
    outputs = {
        "mate": bsp.Output("the other end of the edge in the matching, {none} alone", nodes=True)
    }
    fields = {"number": np.float64}
    ranges = {"number": bsp.values(1 << 53)}
    refuses = bsp.no_faults(bsp.READS_LATEST)
    by_component = True

    def program(self, net: bsp.Net) -> bsp.Program:
        live = yield bsp.Round(self.draw, self.choose, opening=True)
        if live.any:
            yield from bsp.until_quiet(self.propose, self.accept, self.choose)

    def start(self, c: bsp.Cluster) -> State:
        return State.of(c, number=uniform("counter", self.seed, c.ids, 0))

    def draw(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(number=s.number)

    def choose(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        from dgsuite.kernels.analytics import _matching

        nodes = inbox.receivers(among=s.live)
        if len(nodes):
            drawn = inbox.latest("number")
            _matching.choose(*drawn, c.indices, c.ids, s.number, nodes, s.entry)
            s.live.remove(nodes[s.entry[nodes] < 0])
        return bsp.vote(any=s.live.count > 0)

    def propose(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        live = s.live.members
        return bsp.unicast(c.indices[s.entry[live]].astype(np.int64), live)

    def accept(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        node, source = inbox.node, inbox.src
        both = source == c.indices[s.entry[node]]
        matched = node[both]
        s.mate[matched] = source[both]
        s.live.remove(matched)
        return bsp.broadcast(matched, number=-1.0)
