"""Strongly connected components, in steps that each suit some of them (Slota, Rajamanickam and Madduri 2014).

Trimming: a node that no live edge enters, or that none leaves, is a component, and its edges go. Forwards and
backwards: what the busiest node reaches and what reaches it are its component, mostly the largest one
(Fleischer, Hendrickson and Pinar 2000). Colouring, as long as nodes are left: a node takes for its colour the
first, in a random order, of the nodes that reach it. Those of a colour that reach its node are a component
(Orzan 2004). No component has two colours, so colours are parts of the graph, and the next colours spread
within each part.

By blocks, searches and trimming go on within a cluster to their end. A chain that a search or trimming goes
along then costs a round for each crossing of the border, not for each node.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import analytics, bsp
from dgsuite.kernels.tools import blocks
from dgsuite.kernels.tools.rng import uniform
from dgsuite.partition.arrays.segments import distinct

ANY = np.empty(0, np.int64)
"""No parts: a search goes anywhere."""

Search = tuple[Any, bsp.Vote]
"""What nodes that a search has reached send, and whether it goes on."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    live: bsp.Subset  # nodes whose component is not known
    leaving: NDArray[np.int64] = bsp.no_nodes()  # nodes whose component was just found
    coming: NDArray[np.int32] = bsp.initial(lambda c: c.in_degree.copy())  # edges from live nodes
    going: NDArray[np.int32] = bsp.initial(lambda c: c.degree.copy())  # edges to live nodes
    bare: NDArray[np.int64] = bsp.no_nodes()  # live nodes that no edge enters any more
    component: NDArray[np.int64] = bsp.initial(lambda c: c.ids.copy())
    ahead: bsp.Subset = bsp.node_set(False)  # nodes that a search may reach and has not
    members: NDArray[np.bool_] = bsp.per_node(False)  # nodes that a search backwards has reached
    part: NDArray[np.int64] = bsp.per_node(-1)  # colour of the last time
    colour: NDArray[np.int64] = bsp.initial(lambda c: c.ids.copy())
    number: NDArray[np.float64] = bsp.per_node(0.0)  # of the colour, in the random order


