"""Greedy colouring, and maximal matching.

Greedy colouring by random priorities (Jones and Plassmann 1993).

Maximal matching by random numbers of edges: edges that are the best of both their ends match (Preis 1999;
Hoepman 2004, "Simple distributed weighted matchings").

Every node chooses its best edge. An edge that both its ends choose is in the matching, and both leave: the
best edge of all is always one of these. Then nodes whose choice has left choose again. With a random order of
edges that takes O(log n) rounds (Fischer and Noever 2018, "Tight analysis of parallel randomized greedy
MIS"). Here the number of an edge is the sum, modulo 1, of two that its ends draw. Such numbers are
independent for any two edges, but not on a cycle, so that the bound is not proved for them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import analytics, bsp
from dgsuite.kernels.tools.rng import uniform


@dataclass(eq=False)
class ColourState(bsp.ClusterState):
    """What the nodes of a cluster know."""

    draw: NDArray[np.float64]
    colour: NDArray[np.int32] = bsp.per_node(0, np.int32)
    ahead: NDArray[np.int64] = bsp.per_node(0)  # neighbours that choose a colour before the node
    chosen: NDArray[np.int64] = bsp.no_nodes()  # nodes that have just chosen a colour


class Colouring(bsp.Kernel):
    """Colours from 0 on that differ between neighbours.

    Outputs ``colour``. Nodes draw numbers. When all neighbours with larger ones have a colour, a node takes
    the smallest that none of them has: no larger than the number of its neighbours, so the graph has at most
    one colour more than the largest degree.

    Notes
    -----
    Rounds: at most ``n + 1``; O(log n) are expected where degrees are bounded.

    Exchanges: at most ``rounds``.

    Messages: at most ``4 * m``: a node sends its number, then its colour, to each neighbour.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("colouring", graph).colour.values
    array([2, 0, 1, 0], dtype=int32)
    """

    name = "colouring"
    obeys = bsp.Model("edges", reduces="control")
    outputs = {"colour": bsp.Output("colour, from 0 on")}
    fields = {"draw": np.float64, "taken": np.int32}
    ranges = {"draw": bsp.values(1 << 53), "taken": bsp.counts}
    refuses = bsp.no_faults(bsp.READS_LATEST)
    by_component = True

    def program(self, net: bsp.Net) -> bsp.Program:
        yield bsp.Round(self.draw, self.wait)
        yield from bsp.until_quiet(self.tell, self.choose)

    def start(self, c: bsp.Cluster) -> ColourState:
        return ColourState.of(c, draw=uniform("counter", self.seed, c.ids, 0))

    def draw(self, c: bsp.Cluster, s: ColourState, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(draw=s.draw)

    def wait(self, c: bsp.Cluster, s: ColourState, inbox: bsp.Inbox) -> None:
        _, theirs = inbox.along("draw")
        s.ahead = analytics._greedy.ahead(c.indptr, c.indices, theirs, c.ids, s.draw)
        s.chosen = np.flatnonzero(s.ahead == 0)

    def tell(self, c: bsp.Cluster, s: ColourState, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(s.chosen, taken=s.colour[s.chosen] + 1)

    def choose(self, c: bsp.Cluster, s: ColourState, inbox: bsp.Inbox) -> bsp.Vote:
        s.chosen = inbox.count_down(s.ahead)
        if len(s.chosen):
            analytics._greedy.smallest(*inbox.latest("taken"), s.chosen, s.colour)
        return bsp.vote(any=len(s.chosen) > 0)


@dataclass(eq=False)
class MatchingState(bsp.ClusterState):
    """What the nodes of a cluster know."""

    number: NDArray[np.float64]  # drawn
    mate: bsp.NodeIds = bsp.per_node(-1, bsp.NODE)
    entry: NDArray[np.int64] = bsp.per_node(-1)  # choice, as an entry of the adjacency
    live: bsp.Subset = bsp.initial(lambda c: bsp.Subset(c.degree > 0))


class Matching(bsp.Kernel):
    """Edges that share no end, so many that no other can be added.

    Outputs ``mate``, the other end of the node's edge; -1 where it has none. Weights do not count.

    Notes
    -----
    Rounds: at most ``n / 2 + 1``; 9 or fewer in trials of graphs with up to 2^18 nodes.

    Exchanges: at most ``2 * rounds + 2``.

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
    obeys = bsp.Model("edges", reduces="control")
    streams = True
    outputs = {
        "mate": bsp.Output("the other end of the edge in the matching, {none} alone", nodes=True)
    }
    fields = {"number": np.float64}
    ranges = {"number": bsp.values(1 << 53)}
    refuses = bsp.no_faults(bsp.READS_LATEST)
    by_component = True

    def program(self, net: bsp.Net) -> bsp.Program:
        draw = bsp.Round(self.draw, self.choose, opening=True)
        yield from bsp.until_quiet(self.propose, self.accept, self.choose, after=draw)

    def start(self, c: bsp.Cluster) -> MatchingState:
        return MatchingState.of(c, number=uniform("counter", self.seed, c.ids, 0))

    def draw(self, c: bsp.Cluster, s: MatchingState, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(number=s.number)

    def choose(self, c: bsp.Cluster, s: MatchingState, inbox: bsp.Inbox) -> bsp.Vote:
        nodes = inbox.receivers(among=s.live)
        if len(nodes):
            drawn = inbox.latest("number")
            analytics._greedy.choose(*drawn, c.indices, c.ids, s.number, nodes, s.entry)
            s.live.remove(nodes[s.entry[nodes] < 0])
        return bsp.vote(any=s.live.count > 0)

    def propose(self, c: bsp.Cluster, s: MatchingState, inbox: bsp.Inbox) -> bsp.Unicast:
        live = s.live.members
        return bsp.unicast(c.indices[s.entry[live]].astype(np.int64), live)

    def accept(self, c: bsp.Cluster, s: MatchingState, inbox: bsp.Inbox) -> bsp.Broadcast:
        node, source = inbox.node, inbox.src
        both = source == c.indices[s.entry[node]]
        matched = node[both]
        s.mate[matched] = source[both]
        s.live.remove(matched)
        return bsp.broadcast(matched, number=-1.0)
