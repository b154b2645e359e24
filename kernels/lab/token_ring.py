"""Dijkstra's self-stabilising token ring with k states (Dijkstra, Self-stabilizing systems in spite of
distributed control, CACM 17(11), 1974, the solution with K-state machines; Dolev, Self-Stabilization, 2000,
section 2.6).

Every node has a number below k. Node 0 is privileged if its number is that of its predecessor, the others if
theirs is not. Of the privileged nodes a daemon picks those that move: node 0 counts on, the others copy their
predecessor. From any numbers the ring comes to a state with one privilege, the token, which then goes around
for ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.bsp.messages import Range
from dgsuite.kernels.lab import state_model
from dgsuite.kernels.lab.state_model import MAX_VALUE, MOVES, StateModel
from dgsuite.kernels.lab.views import Variable


@dataclass(eq=False)
class State(state_model.State):
    """What the nodes of a cluster know."""

    value: NDArray[np.int64]
    heard: NDArray[np.int64] = bsp.per_node(0)  # value of the predecessor, as it said last


@dataclass(frozen=True)
class TokenRing(StateModel):
    """Mutual exclusion on a ring 0, 1, ..., n - 1, 0 that recovers from any state.

    Outputs ``value`` and ``moves``. ``privileges`` counts the privileged nodes at the end of each round: in
    round 0 nodes only tell their values, and every later round is a step of the daemon, or a fault. The
    number never rises, unless there are faults or messages are lost. A state is legitimate if one node is
    privileged. The attribute ``legitimate_round`` is the first round with one privilege after the last fault,
    and without faults the number of steps until then; -1 if there is none.

    Parameters
    ----------
    k
        Number of values, from 2 on; by default n + 1. From n on every daemon leads to one privilege, as
        Dijkstra proves; the central one does from n - 1 on (Fokkink, Hoepman and Pang, A note on K-state
        self-stabilization in a ring with K=N, 2005). With less the run may never end: limit it with
        ``max_rounds``.
    begin
        Values at first: "arbitrary", drawn by seed; "legitimate", all 0, so that node 0 has the token; or the
        value of each node.
    daemon
        Which privileged nodes move in a step: all ("synchronous"), each with a `probability` ("distributed"),
        or one: drawn by seed ("central"), the one with the largest id ("largest"), or the one that has moved
        most ("busiest").
    probability
        Above 0 and at most 1.
    faults
        Transient faults, as a mapping from rounds to the share of nodes that get arbitrary values then.
    after
        Steps that the run goes on with one privilege after the last fault.
    repeat
        Nodes tell their value in every step, to make up for lost messages; else when they have moved.

    Notes
    -----
    Rounds: with the synchronous daemon ``2 * n - 2 + after`` at most, for k from n on and n from 2 on. With
    any daemon nodes move at most ``3 * n * (n - 1) / 2`` times until one is privileged: node 0 counts at most
    n - 1 times until it comes to a value that no node has, and others move once more than their predecessor.

    Messages: at most ``n * rounds``: each node tells its value at first, and whenever it has moved.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> ds = dgsuite.run("token_ring", graph, after=3)
    >>> ds.privileges.values, ds.legitimate_round
    (array([4, 4, 3, 2, 1, 1, 1, 1]), 4)
    >>> ds.value.values, ds.moves.values
    (array([3, 3, 2, 2]), array([3, 4, 4, 5]))
    """

    k: int | None = None
    begin: Literal["arbitrary", "legitimate"] | Sequence[int] = "arbitrary"  # type: ignore[assignment]
    after: int = 10

    name = "token_ring"
    outputs = {"value": bsp.Output("number that the node has at the end"), **MOVES}
    variables = {"value": Variable(lambda n: n + 1)}
    enabled_at_last = 1
    counted = "privileges"
    notes = {
        "privileges": "privileged nodes at the end of the round",
        **{name: StateModel.notes[name] for name in ("moved", "waiting")},
    }
    needs = ("ring",)
    state = State

    @property
    def ranges(self) -> dict[str, Range]:  # type: ignore[override]
        return {"value": (lambda n: n + 1) if self.k is None else bsp.values(self.k)}

    def check(self, c: bsp.Cluster) -> str | None:
        if self.k is not None and not 2 <= self.k <= MAX_VALUE:
            return f"k must be from 2 to 2^31, got {self.k}"
        return super().check(c)

    def wrong_begin(self, c: bsp.Cluster) -> str | None:
        if isinstance(self.begin, str):
            return None
        begin, k = np.asarray(self.begin), self.ranges["value"](c.n)
        if begin.shape != (c.n,) or not ((begin >= 0) & (begin < k)).all():
            return f"begin must have a value from 0 to {k - 1} for each of {c.n} nodes"
        return None

    def start(self, c: bsp.Cluster) -> State:
        if self.begin == "arbitrary":
            value = self.arbitrary(c, "value", np.arange(c.size), 0)
        elif self.begin == "legitimate":
            value = c.zeros()
        else:
            value = np.asarray(self.begin, np.int64)[c.ids]
        return State.of(c, value=value, near={})

    def tell(self, c: bsp.Cluster, s: State, nodes: NDArray[np.int64]) -> bsp.Unicast:
        return bsp.unicast(c.successor[nodes], nodes, value=s.value[nodes])

    def hear(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> NDArray[np.int64]:
        s.heard[inbox.node] = inbox["value"]
        return inbox.node

    def consider(self, c: bsp.Cluster, s: State, nodes: NDArray[np.int64]) -> Any:
        """Node 0 counts on where it has its predecessor's value, others copy that where they have another."""
        first, same = c.ids[nodes] == 0, s.value[nodes] == s.heard[nodes]
        on = (s.value[nodes] + 1) % self.ranges["value"](c.n)
        return same == first, {"value": np.where(first, on, s.heard[nodes])}
