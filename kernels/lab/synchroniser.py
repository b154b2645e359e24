"""What synchronisers have in common (Awerbuch 1985): pulses, and delays of what is sent in them.

The synchroniser alpha (Awerbuch 1985; Peleg 2000, section 6.3; Lynch 1996, section 16.4).

A node that is safe tells its neighbours. It begins the next pulse when it and all its neighbours are safe:
then no message of the pulse is still on its way to it.

The synchroniser beta (Awerbuch 1985; Peleg 2000, section 6.3; Lynch 1996, section 16.4).

The root of a spanning tree learns by way of the tree that all nodes are safe, and has them begin the next
pulse.
"""

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
from dgsuite.kernels.lab import delays
from dgsuite.kernels.tools.rng import paired
from dgsuite.kernels.tools.tree import Children

MESSAGE, SAFE, GO = range(3)
"""What nodes send in a pulse. Each has delays of its own; an acknowledgement has the other half of the bits
of its message."""


Sent = tuple[bsp.Unicast | bsp.Broadcast, bsp.Vote]
"""What nodes send, and a vote."""


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
    delay: delays.Kind = 1
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
        longest = 2 * delays.LONGEST  # a delay, and how much longer it takes
        most = (1 << 62) // (longest * self.steps(c.n))
        if not 1 <= self.rounds <= most:
            return f"rounds must be from 1 to {most}, so that 64 bits hold times, got {self.rounds}"
        wrong = delays.wrong_delay(self.delay, self.low, self.high, self.p)
        wrong = wrong or delays.wrong_late(self.late, self.rounds, c.n)
        return wrong or (delays.wrong_weights(c) if self.delay == "weight" else None)

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
        rows = delays.as_rows(self.late).astype(np.int64)
        return {pulse: rows[rows[:, 0] == pulse] for pulse in np.unique(rows[:, 0]).tolist()}

    def drawn(self, pulse: int) -> bool:
        """Whether all delays of a pulse are by the law alone."""
        return self.delay != "weight" and not callable(self.delay) and pulse not in self.longer

    def ticks(self, c: bsp.Cluster, pulse: int, what: int, sent: NDArray, inward: bool) -> NDArray:
        """How long messages along all entries of the adjacency take: from nodes, or `inward`, to them.

        Parameters
        ----------
        sent
            When they are sent.
        """
        src, dst = delays.ends(c)[:: -1 if inward else 1]
        if self.delay == "weight":
            found = delays.ways(c)[inward]
        elif callable(self.delay):
            found = delays.own(self.delay, src, dst, sent)
        else:
            word = delays.words(c, self.key(pulse, what))
            answers = inward and what == MESSAGE
            found = self.law.ticks(word << np.uint64(32) if answers else word)
        return found + self.more(c, pulse, src, dst)

    def more(self, c: bsp.Cluster, pulse: int, src: NDArray, dst: NDArray) -> NDArray | int:
        """How much longer messages of a pulse take, by sender and receiver."""
        return delays.longer(self.longer[pulse], c.n, src, dst) if pulse in self.longer else 0

    def send(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        """The messages of the pulse."""
        return bsp.broadcast()

    def acknowledge(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        """All nodes answer all messages."""
        return bsp.broadcast()

    def wait(self, c: bsp.Cluster, s: State, pulse: int) -> None:
        """Nodes wait for their acknowledgements; then they are safe."""
        if self.drawn(pulse):
            found = delays.longest(c, self.law, self.key(pulse, MESSAGE))
        else:
            found, sent = c.zeros(), s.time.repeat(c.degree)
            there = self.ticks(c, pulse, MESSAGE, sent, inward=False)
            back = self.ticks(c, pulse, MESSAGE, sent + there, inward=True)
            delays.greatest(c, there + back, found)
        s.time = s.time + found


class Alpha(Synchroniser):
    """The synchroniser alpha: when the nodes of an asynchronous network begin each round.

    In a pulse a node sends a message to each neighbour, which acknowledges it. A node that has all its
    acknowledgements is safe, and tells its neighbours. When it and all its neighbours are safe, it begins the
    next pulse. So with T(v) the tick at which node v begins a pulse, and fresh delays d throughout,

        S(v) = T(v) + the greatest d(v, u) + d(u, v) of its neighbours u,
        T'(v) = the greater of S(v) and the greatest S(u) + d(u, v) of its neighbours u.

    A node without neighbours begins all pulses at tick 0. Edges of a directed graph carry messages both ways.
    Outputs ``time``, int64, and by round ``pulse_time``.

    Notes
    -----
    Rounds: exactly ``rounds``: a round is a pulse. It takes at most three times the longest delay.

    Exchanges: at most ``3 * rounds``.

    Messages: exactly ``rounds * 6 * m``: a message, an acknowledgement and a word of safety along each edge,
    both ways.

    Examples
    --------
    Where each message takes 2 ticks, a pulse takes 6:

    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> ds = dgsuite.run("alpha", graph, rounds=3, delay=2)
    >>> ds.pulse_time.values, ds.time.values
    (array([ 6, 12, 18]), array([18, 18, 18, 18]))
    >>> dgsuite.run("alpha", graph, rounds=3, delay="uniform", low=1, high=3).pulse_time.values
    array([ 8, 15, 21])
    """

    name = "alpha"
    obeys = bsp.Model("edges")
    streams = True
    state = State

    def steps(self, n: int) -> int:
        return 3

    def program(self, net: bsp.Net) -> bsp.Program:
        for pulse in range(self.rounds):
            yield bsp.Round(self.send, self.acknowledge, self.report, self.begin, pulse=pulse)

    def report(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, pulse: int) -> bsp.Broadcast:
        """Nodes that are safe tell their neighbours."""
        self.wait(c, s, pulse)
        return bsp.broadcast(time=s.time.copy())

    def begin(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, pulse: int) -> bsp.Vote:
        """Nodes that are safe, as are their neighbours, begin the next pulse."""
        if self.drawn(pulse):
            delays.latest(c, self.law, self.key(pulse, SAFE), inbox, s.time)
        else:
            heard, since = inbox.along("time")
            there = since + self.ticks(c, pulse, SAFE, since, inward=True)
            delays.greatest(c, np.where(heard, there, 0), s.time)
        return bsp.vote(max=s.time)


@dataclass(eq=False)
class BetaState(State):
    """What the nodes of a cluster know."""

    outside: bsp.Subset = bsp.node_set()  # nodes that are not in the tree
    parent: bsp.NodeIds = bsp.per_node(-1, bsp.NODE)
    children: Children = bsp.initial(lambda c: Children(c.size))
    pending: NDArray[np.int64] = bsp.later()  # children that have not reported in this pulse


@dataclass(frozen=True)
class Beta(Synchroniser):
    """The synchroniser beta: when the nodes of an asynchronous network begin each round.

    In a pulse a node sends a message to each neighbour, which acknowledges it. A node that has all its
    acknowledgements is safe. In a tree of fewest hops it tells its parent when it and all below it are safe.
    When the root is so far, it begins the next pulse and tells its children, which begin it and tell theirs.
    A pulse takes fewer messages than one of `alpha`, and more time: up the tree and down.

    The graph must be connected. Edges of a directed graph carry messages both ways. Outputs ``time``, int64,
    ``parent``, -1 at
    the root, and by round ``pulse_time``.

    Parameters
    ----------
    root
        Root of the tree.

    Notes
    -----
    Rounds: exactly ``rounds``: a round is a pulse. It takes at most 2 * hops + 2 times the longest delay.

    Exchanges: at most ``(2 * rounds + 1) * (hops + 1) + 1``: in a pulse two with the neighbours, and up and
    down the tree; before the first pulse the nodes make the tree.

    Messages: exactly ``rounds * (4 * m + 2 * (n - 1)) + 2 * m + n - 1``: a message and an acknowledgement
    along each edge, both ways, and up and down the tree; before the first pulse the nodes make the tree.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> ds = dgsuite.run("beta", graph, rounds=3, delay=2)
    >>> ds.pulse_time.values, ds.time.values
    (array([16, 32, 48]), array([42, 44, 46, 48]))
    >>> ds.messages.values
    array([27, 18, 18])
    """

    root: bsp.Node = bsp.FIRST

    name = "beta"
    obeys = bsp.Model("edges", reduces="control")
    streams = True
    refuses = {"recovery": bsp.KEEPS_LISTS}
    outputs = {
        **Synchroniser.outputs,
        "parent": bsp.Output("parent in the tree, {none} at the root", nodes=True),
    }
    state = BetaState
    prepares = ("first",)
    needs = ("connected",)

    def steps(self, n: int) -> int:
        return 2 * n

    def program(self, net: bsp.Net) -> bsp.Program:
        grown = yield bsp.Round(self.plant, opening=True)
        if grown.any:
            yield from bsp.until_quiet(self.grow, opening=True)
        yield bsp.Round(self.register, self.adopt, opening=True)
        for pulse in range(self.rounds):
            yield bsp.Round(self.send, self.acknowledge, self.collect, pulse=pulse)
            yield from bsp.until_quiet(self.report, closing=True, pulse=pulse)
            gone = yield bsp.Round(self.release, closing=True, pulse=pulse)
            if gone.any:
                yield from bsp.until_quiet(self.go, closing=True, pulse=pulse)

    def plant(self, c: bsp.Cluster, s: BetaState, inbox: bsp.Inbox) -> Sent:
        """The tree begins with the root."""
        root = c.local(self.root)
        s.outside.remove(root)
        return bsp.broadcast(root), bsp.vote(any=c.degree[root] > 0)

    def grow(self, c: bsp.Cluster, s: BetaState, inbox: bsp.Inbox) -> Sent:
        """Neighbours of the last layer join it; of several parents a node takes the smallest."""
        nodes, parent, _ = inbox.first(among=s.outside)
        s.parent[nodes] = parent
        s.outside.remove(nodes)
        return bsp.broadcast(nodes), bsp.vote(any=len(nodes) > 0)

    def register(self, c: bsp.Cluster, s: BetaState, inbox: bsp.Inbox) -> bsp.Unicast:
        nodes = np.flatnonzero(s.parent >= 0)
        return bsp.unicast(s.parent[nodes], nodes)

    def adopt(self, c: bsp.Cluster, s: BetaState, inbox: bsp.Inbox) -> None:
        s.children.add(inbox.node, inbox.src)

    def collect(self, c: bsp.Cluster, s: BetaState, inbox: bsp.Inbox, pulse: int) -> Sent:
        """Leaves report when they are safe."""
        self.wait(c, s, pulse)
        s.pending = s.children.count.copy()
        return self.tell_parents(c, s, np.flatnonzero(s.pending == 0), pulse)

    def report(self, c: bsp.Cluster, s: BetaState, inbox: bsp.Inbox, pulse: int) -> Sent:
        """Others report when they are safe and all their children have reported."""
        nodes, time = inbox.max("time")
        _, reports, _ = inbox.count()
        s.time[nodes] = np.maximum(s.time[nodes], time)
        s.pending[nodes] -= reports
        return self.tell_parents(c, s, nodes[s.pending[nodes] == 0], pulse)

    def tell_parents(self, c: bsp.Cluster, s: BetaState, nodes: NDArray, pulse: int) -> Sent:
        nodes = nodes[s.parent[nodes] >= 0]
        sent = self.tell(c, s, nodes, s.parent[nodes], pulse, SAFE)
        return sent, bsp.vote(any=len(nodes) > 0)

    def release(self, c: bsp.Cluster, s: BetaState, inbox: bsp.Inbox, pulse: int) -> Sent:
        """The root begins the next pulse."""
        return self.tell_children(c, s, c.local(self.root), pulse)

    def go(self, c: bsp.Cluster, s: BetaState, inbox: bsp.Inbox, pulse: int) -> Sent:
        """Others begin it when their parents say so."""
        nodes, time = inbox.max("time")
        s.time[nodes] = time
        return self.tell_children(c, s, nodes, pulse)

    def tell_children(self, c: bsp.Cluster, s: BetaState, nodes: NDArray, pulse: int) -> Sent:
        at, children = s.children.of(nodes)
        sent = self.tell(c, s, nodes[at], children, pulse, GO)
        return sent, bsp.vote(any=len(children) > 0, max=s.time[nodes])

    def tell(
        self, c: bsp.Cluster, s: BetaState, nodes: NDArray, to: NDArray, pulse: int, what: int
    ) -> bsp.Unicast:
        """Nodes send a message to a neighbour each, which says when it arrives."""
        src, dst = c.ids[nodes].astype(np.int64), to.astype(np.int64)
        if self.delay == "weight":
            wait = delays.ways(c)[0][c.entries(nodes, to)]
        elif callable(self.delay):
            wait = delays.own(self.delay, src, dst, s.time[nodes])
        else:
            wait = self.law.ticks(paired(self.key(pulse, what), dst, src))
        wait = wait + self.more(c, pulse, src, dst)
        return bsp.unicast(to, nodes, time=s.time[nodes] + wait)
