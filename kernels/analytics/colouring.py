"""Greedy colouring by random priorities (Jones and Plassmann 1993)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.tools.rng import uniform


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    draw: NDArray[np.float64]
    colour: NDArray[np.int32] = bsp.per_node(0, np.int32)
    ahead: NDArray[np.int64] = bsp.per_node(0)  # neighbours that choose a colour before the node
    chosen: NDArray[np.int64] = bsp.no_nodes()  # nodes that have just chosen a colour


@dataclass(frozen=True)
class Colouring(bsp.Kernel):
    """Colours from 0 on that differ between neighbours.

    Outputs ``colour``. Nodes draw numbers. When all neighbours with larger ones have a colour, a node takes
    the smallest that none of them has: no larger than the number of its neighbours, so the graph has at most
    one colour more than the largest degree.

    Notes
    -----
    Rounds: at most ``n + 1``; O(log n) are expected where degrees are bounded.

    Messages: at most ``4 * m``: a node sends its number, then its colour, to each neighbour.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("colouring", graph).colour.values
    array([2, 0, 1, 0], dtype=int32)
    """

    name = "colouring"
    outputs = {"colour": bsp.Output("colour, from 0 on")}
    fields = {"draw": np.float64, "taken": np.int32}
    ranges = {"draw": bsp.values(1 << 53), "taken": bsp.nodes}
    refuses = bsp.no_faults(bsp.READS_LATEST)
    by_component = True

    def program(self, net: bsp.Net) -> bsp.Program:
        yield bsp.Round(self.draw, self.wait)
        yield from bsp.until_quiet(self.tell, self.choose)

    def start(self, c: bsp.Cluster) -> State:
        return State.of(c, draw=uniform("counter", self.seed, c.ids, 0))

    def draw(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(draw=s.draw)

    def wait(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        from dgsuite.kernels.analytics import _colouring

        _, theirs = inbox.along("draw")
        s.ahead = _colouring.ahead(c.indptr, c.indices, theirs, c.ids, s.draw)
        s.chosen = np.flatnonzero(s.ahead == 0)

    def tell(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(s.chosen, taken=s.colour[s.chosen] + 1)

    def choose(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        from dgsuite.kernels.analytics import _colouring

        s.chosen = inbox.count_down(s.ahead)
        if len(s.chosen):
            _colouring.smallest(*inbox.latest("taken"), s.chosen, s.colour)
        return bsp.vote(any=len(s.chosen) > 0)
