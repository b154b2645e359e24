"""Single-decree Paxos (Lamport, The part-time parliament, TOCS 1998; Paxos made simple, SIGACT News 2001).

A node that proposes asks all for a promise to take nothing of a lower ballot. If a majority promises, it
proposes the value of the highest ballot that any of them has accepted, or its own input if there is none. A
value that a majority accepts is chosen. Each node is proposer, acceptor and learner.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.events.channel import NEVER
from dgsuite.kernels.events.group import Consensus, ConsensusState, per_member
from dgsuite.kernels.events.kernel import Events, timer

PREPARE, PROMISE, ACCEPT, ACCEPTED, DECIDED = range(5)
"""Kinds of messages."""

LONGEST = 5
"""How often patience doubles at most."""


@dataclass(eq=False)
class State(ConsensusState):
    """What the nodes of a cluster know."""

    # as an acceptor
    promised: NDArray[np.int64] = bsp.per_node(-1)  # takes nothing of a lower ballot
    ballot: NDArray[np.int64] = bsp.per_node(-1)  # of what it has accepted
    accepted: NDArray[np.int64] = bsp.per_node(-1)
    # as a proposer
    proposing: NDArray[np.int64] = bsp.per_node(-1)  # its ballot
    asking: NDArray[np.bool_] = bsp.per_node(False)  # for promises, else for acceptance
    votes: NDArray[np.bool_] = per_member(False, bool)
    highest: NDArray[np.int64] = bsp.per_node(-1)  # ballot of those that came with promises
    value: NDArray[np.int64] = bsp.per_node(-1)  # what it proposes
    attempts: NDArray[np.int64] = bsp.per_node(0)
    retry: NDArray[np.int64] = timer()


@dataclass(frozen=True)
class Paxos(Consensus):
    """Agreement of the nodes of a complete graph by ballots, although messages are late or lost.

    Nodes agree on the input of one of them. They may crash and come back.

    Outputs ``decision``, -1 for none, and ``input``. No two nodes decide differently, whatever the network
    does but lie. If it works well for long enough, and more than half of the nodes live, all of these decide.

    Parameters
    ----------
    inputs
        A whole number from 0 for each node; by default its node id.
    proposers
        How many nodes propose at the beginning; others do when they have waited in vain.
    patience
        Ticks after which a proposer begins again at the earliest; each time twice as many, up to 32 times.

    Notes
    -----
    Rounds: not limited: two proposers can stop each other for ever (Fischer, Lynch and Paterson 1985).

    Exchanges: at most ``rounds``.

    Messages: at least ``5 * (n - 1)`` if all nodes decide: for one ballot, of one proposer.

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite import genval
    >>> graph = genval.graph("cplt", 5)
    >>> slow = dgsuite.Network(delay=("uniform", 1, 6), loss=0.1, crashes={4: 3})
    >>> ds = dgsuite.run("paxos", graph, proposers=2, network=slow)
    >>> ds.decision.values[:4]
    array([1, 1, 1, 1])
    """

    proposers: int = 1
    patience: int = 20

    name = "paxos"
    fields = {"kind": np.int8, "ballot": np.int64, "accepted": np.int64, "value": np.int64}
    ranges = {"kind": bsp.values(5)}
    allowed = {"proposers": (1, np.inf), "patience": (1, 1 << 20)}
    state = State
    stable = ("promised", "ballot", "accepted")
    timers = ("retry",)

    def on_start(self, c: bsp.Cluster, s: State, e: Events) -> None:
        first = (s.rank[e.node] < self.proposers) & (e.tick == 0)
        later = self.draw(c, e, self.patience, 2 * self.patience)
        self.set_timer(c, s, e, "retry", np.where(first, 1, later))

    def on_timer(self, c: bsp.Cluster, s: State, e: Events, timer: str) -> Iterator[bsp.Unicast]:
        nodes, size = e.node, c.degree[e.node] + 1
        ballot = (s.promised[nodes] // size + 1) * size + s.rank[nodes]
        s.promised[nodes] = s.proposing[nodes] = ballot
        s.asking[nodes] = True
        self.count_anew(s, s.votes, nodes)
        s.highest[nodes] = s.ballot[nodes]
        s.value[nodes] = np.where(s.ballot[nodes] < 0, s.input[nodes], s.accepted[nodes])
        times = 1 << np.minimum(s.attempts[nodes], LONGEST)
        s.attempts[nodes] += 1
        self.set_timer(c, s, e, "retry", self.draw(c, e, self.patience, 2 * self.patience) * times)
        yield self.tell(c, nodes, kind=PREPARE, ballot=ballot)
        yield from self.counted(c, s, nodes)

    def on_message(self, c: bsp.Cluster, s: State, e: Events) -> Iterator[bsp.Unicast]:
        kind, ballot, promised = e["kind"], e["ballot"], s.promised[e.node]
        over = s.decision[e.node] >= 0
        knows = e.among(over & ((kind == PREPARE) | (kind == ACCEPT)))
        yield self.send(knows.src, knows.node, kind=DECIDED, value=s.decision[knows.node])
        told = e.among(~over & (kind == DECIDED))
        self.decide(s, told.node, told["value"])
        asked = e.among(~over & (kind == PREPARE) & (ballot > promised))
        s.promised[asked.node] = asked["ballot"]
        held = {"accepted": s.ballot[asked.node], "value": s.accepted[asked.node]}
        yield self.send(asked.src, asked.node, kind=PROMISE, ballot=asked["ballot"], **held)
        given = e.among(~over & (kind == ACCEPT) & (ballot >= promised))
        self.accept(s, given.node, given["ballot"], given["value"])
        yield self.send(given.src, given.node, kind=ACCEPTED, ballot=given["ballot"])
        mine = ~over & (ballot == s.proposing[e.node])
        answers = e.among(mine & (kind == np.where(s.asking[e.node], PROMISE, ACCEPTED)))
        nodes = answers.node
        s.votes[nodes, self.member(c, s, answers)] = True
        bound = s.asking[nodes] & (answers["accepted"] > s.highest[nodes])
        s.highest[nodes[bound]] = answers["accepted"][bound]
        s.value[nodes[bound]] = answers["value"][bound]
        yield from self.counted(c, s, nodes)

    def counted(self, c: bsp.Cluster, s: State, nodes: NDArray) -> Iterator[bsp.Unicast]:
        """What proposers do that may have the votes of a majority."""
        full = self.majority(c, s.votes, nodes)
        ready = nodes[full & s.asking[nodes]]
        s.asking[ready] = False
        s.votes[ready] = False
        # it may have promised another more since
        own = ready[s.promised[ready] <= s.proposing[ready]]
        self.count_anew(s, s.votes, own)
        self.accept(s, own, s.proposing[own], s.value[own])
        yield self.tell(c, ready, kind=ACCEPT, ballot=s.proposing[ready], value=s.value[ready])
        chosen = ready[self.majority(c, s.votes, ready)]
        chosen = np.append(nodes[full & ~np.isin(nodes, ready)], chosen)
        self.decide(s, chosen, s.value[chosen])
        yield self.tell(c, chosen, kind=DECIDED, value=s.value[chosen])

    def accept(self, s: State, nodes: NDArray, ballot: NDArray, value: NDArray) -> None:
        """Accept the values of ballots."""
        s.promised[nodes] = s.ballot[nodes] = ballot
        s.accepted[nodes] = value

    def decide(self, s: State, nodes: NDArray, value: NDArray) -> None:
        """Take a value as chosen."""
        s.decision[nodes] = value
        s.proposing[nodes] = -1
        s.retry[nodes] = NEVER
