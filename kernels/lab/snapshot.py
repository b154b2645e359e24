"""A consistent snapshot of a computation that goes on (Chandy and Lamport 1985, Distributed snapshots:
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

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.bsp.messages import Range
from dgsuite.kernels.lab.rumours import called
from dgsuite.kernels.tools.rng import uniform

MARKER = 0
"""What a marker says; payments are at least 1."""

MAX_MONEY = 1 << 31
"""Money that a node may hold at first."""


@dataclass(eq=False)
class State(bsp.ClusterState):
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
    state = State
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

    def start(self, c: bsp.Cluster) -> State:
        given = np.asarray(self.inputs, np.int64)
        own = given[c.ids] if given.ndim else c.full(int(given))
        return State.of(c, input=own, money=own.copy())

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from bsp.until_quiet(self.act)

    def act(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> tuple[bsp.Unicast, bsp.Vote]:
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
