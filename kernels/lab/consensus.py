"""Consensus of nodes of which some crash.

The phase king (Berman, Garay and Perry, Towards optimal distributed consensus, FOCS 1989; Attiya and
Welch, Distributed Computing, 2004, section 5.2.5): binary consensus although some nodes lie.

In each phase all nodes tell their preference, and then a king, another node in each phase, the majority that
it has seen. A node keeps its own majority if more than n / 2 + f nodes share it, and else takes the king's.
In one of f + 1 phases the king does not lie; all then prefer the same, and go on to do so.

Randomised binary consensus (Ben-Or, Another advantage of free choice, PODC 1983, protocols A and B; Lynch,
Distributed Algorithms, 1996, section 21.3, proves a variant), in synchronous rounds on a complete graph.

A phase has two exchanges. Nodes report their values; a node that sees enough reports of one value proposes
it. A node that gets a few proposals of a value adopts it, and with enough of them decides on it; without any
it tosses a coin. A node that has decided takes part in one more phase, by the end of which all have decided.
A node that hears fewer than n - f nodes, itself included, waits for ever, as it would without rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.tools.rng import uniform

INPUT = 0
"""Draw of the inputs; others are from 1 on."""


@dataclass(frozen=True)
class BinaryConsensus(bsp.Kernel):
    """A kernel of a complete graph whose nodes begin with 0 or 1, ``input`` and ``value`` of the state."""

    f: int | None = None
    inputs: Sequence[int] | None = None
    ones: float = 0.5

    needs = ("complete",)
    allowed = {"ones": (0, 1)}

    def most(self, n: int) -> int:
        """How many of n nodes may fail."""
        raise NotImplementedError

    def failing(self, n: int) -> int:
        """How many nodes are to be reckoned with."""
        return self.most(n) if self.f is None else self.f

    def check(self, c: bsp.Cluster) -> str | None:
        given, most = self.inputs, self.most(c.n)
        if given is not None and (len(given) != c.n or not np.isin(given, (0, 1)).all()):
            return f"inputs must be 0 or 1 for each of {c.n} nodes"
        if not 0 <= self.failing(c.n) <= most:
            return f"f must be from 0 to {most}, as many of {c.n} nodes as may fail, got {self.f}"
        return super().check(c)

    def start(self, c: bsp.Cluster) -> Any:
        if self.inputs is None:
            given = uniform("counter", self.seed, c.ids, INPUT) < self.ones
        else:
            given = np.asarray(self.inputs)[c.ids]
        return self.state.of(c, input=given.astype(np.int8), value=given.astype(np.int8))


@dataclass(eq=False)
class KingState(bsp.ClusterState):
    """What the nodes of a cluster know."""

    input: NDArray[np.int8]
    value: NDArray[np.int8]  # preference
    majority: NDArray[np.int8] = bsp.per_node(0, np.int8)
    multiplicity: NDArray[np.int64] = bsp.per_node(0)  # nodes that prefer what the majority does
    decision: NDArray[np.int8] = bsp.per_node(-1, np.int8)


class PhaseKing(BinaryConsensus):
    """Agreement on one of two values on a complete graph, although f nodes lie, n > 4 f.

    Outputs ``decision`` and ``input``. All nodes that do not fail decide alike, and on their input if they
    all have the same. Nodes 0 to f are the kings. A message that is missing counts as 0.

    Parameters
    ----------
    f
        Nodes that may fail; by default as many as are allowed.
    inputs
        0 or 1 for each node; by default drawn by seed.
    ones
        Share of the nodes whose input is 1, on average, where inputs are drawn.

    Notes
    -----
    Rounds: exactly ``f + 1``: a round is a phase.

    Exchanges: at most ``2 * rounds``.

    Messages: exactly ``(f + 1) * (n * n - 1)``.

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite import genval
    >>> graph = genval.graph("cplt", 9)
    >>> liars = dgsuite.Network(byzantine=dgsuite.Byzantine([0, 5]))
    >>> ds = dgsuite.run("phase_king", graph, inputs=[0, 1, 1, 0, 1, 0, 1, 1, 0], network=liars)
    >>> ds.decision.values, ds.sizes["round"]
    (array([1, 1, 1, 1, 1, 1, 1, 1, 1], dtype=int8), 3)
    """

    name = "phase_king"
    obeys = bsp.Model("edges")
    outputs = {
        "decision": bsp.Output("what the node decided"),
        "input": bsp.Output("what the node held at first"),
    }
    fields = {"value": np.int8}
    ranges = {"value": bsp.values(2)}
    state = KingState

    def most(self, n: int) -> int:
        return (n - 1) // 4

    def program(self, net: bsp.Net) -> bsp.Program:
        for phase in range(self.failing(net.n) + 1):
            yield bsp.Round(self.tell, self.reign, self.follow, phase=phase)
        yield bsp.Round(self.decide, closing=True)

    def tell(self, c: bsp.Cluster, s: KingState, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(value=s.value)

    def reign(self, c: bsp.Cluster, s: KingState, inbox: bsp.Inbox, phase: int) -> bsp.Broadcast:
        ones = inbox.totals("value") + s.value
        s.majority = (2 * ones > c.n).astype(np.int8)
        s.multiplicity = np.maximum(ones, c.n - ones)
        king = c.local(phase)
        return bsp.broadcast(king, value=s.majority[king])

    def follow(self, c: bsp.Cluster, s: KingState, inbox: bsp.Inbox, phase: int) -> None:
        said, king = c.zeros(np.int8), c.local(phase)
        nodes, values = inbox.max("value")
        said[nodes] = values
        said[king] = s.majority[king]
        sure = 2 * s.multiplicity > c.n + 2 * self.failing(c.n)
        s.value = np.where(sure, s.majority, said)

    def decide(self, c: bsp.Cluster, s: KingState, inbox: bsp.Inbox) -> None:
        s.decision = s.value.copy()


NOTHING = -1
"""What a node proposes that has not seen enough reports of a value."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    input: NDArray[np.int8]
    value: NDArray[np.int8]  # present opinion
    proposal: NDArray[np.int8] = bsp.per_node(NOTHING, np.int8)
    decision: NDArray[np.int8] = bsp.per_node(NOTHING, np.int8)
    decided: NDArray[np.int64] = bsp.per_node(-1)
    active: NDArray[np.bool_] = bsp.per_node(True)  # takes part: neither done nor waiting


