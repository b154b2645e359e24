"""Rumours, averages and a snapshot, by calls to random neighbours.

Rumours that spread by calls to random neighbours (Karp, Schindelhauer, Shenker and Voecking 2000,
Randomized rumor spreading; Demers et al. 1987, Epidemic algorithms for replicated database maintenance).

In each round a node calls a neighbour, each with the same probability. A caller that knows the rumour pushes
it to the node that it calls; one that does not pulls it from there. A node that hears of it in a round passes
it on from the next round on.

The average of values by calls to random neighbours (Kempe, Dobra and Gehrke 2003, Gossip-based computation
of aggregate information: Push-Sum).

A node has a mass, at first its value, and a weight, at first 1. In each round it keeps half of both, sends
the other half to a random neighbour, and adds what it gets. No mass is lost, so that mass by weight tends to
the average at all nodes.

A consistent snapshot of a computation that goes on (Chandy and Lamport 1985, Distributed snapshots:
determining global states of distributed systems; Lynch 1996, Distributed Algorithms, section 19.2; Tel 2000,
chapter 10).

Nodes hold money, and in each round a node sends some of its own to a random neighbour. Messages arrive in the
next round, in the order in which they were sent.

The root records how much it has, and at once sends a marker along each edge, before anything else. A node
that gets its first marker does the same. What then comes along an edge before the marker does was on its way
at the snapshot: the node adds it up. When it has a marker from each neighbour its part is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.bsp.messages import Range
from dgsuite.kernels.tools.rng import uniform


def called(c: bsp.Cluster, nodes: NDArray, seed: int, number: int) -> NDArray:
    """A neighbour of each of some nodes, each with the same probability.

    Parameters
    ----------
    nodes
        Local indices of nodes that have neighbours.
    seed, number
        Of the run, and of the round.

    Examples
    --------
    >>> import numpy as np
    >>> from dgsuite import Graph
    >>> from dgsuite.kernels.lab.rumours import called
    >>> (c,) = Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], clusters=1).gather()
    >>> called(c, np.array([0, 3]), 101, 0), called(c, np.array([0, 3]), 101, 1)
    (array([1, 2], dtype=int32), array([2, 2], dtype=int32))
    """
    luck = uniform("counter", seed, c.ids[nodes], number)
    return c.indices[c.indptr[nodes] + (luck * c.degree[nodes]).astype(np.int64)]


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    informed: NDArray[np.int32] = bsp.per_node(-1, np.int32)


@dataclass(frozen=True)
class Gossip(bsp.Kernel):
    """How a rumour gets around by calls to random neighbours; on a connected graph.

    Outputs ``informed``: the number of rounds after which the node knows the rumour, 0 at the root. The run
    ends when all nodes know it. No node finds that out: the votes of the run, which are not messages, say it.
    Where a node has crashed before it knows, the run goes on to `max_rounds`.

    Parameters
    ----------
    root
        The node that knows the rumour first.
    mode
        "push": nodes that know it call. "pull": nodes that do not know it call. "push-pull": all call.

    Notes
    -----
    Rounds: no bound that holds for each seed. On a complete graph "push" takes about ``log2(n) + ln(n)``
    (Pittel 1987, On spreading a rumor), and "push-pull" O(log log n) more than ``log3(n)`` (Karp et al.).

    Exchanges: at most ``2 * rounds``.

    Messages: at most ``2 * n * rounds``: a call, and an answer to a call that asks for the rumour.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4])
    >>> dgsuite.run("gossip", graph, root=1).informed.values
    array([1, 0, 2, 2, 2], dtype=int32)
    >>> dgsuite.run("gossip", graph, root=0, mode="push").informed.values
    array([0, 1, 8, 4, 2], dtype=int32)
    """

    root: bsp.Node = bsp.FIRST
    mode: Literal["push", "pull", "push-pull"] = "push-pull"

    name = "gossip"
    obeys = bsp.Model("edges", reduces="control")
    streams = True
    outputs = {"informed": bsp.Output("rounds after which it knows the rumour, -1 if it does not")}
    fields = {"knows": np.bool_}
    needs = ("connected",)
    state = State

    def start(self, c: bsp.Cluster) -> State:
        state = State.of(c)
        state.informed[c.local(self.root)] = 0
        return state

    def program(self, net: bsp.Net) -> bsp.Program:
        if net.n > 1:
            answered = () if self.mode == "push" else (self.answer,)
            yield from bsp.until_quiet(self.call, *answered, self.hear)

    def call(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        knows = s.informed >= 0
        calls = {"push": knows, "pull": ~knows, "push-pull": knows | True}[self.mode]
        callers = np.flatnonzero(calls & (c.degree > 0))
        to = called(c, callers, self.seed, inbox.round)
        return bsp.unicast(to, callers, knows=knows[callers])

    def answer(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        """Nodes that knew before this round tell those that ask; others hear of it from callers that know."""
        node, knows = inbox.node, inbox["knows"]
        asked = ~knows & (s.informed[node] >= 0)
        self.learn(s, node[knows], inbox.round)
        return bsp.unicast(inbox.src[asked], node[asked], knows=True)

    def hear(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        self.learn(s, inbox.receivers(), inbox.round)
        return bsp.vote(any=s.informed < 0)

    def learn(self, s: State, nodes: NDArray, number: int) -> None:
        s.informed[nodes[s.informed[nodes] < 0]] = number + 1


def wrong_inputs(
    c: bsp.Cluster, inputs: Sequence[float], least: float, most: float, between: str
) -> str | None:
    """What is wrong with inputs that have one value for each node, if anything."""
    if len(inputs) != c.n:
        return f"inputs must have one for each of {c.n} nodes, got {len(inputs)}"
    given = np.asarray(inputs)[c.ids]
    if (wrong := np.flatnonzero(~((given >= least) & (given <= most)))).size:
        return f"inputs must be from {between}, got {given[wrong[0]]} for node {c.ids[wrong[0]]}"
    return None


GREATEST = 2.0**900
"""Largest value, of which sums are finite."""


@dataclass(eq=False)
class MassState(bsp.ClusterState):
    """What the nodes of a cluster know."""

    input: NDArray[np.float64]
    mass: NDArray[np.float64]
    average: NDArray[np.float64]
    weight: NDArray[np.float64] = bsp.per_node(1.0)


@dataclass(frozen=True)
class PushSum(bsp.Kernel):
    """Averages by calls to random neighbours; on a connected graph.

    Outputs ``average``, each node's estimate of the average of all values; ``mass`` and ``weight``, whose
    quotient it is; and ``input``, the value of each node; float64. In each round masses add up to the sum of
    all values, to within rounding, and weights to n: sums are taken by ascending sender, so that all have the
    same bits on any cut.

    The run ends when estimates are close together. No node finds that out: the votes of the run, which are
    not messages, say it. A message that is lost takes its mass along.

    Parameters
    ----------
    inputs
        The value of each node, at most 2^900; by default its degree.
    tolerance
        Stop when no two estimates differ by more than the largest absolute value times this.
    iterations
        Rounds at most.

    Notes
    -----
    Rounds: at most ``iterations``. On a complete graph O(log n + log(1 / tolerance)) are enough with high
    probability (Kempe et al.).

    Exchanges: at most ``rounds``.

    Messages: at most ``n * rounds``: each node sends one in each round.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 0])
    >>> ds = dgsuite.run("push_sum", graph, inputs=[1.0, 2.0, 6.0], tolerance=0.01)
    >>> ds.average.values.round(2)
    array([3., 3., 3.])
    >>> float(ds.mass.sum())
    9.0
    """

    inputs: Sequence[float] | None = None
    tolerance: float = 1e-6
    iterations: int = 1000

    name = "push_sum"
    obeys = bsp.Model("edges", reduces="data")
    streams = True
    outputs = {
        "average": bsp.Output("estimate of the average"),
        "mass": bsp.Output("share of the sum of all values"),
        "weight": bsp.Output("share of the number of nodes"),
        "input": bsp.Output("value of the node"),
    }
    fields = {"mass": np.float64, "weight": np.float64}
    needs = ("connected",)
    allowed = {"tolerance": (0, np.inf), "iterations": (1, np.inf)}
    state = MassState

    def check(self, c: bsp.Cluster) -> str | None:
        if self.inputs is None:
            return super().check(c)
        wrong = wrong_inputs(c, self.inputs, -GREATEST, GREATEST, "-2^900 to 2^900")
        return wrong or super().check(c)

    def start(self, c: bsp.Cluster) -> MassState:
        given = c.degree if self.inputs is None else np.asarray(self.inputs)[c.ids]
        own = given.astype(np.float64)
        return MassState.of(c, input=own, mass=own.copy(), average=own.copy())

    def program(self, net: bsp.Net) -> bsp.Program:
        largest = yield bsp.Round(self.measure, opening=True)
        for _ in range(self.iterations):
            reply = yield bsp.Round(self.push, self.add)
            if net.n and reply.max - reply.min <= self.tolerance * largest.max:
                return

    def measure(self, c: bsp.Cluster, s: MassState, inbox: bsp.Inbox) -> bsp.Vote:
        return bsp.vote(max=np.abs(s.input))

    def push(self, c: bsp.Cluster, s: MassState, inbox: bsp.Inbox) -> bsp.Unicast:
        nodes = np.flatnonzero(c.degree > 0)
        s.mass[nodes] /= 2
        s.weight[nodes] /= 2
        to = called(c, nodes, self.seed, inbox.round)
        return bsp.unicast(to, nodes, mass=s.mass[nodes], weight=s.weight[nodes])

    def add(self, c: bsp.Cluster, s: MassState, inbox: bsp.Inbox) -> bsp.Vote:
        s.mass += inbox.totals("mass")
        s.weight += inbox.totals("weight")
        np.divide(s.mass, s.weight, out=s.average, where=s.weight > 0)  # it may underflow
        return bsp.vote(min=s.average, max=s.average)


MARKER = 0
"""What a marker says; payments are at least 1."""

MAX_MONEY = 1 << 31
"""Money that a node may hold at first."""


@dataclass(eq=False)
class MoneyState(bsp.ClusterState):
    """What the nodes of a cluster know."""

    input: NDArray[np.int64]
    money: NDArray[np.int64]
    recorded: NDArray[np.int64] = bsp.per_node(-1)
    in_transit: NDArray[np.int64] = bsp.per_node()
    when: NDArray[np.int64] = bsp.per_node(-1)
    done: NDArray[np.bool_] = bsp.per_node(False)
    missing: NDArray[np.int64] = bsp.initial(lambda c: c.degree.astype(np.int64))  # markers
    marked: NDArray[np.bool_] = bsp.initial(lambda c: np.zeros(len(c.indices), bool))  # by edge


@dataclass(frozen=True)
class Snapshot(bsp.Kernel):
    """A snapshot of money that nodes send each other, in which none is missing or counted twice.

    Outputs ``recorded``, the node's money at the snapshot; ``in_transit``, what was then on its way to it;
    ``when``, the round in which it recorded; and ``done``, whether it knows that its part is complete. Of
    nodes that the root does not reach these are -1, 0, -1 and false. ``input`` is what the node had at first.

    Where markers are lost or nodes crash, some nodes are never done. If all are, no money is counted twice,
    and only what was lost is missing.

    Parameters
    ----------
    root
        The node that begins.
    inputs
        Money of each node at first, up to 2^31: the same for all, or one for each.
    after
        Rounds before the root records.

    Notes
    -----
    Rounds: exactly ``after + hops + 2``: markers reach the farthest nodes, and these hear from each other.

    Exchanges: at most ``rounds``.

    Messages: at most ``2 * m + n * rounds``; of these one marker along each edge of the root's component
    each way, and the others are payments.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> ds = dgsuite.run("snapshot", graph, inputs=25)
    >>> ds.recorded.values, ds.in_transit.values, int(ds.recorded.sum() + ds.in_transit.sum())
    (array([ 7, 11, 44,  6]), array([30,  0,  2,  0]), 100)
    """

    root: bsp.Node = bsp.FIRST
    inputs: int | Sequence[int] = 100
    after: int = 4

    name = "snapshot"
    obeys = bsp.Model("edges", None, "control")
    outputs = {
        "input": bsp.Output("money of the node at first"),
        "recorded": bsp.Output("money of the node at the snapshot, -1 for none"),
        "in_transit": bsp.Output("money on its way to the node at the snapshot"),
        "when": bsp.Output("round in which the node recorded, -1 for none"),
        "done": bsp.Output("whether the node's part is complete, as it knows"),
    }
    fields = {"amount": np.int64}
    state = MoneyState
    refuses = {"recovery": bsp.KEEPS_LISTS}

    @property
    def ranges(self) -> dict[str, Range]:  # type: ignore[override]
        """Payments are at most all the money."""
        given = self.inputs
        return {"amount": lambda n: 1 + (given * n if isinstance(given, int) else sum(given))}

    def check(self, c: bsp.Cluster) -> str | None:
        given = np.asarray(self.inputs)
        if given.ndim and len(given) != c.n:
            return f"inputs must have one for each of {c.n} nodes, got {len(given)}"
        if given.size and (given.min() < 0 or given.max() > MAX_MONEY):
            return f"inputs must be from 0 to 2^31, got {given.min()} to {given.max()}"
        return f"after must be at least 0, got {self.after}" if self.after < 0 else None

    def start(self, c: bsp.Cluster) -> MoneyState:
        given = np.asarray(self.inputs, np.int64)
        own = given[c.ids] if given.ndim else c.full(int(given))
        return MoneyState.of(c, input=own, money=own.copy())

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from bsp.until_quiet(self.act)

    def act(self, c: bsp.Cluster, s: MoneyState, inbox: bsp.Inbox) -> tuple[bsp.Unicast, bsp.Vote]:
        now, node, amount = inbox.round, inbox.node, inbox["amount"]
        entry = c.entries(node, inbox.src)

        # markers, which were sent before payments of the same round
        marker = amount == MARKER
        s.marked[entry[marker]] = True
        np.subtract.at(s.missing, node[marker], 1)
        begin = c.zeros(bool)
        begin[node[marker]] = True
        if now == self.after:
            begin[c.local(self.root)] = True
        new = np.flatnonzero(begin & (s.when < 0))
        s.recorded[new], s.when[new] = s.money[new], now
        s.done = (s.when >= 0) & (s.missing == 0)

        # payments
        node, amount, entry = node[~marker], amount[~marker], entry[~marker]
        late = (s.when[node] >= 0) & ~s.marked[entry]
        np.add.at(s.in_transit, node[late], amount[late])
        np.add.at(s.money, node, amount)
        luck = uniform("counter", self.seed, c.ids, 2 * now)
        paid = (luck * (s.money + 1)).astype(np.int64)
        paid[c.degree == 0] = 0
        payers = np.flatnonzero(paid)
        s.money[payers] -= paid[payers]

        at, ends = c.edges(new)
        sent = bsp.unicast(
            np.append(ends, called(c, payers, self.seed, 2 * now + 1)),
            np.append(new[at], payers),
            amount=np.append(np.full(len(at), MARKER), paid[payers]),
        )
        return sent, bsp.vote(any=now < self.after or len(new) > 0)
