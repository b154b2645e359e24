"""A shared register by messages (Attiya, Bar-Noy and Dolev, Sharing memory robustly in message-passing
systems, JACM 1995; for several writers as Lynch and Shvartsman 1997 have it).

Each node has a copy of the value, with a stamp. An operation first asks a majority for their copies. A read
takes the one with the greatest stamp, a write makes a greater stamp; both then have a majority store it.
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
from dgsuite.kernels.tools.rng import uniform

ASK, COPY, STORE, STORED = range(4)
"""Kinds of messages."""

IDLE, ASKING, STORING = range(3)
"""What a node does."""


@dataclass(eq=False, kw_only=True)
class State(GroupState):
    """What the nodes of a cluster know."""

    begin: NDArray[np.int64]  # by node and operation, -1 for never
    end: NDArray[np.int64]
    writes: NDArray[np.bool_]
    value: NDArray[np.int64]  # written or read
    stamp: NDArray[np.int64] = bsp.per_node(0)  # of the copy
    copy: NDArray[np.int64] = bsp.per_node(0)
    number: NDArray[np.int64] = bsp.per_node(0)  # operations that are over
    does: NDArray[np.int8] = bsp.per_node(IDLE, np.int8)
    votes: NDArray[np.bool_] = per_member(False, bool)
    best: NDArray[np.int64] = bsp.per_node(0)  # greatest stamp that a copy had
    held: NDArray[np.int64] = bsp.per_node(0)  # its value
    wakes: NDArray[np.int64] = timer()
    again: NDArray[np.int64] = timer()


@dataclass(frozen=True)
class ABD(GroupKernel):
    """A register that all nodes of a complete graph read and write, although some of them crash.

    Fewer than half may crash. Outputs by node and operation: ``begin`` and ``end``, ticks or -1 for never;
    ``writes``, 1 for a write; and ``value``, what was written or read. At first it is 0; each write has a
    value of its own. The history is linearizable: see `dgsuite.lab.linearizable`.

    Parameters
    ----------
    operations
        How many each node does, one after the other.
    share
        The probability that one is a write.
    think
        Ticks between two operations of a node, at most.
    patience
        Ticks after which a node asks again those that have not answered.

    Notes
    -----
    Rounds: not limited by n alone: about ``operations * (think + 4 * delay)``.

    Exchanges: at most ``rounds``.

    Messages: exactly ``4 * (n - 1) * n * operations``, where none is lost or later than `patience`.

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite import genval
    >>> graph = genval.graph("cplt", 5)
    >>> slow = dgsuite.Network(delay=("uniform", 1, 9), crashes={0: 20, 3: 9})
    >>> ds = dgsuite.run("abd", graph, operations=4, network=slow)
    >>> dgsuite.lab.linearizable(ds)
    True
    """

    operations: int = 2
    share: float = 0.5
    think: int = 10
    patience: int = 50

    name = "abd"
    outputs = {
        name: bsp.Output(text, dims=("node", "operation"))
        for name, text in (
            ("begin", "tick at which the operation begins, -1 for never"),
            ("end", "tick at which it ends, -1 for never"),
            ("writes", "1 for a write"),
            ("value", "what is written or read"),
        )
    }
    numbered = ("operation",)
    fields = {"kind": np.int8, **dict.fromkeys(("tag", "stamp", "value"), np.int64)}
    ranges = {"kind": bsp.values(4)}
    allowed = {
        "operations": (1, 1 << 20),
        "share": (0, 1),
        "think": (1, 1 << 20),
        "patience": (1, 1 << 20),
    }
    timers = ("wakes", "again")
    state = State

    def start(self, c: bsp.Cluster) -> State:
        begin, end, value = np.full((3, c.size, self.operations), -1)
        luck = [uniform("counter", self.seed, c.ids, k) for k in range(self.operations)]
        return State.of(
            c, begin=begin, end=end, value=value, writes=np.stack(luck, axis=1) < self.share
        )

    def on_start(self, c: bsp.Cluster, s: State, e: Events) -> None:
        self.set_timer(c, s, e, "wakes", self.draw(c, e, 1, self.think))

    def on_timer(self, c: bsp.Cluster, s: State, e: Events, timer: str) -> Iterator[bsp.Unicast]:
        nodes = e.node
        if timer == "again":
            yield self.call(c, s, e, nodes)
            return
        number, rank = s.number[nodes], s.rank[nodes]
        s.begin[nodes, number] = e.tick
        wrote = 1 + number * (c.degree[nodes] + 1) + rank
        s.value[nodes, number] = np.where(s.writes[nodes, number], wrote, -1)
        s.best[nodes], s.held[nodes] = s.stamp[nodes], s.copy[nodes]
        yield from self.next(c, s, e, nodes, ASKING)

    def next(
        self, c: bsp.Cluster, s: State, e: Events, nodes: NDArray, does: int
    ) -> Iterator[bsp.Unicast]:
        """Begin the first or second half of an operation."""
        s.does[nodes] = does
        self.count_anew(s, s.votes, nodes)
        yield self.call(c, s, e, nodes)
        yield from self.counted(c, s, e, nodes)

    def call(self, c: bsp.Cluster, s: State, e: Events, nodes: NDArray) -> bsp.Unicast:
        """Ask members that have not answered."""
        self.set_timer(c, s, e, "again", self.patience, nodes)
        by, to, member = self.others(c, s, nodes)
        missing = ~s.votes[by, member]
        to, by = to[missing], by[missing]
        kind = np.where(s.does[by] == ASKING, ASK, STORE)
        held = {"stamp": s.best[by], "value": s.held[by]}
        return self.send(to, by, kind=kind, tag=self.tag(s, by), **held)

    def tag(self, s: State, nodes: NDArray) -> NDArray[np.int64]:
        """A number of each half of an operation, so that late answers are known."""
        return 2 * s.number[nodes] + (s.does[nodes] == STORING)

    def on_message(self, c: bsp.Cluster, s: State, e: Events) -> Iterator[bsp.Unicast]:
        kind = e["kind"]
        stored = e.among(kind == STORE)
        self.store(s, stored.node, stored["stamp"], stored["value"])
        yield self.send(stored.src, stored.node, kind=STORED, tag=stored["tag"])
        asked = e.among(kind == ASK)
        held = {"stamp": s.stamp[asked.node], "value": s.copy[asked.node]}
        yield self.send(asked.src, asked.node, kind=COPY, tag=asked["tag"], **held)
        wanted = np.where(s.does[e.node] == ASKING, COPY, STORED)
        busy = s.does[e.node] != IDLE
        told = e.among(busy & (kind == wanted) & (e["tag"] == self.tag(s, e.node)))
        s.votes[told.node, self.member(c, s, told)] = True
        newer = told.among((told["kind"] == COPY) & (told["stamp"] > s.best[told.node]))
        s.best[newer.node], s.held[newer.node] = newer["stamp"], newer["value"]
        yield from self.counted(c, s, e, told.node)

    def store(self, s: State, nodes: NDArray, stamp: NDArray, value: NDArray) -> None:
        """Store copies that are newer."""
        newer = stamp > s.stamp[nodes]
        s.stamp[nodes[newer]], s.copy[nodes[newer]] = stamp[newer], value[newer]

    def counted(self, c: bsp.Cluster, s: State, e: Events, nodes: NDArray) -> Iterator[bsp.Unicast]:
        """What nodes do that may have the answers of a majority."""
        full = nodes[(s.does[nodes] != IDLE) & self.majority(c, s.votes, nodes)]
        asked = s.does[full] == ASKING
        done, first = full[~asked], full[asked]
        s.does[done], s.again[done] = IDLE, NEVER
        s.end[done, s.number[done]] = e.tick
        s.number[done] += 1
        more = Events(e.tick, done[s.number[done] < self.operations])
        self.set_timer(c, s, more, "wakes", self.draw(c, more, 1, self.think))
        if not len(first):
            return
        number, size = s.number[first], c.degree[first] + 1
        writes = s.writes[first, number]
        own = (s.best[first] // size + 1) * size + s.rank[first]
        s.best[first] = np.where(writes, own, s.best[first])
        s.held[first] = np.where(writes, s.value[first, number], s.held[first])
        s.value[first, number] = s.held[first]
        self.store(s, first, s.best[first], s.held[first])
        yield from self.next(c, s, e, first, STORING)
