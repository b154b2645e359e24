"""Dijkstra's self-stabilising token ring with k states (Dijkstra, Self-stabilizing systems in spite of
distributed control, CACM 17(11), 1974, the solution with K-state machines; Dolev, Self-Stabilization, 2000,
section 2.6).

Every node has a number below k. Node 0 is privileged if its number is that of its predecessor, the others if
theirs is not. Of the privileged nodes a daemon picks those that move: node 0 counts on, the others copy their
predecessor. From any numbers the ring comes to a state with one privilege, the token, which then goes around
for ever.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.bsp.widths import Range
from dgsuite.kernels.tools.rng import uniform
from dgsuite.partition.arrays.segments import distinct

START = 0
"""Draw of the values at first; those of a step have its number, from 1 on."""

MOST = 1 << 31
"""Of values, and of the random parts of lots."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    value: NDArray[np.int64]
    heard: NDArray[np.int64] = bsp.per_node(0)  # value of the predecessor, as it said last
    moves: NDArray[np.int64] = bsp.per_node(0)
    privileged: NDArray[np.int64] = bsp.every_node()  # all until they look


@dataclass(frozen=True)
class TokenRing(bsp.Kernel):
    """Mutual exclusion on a ring 0, 1, ..., n - 1, 0 that recovers from any state.

    Outputs ``value`` and ``moves``. ``privileges`` counts the privileged nodes at the end of each round: in
    round 0 nodes only tell their values, and every later round is a step of the daemon. The number never
    rises, unless messages are lost. The attribute ``legitimate_round`` is the first round with one privilege,
    and so the number of steps until then; -1 if there is none.

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
        Which privileged nodes move in a step: all ("synchronous"), each with a `probability`
        ("distributed"), or one, drawn by seed ("central").
    probability
        Above 0 and at most 1.
    after
        Steps that the run goes on after the first round with one privilege.
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
    begin: Literal["arbitrary", "legitimate"] | Sequence[int] = "arbitrary"
    daemon: Literal["synchronous", "distributed", "central"] = "synchronous"
    probability: float = 0.5
    after: int = 10
    repeat: bool = False

    name = "token_ring"
    outputs = {
        "value": bsp.Output("number that the node has at the end"),
        "moves": bsp.Output("how often the node has moved"),
    }
    fields = {"value": np.int64}
    notes = {"privileges": "privileged nodes at the end of the round"}
    needs = ("ring",)
    state = State

    @property
    def ranges(self) -> dict[str, Range]:  # type: ignore[override]
        return {"value": (lambda n: n + 1) if self.k is None else bsp.values(self.k)}

    def check(self, c: bsp.Cluster) -> str | None:
        if self.k is not None and not 2 <= self.k <= MOST:
            return f"k must be from 2 to 2^31, got {self.k}"
        if not isinstance(self.begin, str):
            begin, k = np.asarray(self.begin), self.values_of(c)
            if begin.shape != (c.n,) or not ((begin >= 0) & (begin < k)).all():
                return f"begin must have a value from 0 to {k - 1} for each of {c.n} nodes"
        if not 0 < self.probability <= 1:
            return f"probability must be above 0 and at most 1, got {self.probability}"
        if self.after < 0:
            return f"after must be from 0 on, got {self.after}"
        return None

    def attributes(self, n: int, noted: Mapping[str, NDArray[np.int64]]) -> dict[str, Any]:
        alone = np.flatnonzero(noted["privileges"] == 1)
        return {"legitimate_round": int(alone[0]) if len(alone) else -1}

    def start(self, c: bsp.Cluster) -> State:
        if self.begin == "arbitrary":
            drawn = uniform("counter", self.seed, c.ids, START)
            value = (drawn * self.values_of(c)).astype(np.int64)
        elif self.begin == "legitimate":
            value = c.zeros()
        else:
            value = np.asarray(self.begin, np.int64)[c.ids]
        return State.of(c, value=value)

    def values_of(self, c: bsp.Cluster) -> int:
        """Number of values."""
        return c.n + 1 if self.k is None else self.k

    def program(self, net: bsp.Net) -> bsp.Program:
        seen = yield bsp.Round(self.introduce, self.look, step=0)
        step = kept = 0
        while seen.sum != 1 or kept < self.after:
            step, kept = step + 1, kept + (seen.sum == 1)
            first = seen.min if self.daemon == "central" else None
            seen = yield bsp.Round(self.move, self.look, step=step, first=first)

    def introduce(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        return self.tell(c, s, np.arange(c.size))

    def look(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, step: int
    ) -> tuple[bsp.Vote, bsp.Note]:
        """Nodes that were privileged, or hear something new, see whether they are now."""
        s.heard[inbox.node] = inbox["value"]
        nodes = distinct(np.concatenate([s.privileged, inbox.node]))
        same = s.value[nodes] == s.heard[nodes]
        s.privileged = nodes[same == (c.ids[nodes] == 0)]
        number = len(s.privileged)
        first = self.lots(c, s.privileged, step + 1) if self.daemon == "central" else None
        return bsp.vote(sum=number, min=first), bsp.Note({"privileges": number})

    def move(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, step: int, first: int | None
    ) -> bsp.Unicast:
        nodes = s.privileged
        if self.daemon == "central":
            nodes = nodes[self.lots(c, nodes, step) == first]
        elif self.daemon == "distributed":
            nodes = nodes[uniform("counter", self.seed, c.ids[nodes], step) < self.probability]
        on = (s.value[nodes] + 1) % self.values_of(c)
        s.value[nodes] = np.where(c.ids[nodes] == 0, on, s.heard[nodes])
        s.moves[nodes] += 1
        return self.tell(c, s, np.arange(c.size) if self.repeat else nodes)

    def tell(self, c: bsp.Cluster, s: State, nodes: NDArray[np.int64]) -> bsp.Unicast:
        return bsp.unicast(c.successor[nodes], nodes, value=s.value[nodes])

    def lots(self, c: bsp.Cluster, nodes: NDArray[np.int64], step: int) -> NDArray[np.int64]:
        """A random number for each node and step; no two are the same."""
        drawn = uniform("counter", self.seed, c.ids[nodes], step) * MOST
        return drawn.astype(np.int64) * c.n + c.ids[nodes]
