"""The synchroniser beta (Awerbuch 1985; Peleg 2000, section 6.3; Lynch 1996, section 16.4).

The root of a spanning tree learns by way of the tree that all nodes are safe, and has them begin the next
pulse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.mixing import keyed
from dgsuite.kernels import bsp
from dgsuite.kernels.lab import synchroniser
from dgsuite.kernels.lab.delays import own, ways
from dgsuite.kernels.lab.synchroniser import GO, SAFE, Synchroniser
from dgsuite.kernels.tools.tree import Children


@dataclass(eq=False)
class State(synchroniser.State):
    """What the nodes of a cluster know."""

    outside: bsp.Subset = bsp.node_set()  # nodes that are not in the tree
    parent: bsp.NodeIds = bsp.per_node(-1, bsp.NODE)
    children: Children = bsp.initial(lambda c: Children(c.size))
    pending: NDArray[np.int64] = bsp.later()  # children that have not reported in this pulse


@dataclass(frozen=True)
class Beta(Synchroniser):
    """The synchroniser beta: when the nodes of an asynchronous network begin each round.

    In a pulse a node sends a message to each neighbour, which acknowledges it. A node that has all its
    acknowledgements is safe. In a tree of fewest hops it tells its parent when it and all below it are safe.
    When the root is so far, it begins the next pulse and tells its children, which begin it and tell theirs.
    A pulse takes fewer messages than one of `alpha`, and more time: up the tree and down.

    The graph must be connected. Edges of a directed graph carry messages both ways. Outputs ``time``, int64,
    ``parent``, -1 at
    the root, and by round ``pulse_time``.

    Parameters
    ----------
    root
        Root of the tree.

    Notes
    -----
    Rounds: exactly ``rounds``: a round is a pulse. It takes at most 2 * hops + 2 times the longest delay.

    Messages: exactly ``rounds * (4 * m + 2 * (n - 1)) + 2 * m + n - 1``: a message and an acknowledgement
    along each edge, both ways, and up and down the tree; before the first pulse the nodes make the tree.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> ds = dgsuite.run("beta", graph, rounds=3, delay=2)
    >>> ds.pulse_time.values, ds.time.values
    (array([16, 32, 48]), array([42, 44, 46, 48]))
    >>> ds.messages.values
    array([27, 18, 18])
    """

    root: bsp.Node = bsp.FIRST

    name = "beta"
    streams = True
    refuses = {"recovery": bsp.KEEPS_LISTS}
    outputs = {
        **Synchroniser.outputs,
        "parent": bsp.Output("parent in the tree, {none} at the root", nodes=True),
    }
    state = State
    prepares = ("first",)
    along_edges = True
    needs = ("connected",)

    def steps(self, n: int) -> int:
        return 2 * n

    def program(self, net: bsp.Net) -> bsp.Program:
        grown = yield bsp.Round(self.plant, opening=True)
        while grown.any:
            grown = yield bsp.Round(self.grow, opening=True)
        yield bsp.Round(self.register, self.adopt, opening=True)
        for pulse in range(self.rounds):
            yield bsp.Round(self.send, self.acknowledge, self.collect, pulse=pulse)
            yield from bsp.until_quiet(self.report, closing=True, pulse=pulse)
            gone = yield bsp.Round(self.release, closing=True, pulse=pulse)
            if gone.any:
                yield from bsp.until_quiet(self.go, closing=True, pulse=pulse)

    def plant(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> tuple[bsp.Broadcast, bsp.Vote]:
        """The tree begins with the root."""
        root = c.local(self.root)
        s.outside.remove(root)
        return bsp.broadcast(root), bsp.vote(any=c.degree[root] > 0)

    def grow(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> tuple[bsp.Broadcast, bsp.Vote]:
        """Neighbours of the last layer join it; of several parents a node takes the smallest."""
        nodes, parent, _ = inbox.first(among=s.outside)
        s.parent[nodes] = parent
        s.outside.remove(nodes)
        return bsp.broadcast(nodes), bsp.vote(any=len(nodes) > 0)

    def register(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        nodes = np.flatnonzero(s.parent >= 0)
        return bsp.unicast(s.parent[nodes], nodes)

    def adopt(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        s.children.add(inbox.node, inbox.src)

    def collect(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, pulse: int
    ) -> tuple[bsp.Unicast, bsp.Vote]:
        """Leaves report when they are safe."""
        self.wait(c, s, pulse)
        s.pending = s.children.count.copy()
        return self.tell_parents(c, s, np.flatnonzero(s.pending == 0), pulse)

    def report(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, pulse: int
    ) -> tuple[bsp.Unicast, bsp.Vote]:
        """Others report when they are safe and all their children have reported."""
        nodes, time = inbox.max("time")
        _, reports, _ = inbox.count()
        s.time[nodes] = np.maximum(s.time[nodes], time)
        s.pending[nodes] -= reports
        return self.tell_parents(c, s, nodes[s.pending[nodes] == 0], pulse)

    def tell_parents(
        self, c: bsp.Cluster, s: State, nodes: NDArray, pulse: int
    ) -> tuple[bsp.Unicast, bsp.Vote]:
        nodes = nodes[s.parent[nodes] >= 0]
        sent = self.tell(c, s, nodes, s.parent[nodes], pulse, SAFE)
        return sent, bsp.vote(any=len(nodes) > 0)

    def release(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, pulse: int
    ) -> tuple[bsp.Unicast, bsp.Vote]:
        """The root begins the next pulse."""
        return self.tell_children(c, s, c.local(self.root), pulse)

    def go(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, pulse: int
    ) -> tuple[bsp.Unicast, bsp.Vote]:
        """Others begin it when their parents say so."""
        nodes, time = inbox.max("time")
        s.time[nodes] = time
        return self.tell_children(c, s, nodes, pulse)

    def tell_children(
        self, c: bsp.Cluster, s: State, nodes: NDArray, pulse: int
    ) -> tuple[bsp.Unicast, bsp.Vote]:
        at, children = s.children.of(nodes)
        sent = self.tell(c, s, nodes[at], children, pulse, GO)
        return sent, bsp.vote(any=len(children) > 0, max=s.time[nodes])

    def tell(
        self, c: bsp.Cluster, s: State, nodes: NDArray, to: NDArray, pulse: int, what: int
    ) -> bsp.Unicast:
        """Nodes send a message to a neighbour each, which says when it arrives."""
        src, dst = c.ids[nodes].astype(np.int64), to.astype(np.int64)
        if self.delay == "weight":
            wait = ways(c)[0][c.entries(nodes, to)]
        elif callable(self.delay):
            wait = own(self.delay, src, dst, s.time[nodes])
        else:
            wait = self.law.ticks(keyed(keyed(self.key(pulse, what), dst), src))
        wait = wait + self.more(c, pulse, src, dst)
        return bsp.unicast(to, nodes, time=s.time[nodes] + wait)
