"""Reliable broadcast although nodes lie (Bracha, Asynchronous Byzantine agreement protocols, Information and
Computation 1987; Cachin, Guerraoui and Rodrigues 2011, Introduction to reliable and secure distributed
programming, section 3.10).

The sender tells all nodes a value. A node echoes the first that it gets. It is ready for a value that enough
nodes echo, or that some honest node is ready for; it delivers what so many are ready for that all will.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.events.group import GroupKernel, GroupState
from dgsuite.kernels.events.kernel import Events

INITIAL, ECHO, READY = range(3)
"""Kinds of messages, and what a node has sent."""

VALUES = 2
"""A sender broadcasts 0 or 1."""


@dataclass(eq=False)
class State(GroupState):
    """What the nodes of a cluster know."""

    delivered: NDArray[np.int64] = bsp.per_node(-1)
    tick: NDArray[np.int64] = bsp.per_node(-1)  # when
    echoed: NDArray[np.bool_] = bsp.per_node(False)
    ready: NDArray[np.bool_] = bsp.per_node(False)
    heard: NDArray[np.bool_] = bsp.initial(  # by kind and member: whether it has said something
        lambda c: np.zeros((c.size, 3, c.degree.max(initial=0) + 1), bool)
    )
    votes: NDArray[np.int64] = bsp.initial(lambda c: np.zeros((c.size, 3, VALUES), np.int64))


@dataclass(frozen=True)
class Bracha(GroupKernel):
    """A broadcast of 0 or 1 that honest nodes deliver alike or not at all, although others lie.

    Outputs ``delivered``, -1 for nothing, and ``tick``, when. With f liars of n nodes, n > 3 f, no two honest
    nodes deliver different values; if one delivers, all do; and if the sender is honest they deliver what it
    says.

    Parameters
    ----------
    sender
        The node that tells.
    value
        What it tells: 0 or 1.
    f
        Nodes that may lie; by default as many as are allowed, fewer than a third.

    Notes
    -----
    Rounds: at most ``4``, where each message takes a tick, with the one in which the last messages arrive.

    Exchanges: at most ``rounds``.

    Messages: exactly ``(2 * n + 1) * (n - 1)``.

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite import genval
    >>> liars = dgsuite.Network(delay=("uniform", 1, 5), byzantine=dgsuite.Byzantine([0, 5]))
    >>> ds = dgsuite.run("bracha", genval.graph("cplt", 7), network=liars)
    >>> len({*ds.delivered.values[[1, 2, 3, 4, 6]].tolist()})
    1
    """

    sender: bsp.Node = bsp.FIRST
    value: int = 1
    f: int | None = None

    name = "bracha"
    by_component = False  # a sender of the graph, and not of each copy
    outputs = {
        "delivered": bsp.Output("what the node delivered, -1 for nothing"),
        "tick": bsp.Output("when it did, -1 for never"),
    }
    fields = {"kind": np.int8, "value": np.int8}
    ranges = {"kind": bsp.values(3), "value": bsp.values(VALUES)}
    allowed = {"value": (0, 1)}
    state = State

    def check(self, c: bsp.Cluster) -> str | None:
        if self.f is not None and not 0 <= self.f < c.n:
            return f"f must be from 0 to {c.n - 1}, got {self.f}"
        return super().check(c) or bsp.no_node("sender", self.sender, c.n)

    def failing(self, n: int) -> int:
        """How many of n nodes may lie."""
        return (n - 1) // 3 if self.f is None else self.f

    def on_start(self, c: bsp.Cluster, s: State, e: Events) -> Iterator[bsp.Unicast]:
        sender = e.node[c.ids[e.node] == self.sender]
        yield from self.say(c, s, e.tick, sender, INITIAL, np.full(len(sender), self.value))

    def on_message(self, c: bsp.Cluster, s: State, e: Events) -> Iterator[bsp.Unicast]:
        e = e.among((e["kind"] != INITIAL) | (e.src == self.sender))
        member, kind = self.member(c, s, e), e["kind"]
        new = ~s.heard[e.node, kind, member]
        yield from self.counted(c, s, e.among(new), member[new])

    def say(
        self, c: bsp.Cluster, s: State, tick: int, nodes: NDArray, kind: int, value: NDArray
    ) -> Iterator[bsp.Unicast]:
        """Tell all others a value, and count it as one's own."""
        yield self.tell(c, nodes, kind=kind, value=value)
        said = {"kind": np.full(len(nodes), kind), "value": value}
        yield from self.counted(c, s, Events(tick, nodes, fields=said), s.rank[nodes])

    def counted(
        self, c: bsp.Cluster, s: State, e: Events, member: NDArray
    ) -> Iterator[bsp.Unicast]:
        """Count what members have said, one to each node, and do what follows from it."""
        n, f, nodes, kind, value = c.n, self.failing(c.n), e.node, e["kind"], e["value"]
        s.heard[nodes, kind, member] = True
        s.votes[nodes, kind, value] += 1
        votes = s.votes[nodes, :, value]
        echoes = nodes[(votes[:, INITIAL] > 0) & ~s.echoed[nodes]]
        s.echoed[echoes] = True
        ready = ~s.ready[nodes] & ((2 * votes[:, ECHO] > n + f) | (votes[:, READY] > f))
        s.ready[nodes[ready]] = True
        done = (s.delivered[nodes] < 0) & (votes[:, READY] > 2 * f)
        s.delivered[nodes[done]], s.tick[nodes[done]] = value[done], e.tick
        for says, who in ((ECHO, np.isin(nodes, echoes)), (READY, ready)):
            if who.any():
                yield from self.say(c, s, e.tick, nodes[who], says, value[who])
