"""What synchronisers have in common (Awerbuch 1985): pulses, and delays of what is sent in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.mixing import Domain, key
from dgsuite.base.ticks import Law
from dgsuite.kernels import bsp
from dgsuite.kernels.lab.delays import (
    LONGEST,
    Kind,
    as_rows,
    ends,
    greatest,
    longer,
    longest,
    own,
    ways,
    words,
    wrong_delay,
    wrong_late,
    wrong_weights,
)

MESSAGE, SAFE, GO = range(3)
"""What nodes send in a pulse. Each has delays of its own; an acknowledgement has the other half of the bits
of its message."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    time: NDArray[np.int64] = bsp.per_node(0)  # tick of what the node has done last


@dataclass(frozen=True)
class Synchroniser(bsp.Kernel):
    """Rounds of an algorithm, here pulses, on a network whose messages take time.

    In a pulse every node sends a message to each neighbour, which acknowledges it. A node that has all its
    acknowledgements is safe: its messages of the pulse have arrived.

    Parameters
    ----------
    rounds
        Pulses to work out, at least 1.
    delay
        How many ticks a message takes: a whole number; "uniform": from `low` to `high`, all alike;
        "geometric": until a trial of probability `p` succeeds, of which there is one a tick; "weight": the
        weight of the edge; or a function of senders, receivers and ticks at which they send, arrays of int64.
        Other delays are functions of the seed, the pulse, what is sent, and its two nodes.
    low
        Least uniform delay, from 0.
    high
        Greatest uniform delay, up to 2^31.
    p
        Probability of geometric delays, from 1e-7 to 1; their mean is 1/p.
    late
        What takes longer: rows of a pulse, a sender, a receiver or -1 for all, as node ids, and how many
        ticks. That holds of all that the one sends the other in the pulse: messages, acknowledgements, and
        what the synchroniser sends.
    """

    rounds: int = 1
    delay: Kind = 1
    low: int = 1
    high: int = 10
    p: float = 0.5
    late: Sequence[Any] = ()

    outputs = {"time": bsp.Output("tick at which the node has begun the pulse after the last")}
    peaks = {"pulse_time": "tick by which all nodes have begun the next pulse"}
    fields = {"time": np.int64}
    # a message says no more than that it is sent: when is what the kernel works out
    ranges = {"time": bsp.values(2)}  # a tick of a clock, whatever it shows
    bounds = {"time": None}
    both_ways = True

    def steps(self, n: int) -> int:
        """Messages at most, one after the other, that a pulse waits for."""
        raise NotImplementedError

    def check(self, c: bsp.Cluster) -> str | None:
        most = (1 << 62) // (2 * LONGEST * self.steps(c.n))  # a delay, and how much longer it takes
        if not 1 <= self.rounds <= most:
            return f"rounds must be from 1 to {most}, so that 64 bits hold times, got {self.rounds}"
        if wrong := wrong_delay(self.delay, self.low, self.high, self.p):
            return wrong
        if wrong := wrong_late(self.late, self.rounds, c.n):
            return wrong
        return wrong_weights(c) if self.delay == "weight" else None

    @property
    def law(self) -> Law:
        """The law of delays, besides the weights of edges and one's own functions."""
        assert not callable(self.delay)
        return Law.of(self.delay, self.low, self.high, self.p)

    def key(self, pulse: int, what: int) -> NDArray[np.uint64]:
        """Key of the delays of what is sent in a pulse."""
        return key(self.seed, pulse * 3 + what, Domain.DELAYS)

    @cached_property
    def longer(self) -> dict[int, NDArray[np.int64]]:
        """By pulse, the rows of `late`."""
        rows = as_rows(self.late).astype(np.int64)
        return {pulse: rows[rows[:, 0] == pulse] for pulse in np.unique(rows[:, 0]).tolist()}

    def drawn(self, pulse: int) -> bool:
        """Whether all delays of a pulse are by the law alone."""
        return self.delay != "weight" and not callable(self.delay) and pulse not in self.longer

    def ticks(
        self, c: bsp.Cluster, pulse: int, what: int, sent: NDArray[np.int64], inward: bool
    ) -> NDArray[np.int64]:
        """How long messages along all entries of the adjacency take: from nodes, or `inward`, to them.

        Parameters
        ----------
        sent
            When they are sent.
        """
        src, dst = ends(c)[:: -1 if inward else 1]
        if self.delay == "weight":
            found = ways(c)[inward]
        elif callable(self.delay):
            found = own(self.delay, src, dst, sent)
        else:
            word = words(c, self.key(pulse, what))
            answers = inward and what == MESSAGE
            found = self.law.ticks(word << np.uint64(32) if answers else word)
        return found + self.more(c, pulse, src, dst)

    def more(
        self, c: bsp.Cluster, pulse: int, src: NDArray, dst: NDArray
    ) -> NDArray[np.int64] | int:
        """How much longer messages of a pulse take, by sender and receiver."""
        return longer(self.longer[pulse], c.n, src, dst) if pulse in self.longer else 0

    def send(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        """The messages of the pulse."""
        return bsp.broadcast()

    def acknowledge(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        """All nodes answer all messages."""
        return bsp.broadcast()

    def wait(self, c: bsp.Cluster, s: State, pulse: int) -> None:
        """Nodes wait for their acknowledgements; then they are safe."""
        if self.drawn(pulse):
            found = longest(c, self.law, self.key(pulse, MESSAGE))
        else:
            found, sent = c.zeros(), s.time.repeat(c.degree)
            there = self.ticks(c, pulse, MESSAGE, sent, inward=False)
            back = self.ticks(c, pulse, MESSAGE, sent + there, inward=True)
            greatest(c, there + back, found)
        s.time = s.time + found
