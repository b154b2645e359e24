"""Leader election on a general graph (Peleg 1990; IMSuite leader_elect_dp).

In each pulse all tell their neighbours the largest identifier they know, and how far they know it to
have come. Whoever hears no larger identifier than its own, and of no greater distance for two
pulses, leads; it says so, and the word to stop spreads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernels.base import (
    Broadcast,
    Inbox,
    Kernel,
    Net,
    Output,
    Program,
    Round,
    State,
    Vote,
    broadcast,
    vote,
)
from partition.cluster import Cluster, NodeSet

DISTANCE = 31
"""Bits for a distance; above them stands the identifier, so that the larger word is the larger
identifier, and of equal ones that from farther away."""


def word(uid: NDArray, distance: NDArray) -> NDArray[np.int64]:
    """Identifier and distance as one number."""
    return (uid << DISTANCE) | distance


@dataclass(frozen=True)
class PelegLeader(Kernel):
    """Leader election on a connected graph with identifiers 0 to 2^32 - 1.

    Outputs ``leader``, the identifier of the leader as each node knows it.

    Parameters
    ----------
    faithful
        At the end send the leader's name through the whole graph, though all know it.
    """

    name = "dp"
    outputs = {"leader": Output("identifier of the elected leader", identifiers=True)}
    fields = {"word": np.int64}
    needs = ("connected",)

    def check(self, c: Cluster) -> str | None:
        wrong = np.flatnonzero((c.uid < 0) | (c.uid >= 1 << 32))
        if len(wrong):
            return f"identifier {c.uid[wrong[0]]} of node {c.ids[wrong[0]]} is not 0 to 2^32 - 1"
        return None

    def program(self, net: Net) -> Program:
        waiting = yield Round(self.tell, self.compare, self.stop)
        while waiting.any:
            waiting = yield Round(self.tell, self.compare, self.stop)
        if self.faithful:
            fresh = yield Round(self.proclaim, closing=True)
            while fresh.any:
                fresh = yield Round(self.pass_on, closing=True)

    def start(self, c: Cluster) -> State:
        return State(
            leader=c.uid.copy(),
            distance=c.zeros(),
            heard=c.full(-1),
            young=c.zeros(bool),
            quiet=c.zeros(np.int32),
            running=NodeSet(c.full(True, bool)),
            stopping=np.empty(0, np.int64),
            ignorant=NodeSet(c.full(True, bool)),
        )

    def tell(self, c: Cluster, s: State, inbox: Inbox) -> Broadcast:
        # those who heard the word to stop stop
        s.stopping = inbox.receivers(among=s.running)
        nodes = s.running.nodes
        heard = np.where(s.heard[nodes] < 0, 0, s.heard[nodes] & ((1 << DISTANCE) - 1))
        return broadcast(nodes, word=word(s.leader[nodes], np.maximum(s.distance[nodes], heard)))

    def compare(self, c: Cluster, s: State, inbox: Inbox) -> None:
        nodes, words = inbox.max("word", among=s.running)
        s.heard[nodes] = np.maximum(s.heard[nodes], words)
        alone = s.running.mask.copy()
        alone[nodes] = False
        listening = s.running.mask.copy()
        listening[s.stopping] = False
        nodes = np.flatnonzero(listening & (s.heard >= 0))
        uid, distance = s.heard[nodes] >> DISTANCE, s.heard[nodes] & ((1 << DISTANCE) - 1)

        larger = uid > s.leader[nodes]
        new = nodes[larger]
        s.leader[new] = uid[larger]
        s.young[new] = True
        s.distance[new] = inbox.round + 1

        own = ~larger & ~s.young[nodes]
        candidates, uid, distance = nodes[own], uid[own], distance[own]
        beaten = uid < s.leader[candidates]
        farther = ~beaten & (distance > s.distance[candidates])
        s.quiet[candidates[beaten]] = 1
        s.distance[candidates[farther]] = distance[farther]
        s.quiet[candidates[farther]] = 0
        s.quiet[candidates[~beaten & ~farther]] += 1
        done = candidates[~beaten & ~farther & (s.quiet[candidates] >= 2)]
        # a node without neighbours leads itself
        s.stopping = np.union1d(
            s.stopping, np.union1d(done, np.flatnonzero(alone & (c.degree == 0)))
        )

    def stop(self, c: Cluster, s: State, inbox: Inbox) -> tuple[Broadcast, Vote]:
        s.running.remove(s.stopping)
        last = vote(any=s.running.count)
        return broadcast(s.stopping), last

    def proclaim(self, c: Cluster, s: State, inbox: Inbox) -> tuple[Broadcast, Vote]:
        return self.spread(s, np.flatnonzero(s.leader == c.uid))

    def pass_on(self, c: Cluster, s: State, inbox: Inbox) -> tuple[Broadcast, Vote]:
        return self.spread(s, inbox.receivers(among=s.ignorant))

    def spread(self, s: State, nodes: NDArray) -> tuple[Broadcast, Vote]:
        s.ignorant.remove(nodes)
        return broadcast(nodes), vote(any=len(nodes))
