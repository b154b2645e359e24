"""Routing tables by Dijkstra's algorithm, next hops by recursion (IMSuite dijkstraRouting, recursive).

Every node works out its tree of cheapest ways, as in the iterative form. Then each of its branches
fills in its part of the table: a node of the tree asks, for each of its neighbours, whether the way
there leads over it; and where it does, the neighbour goes on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernels.base import Extra, Finish, Inbox, Net, Program, Round, State, extra
from kernels.imsuite.dijkstra_routing import DijkstraRouting
from kernels.recursion import Spawn, spawn
from partition.cluster import Cluster


@dataclass(frozen=True)
class RecursiveDijkstraRouting(DijkstraRouting):
    """Routing tables of all nodes; see `DijkstraRouting`."""

    form = "recursive"
    varies = ("active",)  # a node counts once for all of its tasks that are handled together
    fields = {**DijkstraRouting.fields, "node": np.int32, "hop": np.int32}

    def program(self, net: Net) -> Program:
        yield Round(self.advertise, self.route)
        yield Finish(self.branch)

    def route(self, c: Cluster, s: State, inbox: Inbox) -> None:  # type: ignore[override]
        s.cost, _, s.via, _ = self.search(c, inbox, trees=True)
        rows = np.arange(c.size)
        via = s.via.copy()
        via[rows, c.ids] = c.ids  # the source has none before it
        s.inner = np.zeros((c.size, c.n), bool)
        s.inner[rows[:, None], via] = True
        s.next_hop = np.full((c.size, c.n), -1, np.int32)
        s.next_hop[rows, c.ids] = c.ids

    def branch(self, c: Cluster, s: State, inbox: Inbox) -> tuple[Spawn, Extra]:
        nodes = np.arange(c.size)
        at, ends = c.edges(nodes)
        tried = extra(asyncs=len(ends) if self.faithful else 0)
        child = s.via[at, ends] == c.ids[at]
        at, ends = at[child], ends[child]
        s.next_hop[at, ends] = ends
        return spawn(self.enter, ends, by=nodes, at=at, source=c.ids[at], hop=ends), tried

    def enter(self, c: Cluster, s: State, inbox: Inbox) -> Spawn:
        """At a neighbour of the source."""
        return self.visit(c, s, inbox)

    def visit(self, c: Cluster, s: State, inbox: Inbox) -> Spawn:
        """At a node of the source's tree: its neighbours may be next."""
        entry, ends = c.edges(inbox.node)
        by, at = np.unique(inbox.node[entry], return_inverse=True)
        source, hop = inbox["source"][entry], inbox["hop"][entry]
        return spawn(self.settle, source, by=by, at=at, node=ends, hop=hop)

    def settle(self, c: Cluster, s: State, inbox: Inbox) -> tuple[Spawn, Extra]:
        """At the source: those that are next go on."""
        at, via, node, hop = inbox.node, inbox.src, inbox["node"], inbox["hop"]
        child = s.via[at, node] == via
        at, node, hop = at[child], node[child], hop[child]
        s.next_hop[at, node] = hop
        on = s.inner[at, node]
        at, node, hop = at[on], node[on], hop[on]
        by, at = np.unique(at, return_inverse=True)
        told = extra(comm=np.count_nonzero(child) if self.faithful else 0)
        return spawn(self.visit, node, by=by, at=at, source=c.ids[by[at]], hop=hop), told
