"""What all nodes learn by flooding: consensus under crash failures, and a leader.

Consensus under crash failures by flooding sets (Lynch 1996, Distributed Algorithms, section 6.2.1:
FloodSet, and 6.2.2: OptFloodSet).

Every node keeps the set of the values that it has seen, at first its own, and tells all neighbours for f + 1
rounds. If at most f nodes crash, one of these rounds has no crash. On a complete graph all nodes that are
left have the same set after that round, and it no longer changes. A set is a word with a bit for each value.

Nodes may stop early (Dolev, Reischuk and Strong 1990, Early stopping in Byzantine agreement; in the form of
Raynal 2002, Consensus in synchronous systems: a concise guided tour). A node counts the messages of each
round. If there are as many as in the round before, no sender has crashed in between, and the node knows all
that any other does. It says so with its next message, and decides.

Leader election in general graphs by flooding (Lynch 1996, Distributed Algorithms, section 4.1: FloodMax
and OptFloodMax).

In each round nodes tell all neighbours the largest identifier that they have seen. After as many rounds as
the diameter all nodes have seen the largest one, and the node whose own it is leads. OptFloodMax tells only
what is new to the node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.lab.rumours import wrong_inputs
from dgsuite.kernels.tools.rng import uniform

MAX_VALUES = 64
"""Different values that fit a word."""


@dataclass(eq=False)
class SetState(bsp.ClusterState):
    """What the nodes of a cluster know."""

    input: NDArray[np.int64]
    seen: NDArray[np.uint64]  # values that the node has seen, a bit each
    other: NDArray[np.uint64]  # the value that it sends next as OptFloodSet
    decision: NDArray[np.int64] = bsp.per_node(-1)
    decided: NDArray[np.int32] = bsp.per_node(-1, np.int32)  # round
    telling: NDArray[np.int64] = bsp.every_node()
    heard: NDArray[np.int64] = bsp.initial(lambda c: c.degree.astype(np.int64))  # last round
    ready: NDArray[np.bool_] = bsp.per_node(False)  # knows all, and decides once it has said so


@dataclass(frozen=True)
class FloodSet(bsp.Kernel):
    """Consensus in f + 1 rounds on a complete graph of which at most f nodes crash.

    Outputs ``decision``, ``input`` and ``seen``: the node's value, and the values that it has seen, bit v for
    value v; and ``decided``, the round in which it decided, from 0. A node that has seen one value alone
    decides on it, and any other on `default`. So all that decide agree, and if all inputs are the same, they
    are the decision.

    Without crashes this holds for each component of any graph whose diameter is at most f + 1. With crashes
    it holds on complete graphs. Elsewhere nodes may disagree, as they may where the diameter is larger.

    Parameters
    ----------
    f
        Crashes to tolerate; it runs f + 1 rounds.
    inputs
        How many values there are, at most 64: each node draws its own, from 0 to ``inputs - 1``. Or the value
        of each node, from 0 to 63.
    default
        Decision of a node that has seen several values.
    early
        Stop early: after ``min(c + 2, f + 1)`` rounds if c nodes crash. The graph must be complete.
    opt
        As OptFloodSet: a node sends its own value, and the first other one that it sees, the smallest of
        several; nothing else matters for the decision. Not with `early`, which counts messages.

    Notes
    -----
    Rounds: at most ``f + 1``; exactly as many unless nodes stop early.

    Exchanges: at most ``rounds``.

    Messages: at most ``(f + 1) * arcs``; with `opt`, two for each node and neighbour.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 0])
    >>> ds = dgsuite.run("floodset", graph, inputs=[3, 3, 5], default=0)
    >>> ds.decision.values, ds.seen.values
    (array([0, 0, 0]), array([40, 40, 40], dtype=uint64))
    >>> dgsuite.run("floodset", graph, inputs=[3, 3, 3], f=9, early=True).decided.values
    array([1, 1, 1], dtype=int32)
    """

    f: int = 1
    inputs: int | Sequence[int] = 2
    default: int = 0
    early: bool = False
    opt: bool = False

    name = "floodset"
    obeys = bsp.Model("edges", reduces="control")
    streams = True
    outputs = {
        "decision": bsp.Output("value on which the node decides, -1 for none"),
        "input": bsp.Output("value of the node"),
        "seen": bsp.Output("values that it has seen, a bit each"),
        "decided": bsp.Output("round in which it decides, -1 for none"),
    }
    fields = {"word": np.uint64, "ready": np.bool_}
    allowed = {"f": (0, np.inf), "default": (0, MAX_VALUES - 1)}
    state = SetState

    @property
    def possible(self) -> int:
        """How many values there may be."""
        given = self.inputs
        return given if isinstance(given, int) else max(map(int, given)) + 1

    def bits(self, n: int) -> dict[str, int]:
        """A bit for each value that there may be; as OptFloodSet the number of one."""
        word = (self.possible - 1).bit_length() if self.opt else self.possible
        return super().bits(n) | {"word": word}

    def limits(self, n: int) -> dict[str, tuple[int, int] | None]:
        return super().limits(n) | {"word": (0, 2**self.possible - 1)}

    def check(self, c: bsp.Cluster) -> str | None:
        if self.early and self.opt:
            return "early counts messages, and opt leaves some out: give one of them"
        if self.early and (short := np.flatnonzero(c.degree < c.n - 1)).size:
            node, near = c.ids[short[0]], c.degree[short[0]]
            return f"early needs a complete graph, and node {node} has {near} neighbours instead of {c.n - 1}"
        if isinstance(self.inputs, int):
            if not 1 <= self.inputs <= MAX_VALUES:
                return f"inputs must be from 1 to {MAX_VALUES}, got {self.inputs}"
            return super().check(c)
        wrong = wrong_inputs(c, self.inputs, 0, MAX_VALUES - 1, f"0 to {MAX_VALUES - 1}")
        return wrong or super().check(c)

    def start(self, c: bsp.Cluster) -> SetState:
        if isinstance(self.inputs, int):
            own = (uniform("counter", self.seed, c.ids, 0) * self.inputs).astype(np.int64)
        else:
            own = np.asarray(self.inputs, np.int64)[c.ids]
        seen = np.uint64(1) << own.astype(np.uint64)
        return SetState.of(c, input=own, seen=seen, other=seen.copy())

    def program(self, net: bsp.Net) -> bsp.Program:
        for _ in range(self.f + 1):
            left = yield bsp.Round(self.tell, self.hear)
            if self.early and not left.any:
                return

    def tell(self, c: bsp.Cluster, s: SetState, inbox: bsp.Inbox) -> bsp.Broadcast:
        """Nodes without a decision tell; those that are ready decide."""
        nodes = s.telling
        word = (s.other if self.opt else s.seen)[nodes]
        if not self.early:
            return bsp.broadcast(nodes, word=word)
        ready = s.ready[nodes]
        self.decide(s, nodes[ready], inbox.round)
        s.telling = nodes[~ready]
        return bsp.broadcast(nodes, word=word, ready=ready)

    def hear(self, c: bsp.Cluster, s: SetState, inbox: bsp.Inbox) -> tuple[()] | bsp.Vote:
        nodes, words = inbox.reduce("or", "word")
        undecided = s.decision[nodes] < 0
        nodes, words = nodes[undecided], words[undecided]
        if self.opt:
            single = self.single(s, nodes)
            others = words & ~s.seen[nodes]
            news = single & (others > 0)
            s.telling = nodes[news]
            s.other[s.telling] = others[news] & (~others[news] + np.uint64(1))  # the lowest bit
        s.seen[nodes] |= words
        if inbox.round == self.f:
            self.decide(s, np.flatnonzero(s.decision < 0), self.f)
        if not self.early:
            return ()
        counted = c.zeros()
        some, count, _ = inbox.count()
        counted[some] = count
        s.ready |= counted == s.heard
        some, said = inbox.max("ready")
        s.ready[some] |= said
        s.heard = counted
        return bsp.vote(any=s.decision < 0)

    def single(self, s: SetState, nodes: NDArray) -> NDArray[np.bool_]:
        """Whether some nodes have seen no value but their own."""
        return s.seen[nodes] == np.uint64(1) << s.input[nodes].astype(np.uint64)

    def decide(self, s: SetState, nodes: NDArray, number: int) -> None:
        s.decision[nodes] = np.where(self.single(s, nodes), s.input[nodes], self.default)
        s.decided[nodes] = number


@dataclass(eq=False)
class MaxState(bsp.ClusterState):
    """What the nodes of a cluster know."""

    leader: NDArray[np.int64] = bsp.initial(lambda c: c.uid.copy())
    fresh: NDArray[np.int64] = bsp.every_node()  # nodes with news


@dataclass(frozen=True)
class FloodMax(bsp.Kernel):
    """The largest identifier of each component leads it, as all nodes learn by flooding.

    Outputs ``leader``, the largest identifier that the node has seen. The node that has it leads.

    Nodes may crash. On a complete graph all nodes that are left know the same leader after f + 1 rounds, if
    at most f crash, as in FloodSet (section 6.2). It may be one that has crashed: no node finds that out. On
    other graphs nodes may know different ones. Where messages are lost FloodMax says everything again in the
    next round, and OptFloodMax does not.

    Parameters
    ----------
    iterations
        Rounds, which nodes know: at least as many as the diameter. By default it runs until no node hears of
        a larger identifier, as the votes of the run tell, which are not messages.
    opt
        As OptFloodMax: nodes tell what they know only if it is new to them.

    Notes
    -----
    Rounds: at most ``iterations``, by default ``diameter + 1``.

    Exchanges: at most ``rounds``.

    Messages: at most ``2 * m * rounds``; exactly as many unless with `opt`.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3], uid=[7, 1, 2, 3])
    >>> dgsuite.run("floodmax", graph).leader.values
    array([7, 7, 7, 7])
    >>> dgsuite.run("floodmax", graph, iterations=2).leader.values
    array([7, 7, 7, 3])
    >>> [int(dgsuite.run("floodmax", graph, opt=opt).messages.sum()) for opt in (False, True)]
    [24, 13]
    """

    iterations: int | None = None
    opt: bool = False

    name = "floodmax"
    obeys = bsp.Model("edges", reduces="control")
    streams = True
    outputs = {"leader": bsp.Output("largest identifier that the node has seen", identifiers=True)}
    fields = {"uid": np.int64}
    ranges = {"uid": bsp.nodes}
    bounds = {"uid": None}
    allowed = {"iterations": (0, np.inf)}
    state = MaxState

    def program(self, net: bsp.Net) -> bsp.Program:
        if self.iterations is None:
            yield from bsp.until_quiet(self.tell, self.learn)
        for _ in range(self.iterations or 0):
            yield bsp.Round(self.tell, self.learn)

    def tell(self, c: bsp.Cluster, s: MaxState, inbox: bsp.Inbox) -> bsp.Broadcast:
        nodes = s.fresh if self.opt else np.arange(c.size)
        return bsp.broadcast(nodes, uid=s.leader[nodes])

    def learn(self, c: bsp.Cluster, s: MaxState, inbox: bsp.Inbox) -> bsp.Vote:
        nodes, uid = inbox.max("uid")
        larger = uid > s.leader[nodes]
        s.fresh = nodes[larger]
        s.leader[s.fresh] = uid[larger]
        return bsp.vote(any=len(s.fresh) > 0)
