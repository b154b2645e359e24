"""Orders of nodes along edges: two colours, and generations.

Two colours by levels of a breadth-first search (Kleinberg and Tardos 2006, Algorithm Design, section 3.4).

The smallest node of each component is the root of a search: nodes hand on the smallest identifier that they
have heard, so that of the root arrives along the shortest paths. An edge within a level closes an odd cycle;
from its ends two tokens go up level by level until they meet.

Generations of a directed acyclic graph by Kahn's algorithm (CACM 5, 1962), all nodes of one at once.

A node without edges that come in leaves, and its edges with it. Nodes that never lose all theirs are on
cycles or behind one: from the smallest, a token goes back from node to node until it comes to one that has
had it. By blocks, nodes of a cluster leave as long as some can, and say across the border in which
generation they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import analytics, bsp
from dgsuite.kernels.tools import blocks

FOLLOWS = "nodes send along paths that earlier messages have found"


@dataclass(eq=False)
class ColourState(bsp.ClusterState):
    """What the nodes of a cluster know."""

    root: NDArray[np.int64] = bsp.initial(lambda c: c.ids.copy())  # smallest node heard of
    level: NDArray[np.int32] = bsp.per_node(0, np.int32)  # hops from there
    parent: NDArray[np.int64] = bsp.per_node(-1)  # smallest neighbour a level above
    beside: NDArray[np.int64] = bsp.per_node(-1)  # smallest neighbour in the same level
    colour: NDArray[np.int8] = bsp.per_node(-1, np.int8)
    cycle: NDArray[np.int32] = bsp.per_node(-1, np.int32)


class Bipartite(bsp.Kernel):
    """Two colours of each component's nodes so that no edge joins equals, or an odd cycle.

    Outputs ``colour`` and ``cycle``. The smallest node of a component has the colour 0; in a component with
    an odd cycle, which has no such colours, all are -1. If there is one, ``cycle`` numbers the nodes of an
    odd cycle in its order, from 0; it is -1 elsewhere. Edges have no direction here.

    Notes
    -----
    Rounds: at most ``2 * n + 3``: one for each level; and where there is an odd cycle one for each step back.

    Exchanges: at most ``rounds``.

    Messages: at most ``(rounds + 1) * 2 * m + 3 * n + 2``.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> dgsuite.run("bipartite", graph).colour.values
    array([0, 1, 0, 1], dtype=int8)
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2, 4], [1, 2, 0, 3, 5])
    >>> ds = dgsuite.run("bipartite", graph)
    >>> ds.colour.values, ds.cycle.values
    (array([-1, -1, -1, -1,  0,  1], dtype=int8), array([ 1,  0,  2, -1, -1, -1], dtype=int32))
    """

    name = "bipartite"
    obeys = bsp.Model("nodes", reduces="data")
    refuses = bsp.no_faults(FOLLOWS)
    outputs = {
        "colour": bsp.Output("colour, 0 or 1, and -1 where two do not do"),
        "cycle": bsp.Output("place in an odd cycle, -1 elsewhere"),
    }
    fields = {"root": np.int64, "level": np.int32, "odd": np.int8, "side": np.int8}
    ranges = {"root": bsp.nodes, "level": bsp.nodes, "odd": bsp.values(2), "side": bsp.values(2)}
    state = ColourState
    both_ways = True

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from bsp.until_quiet(self.spread)
        odd = yield bsp.Round(self.tell, self.compare, closing=True)
        if odd.min is None:
            return
        yield bsp.Round(self.report, self.judge, self.obey)
        yield bsp.Round(self.begin, start=odd.min)
        steps, top = 0, None
        while top is None:
            top = (yield bsp.Round(self.go_up, steps=steps)).min
            steps += 1
        yield bsp.Round(self.number, top=top, closing=True)

    def spread(self, c: bsp.Cluster, s: ColourState, inbox: bsp.Inbox) -> bsp.Sent:
        nodes = np.flatnonzero(c.degree)
        if inbox.round:
            nodes, root = inbox.min("root")
            less = root < s.root[nodes]
            nodes = nodes[less]
            s.root[nodes], s.level[nodes] = root[less], inbox.round
        return bsp.broadcast(nodes, root=s.root[nodes]), bsp.vote(any=len(nodes) > 0)

    def tell(self, c: bsp.Cluster, s: ColourState, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(level=s.level)

    def compare(self, c: bsp.Cluster, s: ColourState, inbox: bsp.Inbox) -> bsp.Vote:
        row = np.repeat(np.arange(c.size), c.degree)
        _, level = inbox.along("level")
        level = np.where(c.indices == c.ids[row], -2, level)  # no loops
        for found, wanted in ((s.parent, s.level - 1), (s.beside, s.level)):
            entries = np.flatnonzero(level == wanted[row])[::-1]
            # the first entry of a row is the last to be put
            found[row[entries]] = c.indices[entries]
        s.colour[:] = s.level & 1
        return bsp.vote(min=c.ids[s.beside >= 0])

    # Nodes of components with an odd cycle lose their colours: they hear of it from their root.

    def report(self, c: bsp.Cluster, s: ColourState, inbox: bsp.Inbox) -> bsp.Unicast:
        return bsp.unicast(s.root, odd=s.beside >= 0)

    def judge(self, c: bsp.Cluster, s: ColourState, inbox: bsp.Inbox) -> bsp.Unicast:
        odd = c.zeros(np.int8)
        nodes, some = inbox.max("odd")
        odd[nodes] = some
        return bsp.unicast(inbox.src, inbox.node, odd=odd[inbox.node])

    def obey(self, c: bsp.Cluster, s: ColourState, inbox: bsp.Inbox) -> None:
        s.colour[inbox.node[inbox["odd"] > 0]] = -1

    # Both ends of an edge within a level go up until they meet.

    def begin(self, c: bsp.Cluster, s: ColourState, inbox: bsp.Inbox, start: int) -> bsp.Unicast:
        at = np.repeat(c.local(start), 2)
        to = np.concatenate([c.ids[at[:1]], s.beside[at[1:]]])
        return bsp.unicast(to, at, side=np.arange(len(at)))

    def go_up(self, c: bsp.Cluster, s: ColourState, inbox: bsp.Inbox, steps: int) -> bsp.Sent:
        nodes, side = inbox.node, inbox["side"]
        # until `number` knows how many there are
        s.cycle[nodes] = np.where(side, -2 - steps, steps)
        if len(inbox.receivers()) < len(nodes):
            s.cycle[nodes] = steps
            return bsp.vote(min=steps)
        return bsp.unicast(s.parent[nodes], nodes, side=side), bsp.vote(min=None)

    def number(self, c: bsp.Cluster, s: ColourState, inbox: bsp.Inbox, top: int) -> None:
        """The way up and, counted from the end, the other way up."""
        s.cycle = np.where(s.cycle < -1, 2 * top + 2 + s.cycle, s.cycle).astype(np.int32)


@dataclass(eq=False)
class Order(bsp.ClusterState):
    """What the nodes of a cluster know."""

    # edges that come in from nodes that have not left
    left: NDArray[np.int32] = bsp.initial(lambda c: np.diff(c.senders[0]).astype(np.int32))
    generation: NDArray[np.int32] = bsp.per_node(-1, np.int32)
    # smallest node that has not left and has an edge to it
    before: NDArray[np.int64] = bsp.per_node(-1)
    cycle: NDArray[np.int32] = bsp.per_node(-1, np.int32)  # place; at first steps of the token


class Topological(bsp.Kernel):
    """Generations of a directed acyclic graph, or a cycle.

    Outputs ``generation``, the edges of the longest path that leads to the node, and ``cycle``. Where the
    graph has cycles, the nodes on these, and those that they lead to, have the generation -1, and ``cycle``
    numbers the nodes of one cycle in its order, from 0; it is -1 elsewhere. An undirected edge goes both
    ways, and so is a cycle.

    Notes
    -----
    Rounds: at most ``2 * n + 1``: one for each generation, and where there is a cycle one for each step back.

    Exchanges: at most ``rounds``.

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
    obeys = bsp.Model("nodes", reduces="data")
    refuses = bsp.no_faults(FOLLOWS)
    streams = True
    outputs = {
        "generation": bsp.Output("longest path to the node, -1 on and behind cycles"),
        "cycle": bsp.Output("place in a cycle, -1 elsewhere"),
    }
    state = Order
    undirected = False
    pulls = True
    prepares = ("first",)

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from self.leaving()
        left = yield bsp.Round(self.remain, self.look, closing=True)
        if left.min is None:
            return
        step, again = 0, None
        while again is None:
            again = (yield bsp.Round(self.go_back, step=step, start=left.min)).min
            step += 1
        yield bsp.Round(self.number, first=again, last=step - 2, closing=True)

    def leaving(self) -> bsp.Program:
        """The part of the program in which all nodes leave that can."""
        generation = 0
        more = yield bsp.Round(self.begin)
        while more.any:
            generation += 1
            more = yield bsp.Round(self.leave, generation=generation)

    def begin(self, c: bsp.Cluster, s: Order, inbox: bsp.Inbox) -> bsp.Sent:
        return self._leave(c, s, np.flatnonzero(s.left == 0), 0)

    def leave(self, c: bsp.Cluster, s: Order, inbox: bsp.Inbox, generation: int) -> bsp.Sent:
        return self._leave(c, s, inbox.count_down(s.left), generation)

    def _leave(self, c: bsp.Cluster, s: Order, due: NDArray, generation: int) -> bsp.Sent:
        s.generation[due] = generation
        return bsp.broadcast(due), bsp.vote(any=c.degree[due] > 0)

    def remain(self, c: bsp.Cluster, s: Order, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(np.flatnonzero(s.left > 0))

    def look(self, c: bsp.Cluster, s: Order, inbox: bsp.Inbox) -> bsp.Vote:
        live = bsp.Subset(s.left > 0)
        nodes, before, _ = inbox.first(among=live)
        s.before[nodes] = before
        s.generation[live.members] = -1
        return bsp.vote(min=c.ids[live.members])

    def go_back(
        self, c: bsp.Cluster, s: Order, inbox: bsp.Inbox, step: int, start: int
    ) -> bsp.Sent:
        """The token goes on; a node that has had it votes when that was."""
        at = inbox.receivers() if step else c.local(start)
        if len(had := s.cycle[at][s.cycle[at] >= 0]):
            return bsp.vote(min=had)
        s.cycle[at] = step
        return bsp.unicast(s.before[at], at), bsp.vote(min=None)

    def number(self, c: bsp.Cluster, s: Order, inbox: bsp.Inbox, first: int, last: int) -> None:
        """Steps since the first node of the cycle, counted from its end."""
        s.cycle = np.where(s.cycle >= first, last - s.cycle, -1).astype(np.int32)


class BlockTopological(Topological):
    """Generations of a directed acyclic graph, within each cluster first; see `Topological` for the outputs.

    Notes
    -----
    Rounds: at most two more than the times that a path of nodes that leave crosses the border; and where
    there is a cycle one for each step back.

    Messages: at most ``arcs + n``.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], directed=True)
    >>> dgsuite.run("topological", graph, form="block").generation.values
    array([0, 1, 2, 3], dtype=int32)
    """

    form = "block"
    fields = {"generation": np.int32}
    ranges = {"generation": bsp.nodes}

    def leaving(self) -> bsp.Program:
        yield from bsp.until_quiet(self.peel)

    def peel(self, c: bsp.Cluster, s: Order, inbox: bsp.Inbox) -> bsp.Sent:
        nodes, before, gone = inbox.node, inbox["generation"], np.empty(c.size, np.int64)
        if not inbox.round:  # what has no edge to lose loses one of a generation before the first
            nodes = np.flatnonzero(s.left == 0)
            s.left[nodes], before = 1, np.full(len(nodes), -1, np.int32)
        here = c.indptr, c.positions, c.first, s.left, s.generation
        count = analytics._blocks.leave(*here, nodes, before, gone)
        return blocks.tell(c, gone[:count], generation=s.generation)
