"""Failure detectors, and consensus with one (Chandra and Toueg, Unreliable failure detectors for reliable
distributed systems, JACM 1996; Cachin, Guerraoui and Rodrigues 2011, sections 2.6 and 5.4).

Nodes send heartbeats. A node suspects another that it has not heard for too long; if it hears from it again,
it has been too hasty, and waits longer from then on. Once messages are in time, it suspects those that have
crashed and no others: the detector is eventually perfect. An oracle that knows when nodes crash is perfect.

In consensus the nodes coordinate in turns, one in each turn. The coordinator takes the newest estimate of a
majority, and proposes it. A node that gets the proposal takes it over; one that suspects the coordinator
refuses. If a majority has taken it over it is decided.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.events.channel import NEVER
from dgsuite.kernels.events.group import (
    Consensus,
    ConsensusState,
    GroupKernel,
    GroupState,
    per_member,
)
from dgsuite.kernels.events.kernel import Events, timer

BEAT, ESTIMATE, PROPOSE, REPLY, DECIDED = range(5)
"""Kinds of messages."""


@dataclass(eq=False)
class DetectorState(GroupState):
    """What nodes know of each other."""

    heard: NDArray[np.int64] = per_member(0)  # tick at which the node heard of a member last
    limit: NDArray[np.int64] = per_member(0)  # ticks after which it suspects the member
    suspects: NDArray[np.bool_] = per_member(False, bool)
    beats: NDArray[np.int64] = timer()


@dataclass(frozen=True)
class Detecting(GroupKernel):
    """A kernel with a failure detector, ``suspects`` of the state by node and member.

    Call `watch` when nodes start, `beat` when the timer ``beats`` ends, and `hear` for each message.
    """

    oracle: Mapping[bsp.Node, int] | None = None
    beat_ticks: int = 5
    patience: int = 15

    allowed = {"beat_ticks": (1, 1 << 20), "patience": (1, 1 << 20)}
    timers = ("beats",)

    def watch(self, c: bsp.Cluster, s: DetectorState, e: Events) -> None:
        """Begin to watch the other members."""
        s.heard[e.node], s.limit[e.node] = e.tick, self.patience
        self.set_timer(c, s, e, "beats", 1)

    def beat(self, c: bsp.Cluster, s: DetectorState, e: Events) -> bsp.Unicast:
        """Send heartbeats, and suspect those that are not heard."""
        self.set_timer(c, s, e, "beats", self.beat_ticks)
        if self.oracle is None:
            s.suspects[e.node] |= e.tick - s.heard[e.node] > s.limit[e.node]
            s.suspects[e.node, s.rank[e.node]] = False
        else:
            down = [node for node, tick in self.oracle.items() if tick < e.tick]
            s.suspects[np.ix_(e.node, down)] = True
        return self.tell(c, e.node, kind=BEAT)

    def hear(self, s: DetectorState, e: Events, member: NDArray) -> None:
        """Note that members are heard; wait twice as long for those that were suspected."""
        s.heard[e.node, member] = e.tick
        if self.oracle is None:
            s.limit[e.node, member] <<= s.suspects[e.node, member]
            s.suspects[e.node, member] = False

    def leader(self, c: bsp.Cluster, s: DetectorState, nodes: NDArray) -> NDArray[np.int64]:
        """The least member that each of some nodes does not suspect: Omega."""
        return np.argmin(s.suspects[nodes], axis=1)


@dataclass(eq=False)
class State(DetectorState, ConsensusState):
    """What the nodes of a cluster know."""

    estimate: NDArray[np.int64] = bsp.per_node(0)
    stamp: NDArray[np.int64] = bsp.per_node(0)  # turn in which the estimate was taken over
    turn: NDArray[np.int64] = bsp.per_node(0)
    # of a coordinator
    proposed: NDArray[np.bool_] = bsp.per_node(False)  # whether it has, in its turn
    votes: NDArray[np.bool_] = per_member(False, bool)  # estimates, then replies
    yes: NDArray[np.bool_] = per_member(False, bool)
    newest: NDArray[np.int64] = bsp.per_node(0)
    value: NDArray[np.int64] = bsp.per_node(0)


@dataclass(frozen=True)
class ChandraToueg(Detecting, Consensus):
    """Agreement of the nodes of a complete graph by a failure detector, although some crash.

    Nodes agree on the input of one of them, as long as fewer than half crash.

    Outputs ``decision``, -1 for none, and ``input``. No two nodes decide differently, however wrong the
    failure detector is; when it is right about one node that lives, all that live decide. No message may be
    lost. A node that hears of a later turn refuses its own, and goes on to that one.

    Parameters
    ----------
    inputs
        A whole number from 0 for each node; by default its node id.
    oracle
        When nodes crash, for a perfect detector: a mapping from nodes to ticks. By default the detector goes
        by heartbeats.
    beat_ticks
        Ticks between the heartbeats of a node.
    patience
        Ticks after which a node that is not heard is suspected, at first.
    ticks
        Ticks after which the run ends.

    Notes
    -----
    Rounds: not limited by n alone: it depends on delays and crashes.

    Exchanges: at most ``rounds``.

    Messages: not limited by n alone: heartbeats are among them.

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite import genval
    >>> slow = dgsuite.Network(delay=("uniform", 1, 6), crashes={1: 2, 4: 9})
    >>> ds = dgsuite.run("chandra_toueg", genval.graph("cplt", 5), network=slow)
    >>> len({*ds.decision.values[[0, 2, 3]].tolist()})
    1
    """

    ticks: int = 2_000

    name = "chandra_toueg"
    fields = {
        "kind": np.int8,
        "yes": np.bool_,
        "turn": np.int64,
        "stamp": np.int64,
        "value": np.int64,
    }
    ranges = {"kind": bsp.values(5)}
    state = State

    def start(self, c: bsp.Cluster) -> State:
        s: State = super().start(c)
        s.estimate = s.input.copy()
        return s

    def on_start(self, c: bsp.Cluster, s: State, e: Events) -> Iterator[bsp.Unicast]:
        self.watch(c, s, e)
        yield from self.enter(c, s, e.node, np.ones(len(e), np.int64))

    def coordinator(self, c: bsp.Cluster, turn: NDArray, nodes: NDArray) -> NDArray[np.int64]:
        """The rank of the coordinator of a turn."""
        return (turn - 1) % (c.degree[nodes] + 1)

    def tell_coordinator(
        self, c: bsp.Cluster, s: State, nodes: NDArray, **fields: object
    ) -> bsp.Unicast:
        """A message of some nodes, which do not coordinate, to the coordinators of their turns."""
        to = self.node_of(c, s, nodes, self.coordinator(c, s.turn[nodes], nodes))
        return self.send(to, nodes, turn=s.turn[nodes], **fields)

    def enter(
        self, c: bsp.Cluster, s: State, nodes: NDArray, turn: NDArray
    ) -> Iterator[bsp.Unicast]:
        """Go on to a turn: tell its coordinator the estimate."""
        if not len(nodes):
            return
        s.turn[nodes] = turn
        s.proposed[nodes] = s.votes[nodes] = s.yes[nodes] = False
        leads = self.coordinator(c, turn, nodes) == s.rank[nodes]
        first, others = nodes[leads], nodes[~leads]
        self.count_anew(s, s.votes, first)
        s.newest[first], s.value[first] = s.stamp[first], s.estimate[first]
        held = {"stamp": s.stamp[others], "value": s.estimate[others]}
        yield self.tell_coordinator(c, s, others, kind=ESTIMATE, **held)
        yield from self.counted(c, s, first)

    def refuse(
        self, c: bsp.Cluster, s: State, nodes: NDArray, turn: NDArray
    ) -> Iterator[bsp.Unicast]:
        """Leave turns without taking over what is proposed."""
        follows = nodes[self.coordinator(c, s.turn[nodes], nodes) != s.rank[nodes]]
        yield self.tell_coordinator(c, s, follows, kind=REPLY)
        yield from self.enter(c, s, nodes, turn)

    def on_timer(self, c: bsp.Cluster, s: State, e: Events, timer: str) -> Iterator[bsp.Unicast]:
        yield self.beat(c, s, e)
        first = self.coordinator(c, s.turn[e.node], e.node)
        doubts = e.node[s.suspects[e.node, first]]
        yield from self.refuse(c, s, doubts, s.turn[doubts] + 1)

    def on_message(self, c: bsp.Cluster, s: State, e: Events) -> Iterator[bsp.Unicast]:
        self.hear(s, e, self.member(c, s, e))
        e = e.among(s.decision[e.node] < 0)
        told = e.among(e["kind"] == DECIDED)
        yield self.decide(c, s, told.node, told["value"])
        later = e.among((e["turn"] > s.turn[e.node]) & (e["kind"] != DECIDED))
        yield from self.refuse(c, s, later.node, later["turn"])
        e = e.among((e["turn"] == s.turn[e.node]) & (s.decision[e.node] < 0))
        takes = e.among(e["kind"] == PROPOSE)
        s.estimate[takes.node], s.stamp[takes.node] = takes["value"], takes["turn"]
        yield self.tell_coordinator(c, s, takes.node, kind=REPLY, yes=True)
        yield from self.enter(c, s, takes.node, takes["turn"] + 1)
        counts = e.among(e["kind"] == np.where(s.proposed[e.node], REPLY, ESTIMATE))
        nodes, member = counts.node, self.member(c, s, counts)
        s.votes[nodes, member] = True
        s.yes[nodes, member] = counts["yes"]
        newer = (counts["kind"] == ESTIMATE) & (counts["stamp"] > s.newest[nodes])
        s.newest[nodes[newer]] = counts["stamp"][newer]
        s.value[nodes[newer]] = counts["value"][newer]
        yield from self.counted(c, s, nodes)

    def counted(self, c: bsp.Cluster, s: State, nodes: NDArray) -> Iterator[bsp.Unicast]:
        """What coordinators do that may have heard a majority."""
        full = nodes[self.majority(c, s.votes, nodes)]
        over = full[s.proposed[full]]
        agreed = self.majority(c, s.yes, over)
        yield self.decide(c, s, over[agreed], s.value[over[agreed]])
        yield from self.enter(c, s, over[~agreed], s.turn[over[~agreed]] + 1)
        ready = full[~np.isin(full, over)]
        if not len(ready):
            return
        s.proposed[ready] = True
        for votes in (s.votes, s.yes):
            self.count_anew(s, votes, ready)
        s.estimate[ready], s.stamp[ready] = s.value[ready], s.turn[ready]
        yield self.tell(c, ready, kind=PROPOSE, turn=s.turn[ready], value=s.value[ready])
        yield from self.counted(c, s, ready[c.degree[ready] == 0])

    def decide(self, c: bsp.Cluster, s: State, nodes: NDArray, value: NDArray) -> bsp.Unicast:
        """Decide, and tell all others, which do the same."""
        s.decision[nodes] = value
        s.beats[nodes] = NEVER
        return self.tell(c, nodes, kind=DECIDED, value=value)
