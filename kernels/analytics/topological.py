"""Generations of a directed acyclic graph by Kahn's algorithm (CACM 5, 1962), all nodes of one at once.

A node without edges that come in leaves, and its edges with it. Nodes that never lose all theirs are on
cycles or behind one: from the smallest, a token goes back from node to node until it comes to one that has
had it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    left: NDArray[np.int32] = bsp.initial(lambda c: np.diff(c.senders[0]).astype(np.int32))
    """Edges that come in from nodes that have not left."""
    generation: NDArray[np.int32] = bsp.per_node(-1, np.int32)
    before: NDArray[np.int64] = bsp.per_node(
        -1
    )  # smallest node that has not left and has an edge to it
    cycle: NDArray[np.int32] = bsp.per_node(-1, np.int32)  # place; at first steps of the token


@dataclass(frozen=True)
class Topological(bsp.Kernel):
    """Generations of a directed acyclic graph, or a cycle.

    Outputs ``generation``, the edges of the longest path that leads to the node, and ``cycle``. Where the
    graph has cycles, the nodes on these, and those that they lead to, have the generation -1, and ``cycle``
    numbers the nodes of one cycle in its order, from 0; it is -1 elsewhere. An undirected edge goes both
    ways, and so is a cycle.

    Notes
    -----
    Rounds: at most ``2 * n + 1``: one for each generation, and where there is a cycle one for each step back.

    Messages: at most ``arcs + n``: a node sends once along each edge, and a token once.

    Examples
    --------
    >>> import dgsuite
    >>> edges = {"u": [0, 0, 1, 2], "v": [1, 2, 2, 3]}
    >>> graph = dgsuite.Graph.from_edges(edges["u"], edges["v"], directed=True)
    >>> dgsuite.run("topological", graph).generation.values
    array([0, 1, 2, 3], dtype=int32)
    >>> graph = dgsuite.Graph.from_edges([0, 1, 3, 2, 3], [1, 3, 2, 1, 4], directed=True)
    >>> ds = dgsuite.run("topological", graph)
    >>> ds.generation.values, ds.cycle.values
    (array([ 0, -1, -1, -1, -1], dtype=int32), array([-1,  2,  1,  0, -1], dtype=int32))
    """

    name = "topological"
    streams = True
    outputs = {
        "generation": bsp.Output("longest path to the node, -1 on and behind cycles"),
        "cycle": bsp.Output("place in a cycle, -1 elsewhere"),
    }
    state = State
    undirected = False
    pulls = True
    prepares = ("first",)

    def program(self, net: bsp.Net) -> bsp.Program:
        generation = 0
        more = yield bsp.Round(self.begin)
        while more.any:
            generation += 1
            more = yield bsp.Round(self.leave, generation=generation)
        left = yield bsp.Round(self.remain, self.look, closing=True)
        if left.min is None:
            return
        step, again = 0, None
        while again is None:
            again = (yield bsp.Round(self.go_back, step=step, start=left.min)).min
            step += 1
        yield bsp.Round(self.number, first=again, last=step - 2, closing=True)

    def begin(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> tuple[bsp.Broadcast, bsp.Vote]:
        return self._leave(c, s, np.flatnonzero(s.left == 0), 0)

    def leave(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, generation: int
    ) -> tuple[bsp.Broadcast, bsp.Vote]:
        return self._leave(c, s, inbox.count_down(s.left), generation)

    def _leave(
        self, c: bsp.Cluster, s: State, due: NDArray[np.int64], generation: int
    ) -> tuple[bsp.Broadcast, bsp.Vote]:
        s.generation[due] = generation
        return bsp.broadcast(due), bsp.vote(any=c.degree[due] > 0)

    def remain(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(np.flatnonzero(s.left > 0))

    def look(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        live = bsp.Subset(s.left > 0)
        nodes, before, _ = inbox.first(among=live)
        s.before[nodes] = before
        return bsp.vote(min=c.ids[live.members])

    def go_back(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, step: int, start: int
    ) -> bsp.Vote | tuple[bsp.Unicast, bsp.Vote]:
        """The token goes on; a node that has had it votes when that was."""
        at = inbox.receivers() if step else c.local(start)
        if len(had := s.cycle[at][s.cycle[at] >= 0]):
            return bsp.vote(min=had)
        s.cycle[at] = step
        return bsp.unicast(s.before[at], at), bsp.vote(min=None)

    def number(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, first: int, last: int) -> None:
        """Steps since the first node of the cycle, counted from its end."""
        s.cycle = np.where(s.cycle >= first, last - s.cycle, -1).astype(np.int32)