@dataclass(frozen=True)
class BenOr(BinaryConsensus):
    """Agreement on one of two values, although some nodes fail, with coins of their own.

    Outputs ``decision`` (0, 1, or -1 where there is none), ``input``, and ``decided``, the round of the
    decision, -1 for never. Nodes that do not fail decide alike, and on their input if they all have the same;
    then in the first round. A round is a phase. If more than f nodes crash the others may wait, but never
    disagree.

    Parameters
    ----------
    f
        Nodes that may fail; by default as many as the model allows.
    model
        How they fail: by "crash", n > 2 f, or as "byzantine" nodes, n > 5 f.
    inputs
        0 or 1 for each node; by default drawn by seed.
    ones
        Share of the nodes whose input is 1, on average, where inputs are drawn.

    Notes
    -----
    Rounds: an expected constant number, if f is of the order of the square root of n. By default f is as
    large as the model allows; up to ``2 ** n`` are then expected, if an adversary schedules messages. Where
    all are heard a tie alone makes coins necessary.

    Exchanges: at most ``2 * rounds``.

    Messages: at most ``2 * n * (n - 1) * rounds``: each node tells all others in both exchanges.

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite import genval
    >>> graph = genval.graph("cplt", 7)
    >>> ds = dgsuite.run("benor", graph, inputs=[0, 1, 1, 0, 1, 0, 1])
    >>> ds.decision.values, ds.decided.values
    (array([1, 1, 1, 1, 1, 1, 1], dtype=int8), array([0, 0, 0, 0, 0, 0, 0]))
    """

    model: Literal["crash", "byzantine"] = "crash"

    name = "benor"
    obeys = bsp.Model("edges", reduces="control")
    outputs = {
        "decision": bsp.Output("what the node decided, -1 if it did not"),
        "input": bsp.Output("what the node held at first"),
        "decided": bsp.Output("round in which the node decided, -1 if it did not"),
    }
    fields = {"zero": np.int8, "one": np.int8}
    ranges = {"zero": bsp.values(2), "one": bsp.values(2)}
    state = State

    def most(self, n: int) -> int:
        return (n - 1) // (2 if self.model == "crash" else 5)

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from bsp.until_quiet(self.report, self.propose, self.decide)

    def report(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        return self.say(s, s.value)

    def propose(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        """Propose what more than half of the nodes report, or with traitors half of n + f."""
        most, count = self.heard(c, s, s.value, inbox)
        bound = c.n if self.model == "crash" else c.n + self.failing(c.n)
        s.proposal = np.where(2 * count > bound, most, NOTHING).astype(np.int8)
        return self.say(s, s.proposal)

    def decide(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        """Adopt a value that a node proposes which does not fail; decide if so many do that all see one."""
        most, count = self.heard(c, s, s.proposal, inbox)
        f = self.failing(c.n)
        adopt = count > (0 if self.model == "crash" else f)
        sure = count > f if self.model == "crash" else 2 * count > c.n + f
        coin = uniform("counter", self.seed, c.ids, inbox.round + 1) < 0.5
        s.value = np.where(adopt, most, coin).astype(np.int8)
        now = sure & s.active & (s.decided < 0)
        s.decision[now], s.decided[now] = most[now], inbox.round
        s.active &= (s.decided < 0) | now
        return bsp.vote(any=s.active)

    def say(self, s: State, what: NDArray[np.int8]) -> bsp.Broadcast:
        nodes = np.flatnonzero(s.active)
        return bsp.broadcast(nodes, zero=what[nodes] == 0, one=what[nodes] == 1)

    def heard(
        self, c: bsp.Cluster, s: State, own: NDArray[np.int8], inbox: bsp.Inbox
    ) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
        """What each node has heard most, itself included, and how often; too few messages make it wait."""
        messages = c.full(1)
        nodes, others, _ = inbox.count()
        messages[nodes] += others
        s.active &= messages >= c.n - self.failing(c.n)
        zeros = inbox.totals("zero") + (own == 0)
        ones = inbox.totals("one") + (own == 1)
        return (ones > zeros).astype(np.int8), np.maximum(zeros, ones)