class StrongComponents(bsp.Kernel):
    """Strongly connected components: of two nodes in one, a path leads from each to the other.

    Output ``component``: the smallest node of the component. The number of rounds grows with the longest
    chain that trimming, or a search, goes along. `seed` changes it, but not the output.

    Notes
    -----
    Rounds: some for each node of the longest chain that trimming, or a search, goes along.

    Messages: at most ``rounds * 2 * (arcs + n)``.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=True)
    >>> dgsuite.run("scc", graph).component.values
    array([0, 0, 0, 3])
    """

    name = "scc"
    obeys = bsp.Model("nodes", reduces="data")
    streams = True
    outputs = {"component": bsp.Output("smallest node of the strong component", nodes=True)}
    fields = {"colour": np.int64, "part": np.int64}
    ranges = {"colour": bsp.counts, "part": bsp.counts}  # or none, -1
    bounds = dict.fromkeys(ranges, bsp.between(-1, lambda n: n - 1))
    undirected = False
    pulls = True
    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from self.trimming()
        busiest = yield bsp.Round(self.nominate, opening=True)
        if busiest.max is None:
            return
        pivot = net.n - 1 - busiest.max % net.n
        yield bsp.Round(self.depart, pivot=pivot, opening=True)
        yield from bsp.until_quiet(self.forth)
        yield bsp.Round(self.turn, pivot=pivot, opening=True)
        yield from bsp.until_quiet(self.back)
        least = yield bsp.Round(self.compare, closing=True)
        yield bsp.Round(self.settle, least=least.min, closing=True)
        yield from self.trimming()
        for draw in count():
            left = yield bsp.Round(self.recolour, draw=draw, opening=True)
            if not left.any:
                return
            yield from bsp.until_quiet(self.spread, draw=draw)
            yield bsp.Round(self.divide, opening=True)
            yield from bsp.until_quiet(self.gather)
            yield bsp.Round(self.ask, self.answer, self.hear)
            yield from self.trimming()

    def trimming(self) -> bsp.Program:
        yield from bsp.until_quiet(self.leave, self.lose, self.trim)

    def start(self, c: bsp.Cluster) -> bsp.ClusterState:
        live = (c.in_degree > 0) & (c.degree > 0)
        return self.state.of(c, live=bsp.Subset(live), leaving=np.flatnonzero(~live))

    # Trimming.

    def leave(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(s.leaving)

    def lose(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        s.bare = self.left_without(s, s.coming, inbox)
        return bsp.broadcast(s.leaving, backwards=True)

    def trim(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        s.leaving = distinct(np.append(s.bare, self.left_without(s, s.going, inbox)))
        s.live.remove(s.leaving)
        return bsp.vote(any=len(s.leaving) > 0)

    def left_without(self, s: State, edges: NDArray, inbox: bsp.Inbox) -> NDArray:
        """Live nodes that had edges, and have none once those of the senders are gone."""
        nodes = inbox.count_down(edges)
        return nodes[s.live.mask[nodes]]

    # The component of the busiest node.

    def nominate(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        live = s.live.members
        edges = np.minimum(s.coming[live], s.going[live]).astype(np.int64)
        return bsp.vote(max=edges * c.n + (c.n - 1 - c.ids[live]))

    def depart(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, pivot: int) -> bsp.Sent:
        s.ahead = bsp.Subset(s.live.mask.copy())
        return self.opened(self.onwards(c, s, c.local(pivot)))

    def opened(self, sent: Search) -> bsp.Sent:
        """What a search begins with: no vote, since the next phase follows in any case."""
        return sent[0]

    def forth(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Sent:
        return self.onwards(c, s, inbox.receivers(among=s.ahead))

    def onwards(self, c: bsp.Cluster, s: State, nodes: NDArray) -> Search:
        """Nodes are reached, and tell the nodes to which they have an edge."""
        s.ahead.remove(nodes)
        return bsp.broadcast(nodes), bsp.vote(any=len(nodes) > 0)

    def turn(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, pivot: int) -> bsp.Sent:
        s.ahead = bsp.Subset(s.live.mask & ~s.ahead.mask)
        return self.opened(self.join(c, s, c.local(pivot)))

    def back(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Sent:
        return self.join(c, s, inbox.receivers(among=s.ahead))

    def join(self, c: bsp.Cluster, s: State, nodes: NDArray, part: NDArray = ANY) -> Search:
        """Nodes become members, and tell the nodes with an edge to them, in their part of some."""
        s.ahead.remove(nodes)
        s.members[nodes] = True
        told = {} if part is ANY else {"part": part[nodes]}
        return bsp.broadcast(nodes, backwards=True, **told), bsp.vote(any=len(nodes) > 0)

    def compare(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        return bsp.vote(min=c.ids[s.members])

    def settle(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, least: int) -> None:
        s.component[s.members] = least
        self.release(s)

    def release(self, s: State) -> None:
        """The components of members are known."""
        s.leaving = np.flatnonzero(s.members)
        s.live.remove(s.leaving)
        s.members[s.leaving] = False

    # Colouring.

    def recolour(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, draw: int) -> bsp.Sent:
        live = s.live.members
        s.colour[live] = c.ids[live]
        s.number[live] = uniform("counter", self.seed, c.ids[live], draw)
        return self.show(c, s, live)[0], bsp.vote(any=len(live) > 0)

    def show(self, c: bsp.Cluster, s: State, nodes: NDArray) -> Search:
        sent = bsp.broadcast(nodes, colour=s.colour[nodes], part=s.part[nodes])
        return sent, bsp.vote(any=len(nodes) > 0)

    def spread(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, draw: int) -> bsp.Sent:
        return self.show(c, s, self.taken(s, inbox, draw))

    def taken(self, s: State, inbox: bsp.Inbox, draw: int) -> NDArray:
        """Live nodes that get an earlier colour from their part; they take it."""
        node, colour = inbox.node, inbox["colour"]
        here = s.live.mask[node] & (inbox["part"] == s.part[node])
        node, colour = node[here], colour[here]
        number = uniform("counter", self.seed, colour, draw)
        equal = number == s.number[node]
        earlier = (number < s.number[node]) | (equal & (colour < s.colour[node]))
        node, colour, number = node[earlier], colour[earlier], number[earlier]
        order = np.lexsort((colour, number, node))
        nodes, first = np.unique(node[order], return_index=True)
        s.colour[nodes], s.number[nodes] = colour[order][first], number[order][first]
        return nodes

    def divide(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Sent:
        live = s.live.members
        s.part[live] = s.colour[live]
        s.ahead = bsp.Subset(s.live.mask.copy())
        return self.opened(self.join(c, s, live[s.part[live] == c.ids[live]], s.part))

    def gather(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Sent:
        node = inbox.node
        nodes = distinct(node[s.ahead.mask[node] & (inbox["part"] == s.part[node])])
        return self.join(c, s, nodes, s.part)

    def ask(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        nodes = np.flatnonzero(s.members)
        nodes = nodes[s.part[nodes] != c.ids[nodes]]
        return bsp.unicast(s.part[nodes], nodes, colour=c.ids[nodes])

    def answer(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        roots, least = inbox.min("colour")
        s.component[roots] = np.minimum(c.ids[roots], least)
        return bsp.unicast(inbox.src, inbox.node, colour=s.component[inbox.node])

    def hear(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        s.component[inbox.node] = inbox["colour"]
        self.release(s)


@dataclass(eq=False)
class BlockState(State):
    """What the nodes of a cluster know."""

    seen: NDArray[np.bool_] = bsp.per_node(False)  # scratch of searches


class BlockStrongComponents(StrongComponents):
    """Strongly connected components, within each cluster first; see `StrongComponents` for the output.

    Notes
    -----
    Rounds: some for each time that a chain, which trimming or a search goes along, crosses the border.

    Messages: at most ``rounds * 2 * (arcs + n)``.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=True)
    >>> dgsuite.run("scc", graph, form="block").component.values
    array([0, 0, 0, 3])
    """

    obeys = bsp.Model("nodes", None, "data")
    form = "block"
    state = BlockState
    fields = {"colour": np.int64, "part": np.int64, "backwards": np.bool_}

    def trimming(self) -> bsp.Program:
        yield from bsp.until_quiet(self.peel)

    # Within the cluster.

    def peel(self, c: bsp.Cluster, s: BlockState, inbox: bsp.Inbox) -> bsp.Sent:
        """Nodes leave; then those that no live edge enters, or that none leaves."""
        left = analytics._strong.trim(
            *(c.indptr, c.positions, c.senders[0], c.sender_positions, c.first),
            *(s.coming, s.going, s.live.mask),
            *(s.leaving, inbox.node, inbox["backwards"], s.seen),
        )
        s.live.remove(left)
        s.leaving = left[:0]
        out, _, to = blocks.crossing(c, left)
        into, _, origin = blocks.crossing(c, left, backwards=True)
        ends, nodes = np.append(to, origin), np.append(out, into)
        backwards = np.arange(len(ends)) >= len(to)
        return bsp.unicast(ends, nodes, backwards=backwards), bsp.vote(any=len(ends) > 0)

    def reached(self, s: BlockState, rows: tuple, nodes: NDArray, part: NDArray) -> NDArray:
        """Nodes that a search from some nodes reaches in the cluster; they are no longer ahead."""
        found = analytics._strong.reach(*rows, s.ahead.mask, part, nodes, s.seen)
        s.ahead.remove(found)
        return found

    def opened(self, sent: Search) -> bsp.Sent:
        return sent

    def onwards(self, c: bsp.Cluster, s: BlockState, nodes: NDArray) -> Search:
        return blocks.tell(c, self.reached(s, (c.indptr, c.positions, c.first), nodes, ANY))

    def join(self, c: bsp.Cluster, s: BlockState, nodes: NDArray, part: NDArray = ANY) -> Search:
        """Nodes and those that reach them within their part become members, and tell across the border."""
        found = self.reached(s, (c.senders[0], c.sender_positions, c.first), nodes, part)
        s.members[found] = True
        return blocks.tell(c, found, backwards=True, part=s.part)

    def show(self, c: bsp.Cluster, s: BlockState, nodes: NDArray) -> Search:
        """Colours of some nodes spread within the cluster, and are told across the border."""
        seeds = nodes[np.lexsort((s.colour[nodes], s.number[nodes]))]
        found = analytics._strong.colour(
            *(c.indptr, c.positions, c.first, s.live.mask, s.part, s.number, s.colour),
            *(seeds, s.seen),
        )
        return blocks.tell(c, found, colour=s.colour, part=s.part)
