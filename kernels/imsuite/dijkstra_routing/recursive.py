"""Routing tables by Dijkstra's algorithm, next hops by recursion (IMSuite dijkstraRouting, recursive).

Every node computes its tree of cheapest ways, as in the iterative form. Then the branches of the tree fill
in the table: a node of the tree asks the source, for each of its neighbours, whether the way there leads
over it; where it does, the neighbour goes on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.imsuite.dijkstra_routing import textbook


@dataclass(eq=False)
class State(textbook.State):
    """What the nodes of a cluster know after `route`, shape (size, n): routing tables and trees."""

    via: NDArray = bsp.later()  # node before in the tree
    inner: NDArray = bsp.later()  # nodes with children in it


class RecursiveDijkstraRouting(textbook.DijkstraRouting):
    """Routing tables of all nodes; see `DijkstraRouting`."""

    form = "recursive"
    varies = ("active",)  # a node counts once for all of its tasks that are handled together
    fields = {**textbook.DijkstraRouting.fields, "node": np.int32, "hop": np.int32}
    state = State

    def program(self, net: bsp.Net) -> bsp.Program:
        yield bsp.Round(self.advertise, self.route)
        yield bsp.Finish(self.branch)

    def route(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        s.cost, _, s.via, _ = self.search(c, inbox, trees=True)
        rows = np.arange(c.size)
        via = s.via.copy()
        via[rows, c.ids] = c.ids  # the source has none before it
        s.inner = np.zeros((c.size, c.n), bool)
        s.inner[rows[:, None], via] = True
        s.next_hop = np.full((c.size, c.n), -1, np.int32)
        s.next_hop[rows, c.ids] = c.ids

    def branch(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Spawn:
        nodes = np.arange(c.size)
        at, ends = c.edges(nodes)
        child = s.via[at, ends] == c.ids[at]
        at, ends = at[child], ends[child]
        s.next_hop[at, ends] = ends
        return bsp.spawn(self.enter, ends, by=nodes, at=at, source=c.ids[at], hop=ends)

    def enter(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Spawn:
        """At a neighbour of the source."""
        return self.visit(c, s, inbox)

    def visit(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Spawn:
        """At a node of the source's tree: its neighbours may be next."""
        entry, ends = c.edges(inbox.node)
        by, at = np.unique(inbox.node[entry], return_inverse=True)
        source, hop = inbox["source"][entry], inbox["hop"][entry]
        return bsp.spawn(self.settle, source, by=by, at=at, node=ends, hop=hop)

    def settle(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Spawn:
        """At the source: its tree goes on at the children, and from those that have children."""
        child = self.children(s, inbox)
        at, node, hop = inbox.node[child], inbox["node"][child], inbox["hop"][child]
        s.next_hop[at, node] = hop
        on = s.inner[at, node]
        at, node, hop = at[on], node[on], hop[on]
        by, at = np.unique(at, return_inverse=True)
        return bsp.spawn(self.visit, node, by=by, at=at, source=c.ids[by[at]], hop=hop)

    def children(self, s: State, inbox: bsp.Inbox) -> NDArray[np.bool_]:
        """Which tasks come from a node's parent in the receiver's tree."""
        return s.via[inbox.node, inbox["node"]] == inbox.src
