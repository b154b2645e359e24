"""Mutual exclusion by messages, in the order of logical clocks (Lamport, Time, clocks, and the ordering of
events in a distributed system, CACM 1978; Ricart and Agrawala, An optimal algorithm for mutual exclusion in
computer networks, CACM 1981; Raynal 2013, Distributed algorithms for message-passing systems, section 10.2).

A request has a time stamp: the time of the node's logical clock, and its rank. Requests are served in their
order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.events.channel import NEVER
from dgsuite.kernels.events.group import GroupKernel, GroupState, per_member
from dgsuite.kernels.events.kernel import Events, timer

REQUEST, REPLY, RELEASE = range(3)
"""Kinds of messages."""


@dataclass(eq=False, kw_only=True)
class State(GroupState):
    """What the nodes of a cluster know."""

    enter: NDArray[np.int64]  # by node and request, -1 for never
    leave: NDArray[np.int64]
    clock: NDArray[np.int64] = bsp.per_node(0)
    served: NDArray[np.int64] = bsp.per_node(0)  # requests
    stamp: NDArray[np.int64] = bsp.per_node(NEVER)  # of the own request, that there is
    inside: NDArray[np.bool_] = bsp.per_node(False)
    replies: NDArray[np.bool_] = per_member(False, bool)
    deferred: NDArray[np.bool_] = per_member(False, bool)  # who gets a reply when the node leaves
    queue: NDArray[np.int64] = per_member(NEVER)  # stamps of requests, by member
    wakes: NDArray[np.int64] = timer()
    leaves: NDArray[np.int64] = timer()


@dataclass(frozen=True)
class Mutex(GroupKernel):
    """A kernel whose nodes ask to be alone in a critical section, a number of times each.

    A time stamp is one number: the clock times the nodes of the group, plus the rank.
    """

    requests: int = 1
    think: int = 10
    stay: int = 3

    outputs = {
        name: bsp.Output(f"tick at which the node {name}s, -1 for never", dims=("node", "request"))
        for name in ("enter", "leave")
    }
    numbered = ("request",)
    fields = {"kind": np.int8, "stamp": np.int64}
    ranges = {"kind": bsp.values(3)}
    allowed = {"requests": (1, 1 << 20), "think": (1, 1 << 20), "stay": (1, 1 << 20)}
    timers = ("wakes", "leaves")
    state = State

    def start(self, c: bsp.Cluster) -> State:
        enter, leave = np.full((2, c.size, self.requests), -1)
        return State.of(c, enter=enter, leave=leave)

    def on_start(self, c: bsp.Cluster, s: State, e: Events) -> None:
        self.set_timer(c, s, e, "wakes", self.draw(c, e, 1, self.think))

    def on_timer(self, c: bsp.Cluster, s: State, e: Events, timer: str) -> Iterator[bsp.Unicast]:
        nodes = e.node
        s.clock[nodes] += 1
        if timer == "wakes":
            s.stamp[nodes] = self.now(c, s, nodes)
            self.count_anew(s, s.replies, nodes)
            s.queue[nodes, s.rank[nodes]] = s.stamp[nodes]
            yield self.tell(c, nodes, kind=REQUEST, stamp=s.stamp[nodes])
            self.try_to_enter(c, s, e)
        else:
            s.leave[nodes, s.served[nodes]] = e.tick
            s.served[nodes] += 1
            s.inside[nodes], s.stamp[nodes] = False, NEVER
            s.queue[nodes, s.rank[nodes]] = NEVER
            yield self.released(c, s, nodes)
            more = nodes[s.served[nodes] < self.requests]
            again = Events(e.tick, more)
            self.set_timer(c, s, again, "wakes", self.draw(c, again, 1, self.think))

    def now(self, c: bsp.Cluster, s: State, nodes: NDArray) -> NDArray[np.int64]:
        """Time stamps of what nodes send now."""
        return s.clock[nodes] * (c.degree[nodes] + 1) + s.rank[nodes]

    def hear(self, c: bsp.Cluster, s: State, e: Events) -> None:
        """Set clocks after those of messages."""
        said = e["stamp"] // (c.degree[e.node] + 1)
        s.clock[e.node] = np.maximum(s.clock[e.node], said) + 1

    def try_to_enter(self, c: bsp.Cluster, s: State, e: Events) -> None:
        """Let nodes enter that may."""
        nodes = e.node[(s.stamp[e.node] < NEVER) & ~s.inside[e.node]]
        free = nodes[self.may_enter(c, s, nodes)]
        s.inside[free] = True
        s.enter[free, s.served[free]] = e.tick
        self.set_timer(c, s, e, "leaves", self.stay, free)

    def may_enter(self, c: bsp.Cluster, s: State, nodes: NDArray) -> NDArray[np.bool_]:
        """Whether nodes that have asked may enter."""
        return s.replies[nodes].sum(axis=1) == c.degree[nodes] + 1

    def released(self, c: bsp.Cluster, s: State, nodes: NDArray) -> bsp.Unicast:
        """What nodes send that leave."""
        raise NotImplementedError


class RicartAgrawala(Mutex):
    """Mutual exclusion of the nodes of a complete graph by 2 (n - 1) messages for each entry.

    A node that asks enters once all others have replied. A node that is inside, or whose own request is
    earlier, replies when it leaves. Outputs ``enter`` and ``leave``, by node and request.

    Parameters
    ----------
    requests
        How often each node enters.
    think
        Ticks between two requests of a node, at most.
    stay
        Ticks that a node stays inside.

    Notes
    -----
    Rounds: not limited by n alone: about ``n * requests * (stay + delay)``.

    Exchanges: at most ``rounds``.

    Messages: exactly ``2 * (n - 1) * n * requests``.

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite import genval
    >>> graph = genval.graph("cplt", 5)
    >>> ds = dgsuite.run("ricart_agrawala", graph, network=dgsuite.Network(delay=("uniform", 1, 9)))
    >>> int(ds.messages.sum()) == 2 * 4 * 5
    True
    """

    name = "ricart_agrawala"

    def on_message(self, c: bsp.Cluster, s: State, e: Events) -> Iterator[bsp.Unicast]:
        self.hear(c, s, e)
        asked = e.among(e["kind"] == REQUEST)
        later = s.inside[asked.node] | (s.stamp[asked.node] < asked["stamp"])
        waits = asked.among(later)
        s.deferred[waits.node, self.member(c, s, waits)] = True
        now = asked.among(~later)
        yield self.send(now.src, now.node, kind=REPLY, stamp=self.now(c, s, now.node))
        told = e.among(e["kind"] == REPLY)
        s.replies[told.node, self.member(c, s, told)] = True
        self.try_to_enter(c, s, told)

    def released(self, c: bsp.Cluster, s: State, nodes: NDArray) -> bsp.Unicast:
        row, member = s.deferred[nodes].nonzero()
        by = nodes[row]
        s.deferred[nodes] = False
        to = self.node_of(c, s, by, member)
        return self.send(to, by, kind=REPLY, stamp=self.now(c, s, by))


class LamportMutex(RicartAgrawala):
    """Mutual exclusion of the nodes of a complete graph by 3 (n - 1) messages for each entry.

    Each node has all requests that it knows in a queue. A node enters once its request is the first of its
    queue, and it has heard from each other node since. Outputs ``enter`` and ``leave``, by node and request.
    Messages must arrive in the order of sending: ``dgsuite.Network(fifo=True)``.

    Parameters
    ----------
    requests
        How often each node enters.
    think
        Ticks between two requests of a node, at most.
    stay
        Ticks that a node stays inside.

    Notes
    -----
    Rounds: not limited by n alone: about ``n * requests * (stay + delay)``.

    Exchanges: at most ``rounds``.

    Messages: exactly ``3 * (n - 1) * n * requests``.

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite import genval
    >>> slow = dgsuite.Network(delay=("uniform", 1, 9), fifo=True)
    >>> ds = dgsuite.run("lamport_mutex", genval.graph("cplt", 5), network=slow)
    >>> int(ds.messages.sum()) == 3 * 4 * 5
    True
    """

    name = "lamport_mutex"
    needs_fifo = True

    def on_message(self, c: bsp.Cluster, s: State, e: Events) -> Iterator[bsp.Unicast]:
        self.hear(c, s, e)
        member, kind = self.member(c, s, e), e["kind"]
        asked = kind == REQUEST
        s.queue[e.node[asked], member[asked]] = e["stamp"][asked]
        gone = kind == RELEASE
        s.queue[e.node[gone], member[gone]] = NEVER
        later = e["stamp"] > s.stamp[e.node]
        s.replies[e.node[later], member[later]] = True
        now = e.among(asked)
        yield self.send(now.src, now.node, kind=REPLY, stamp=self.now(c, s, now.node))
        self.try_to_enter(c, s, e)

    def may_enter(self, c: bsp.Cluster, s: State, nodes: NDArray) -> NDArray[np.bool_]:
        first = s.queue[nodes].min(axis=1) == s.stamp[nodes]
        return first & super().may_enter(c, s, nodes)

    def released(self, c: bsp.Cluster, s: State, nodes: NDArray) -> bsp.Unicast:
        return self.tell(c, nodes, kind=RELEASE, stamp=self.now(c, s, nodes))
