"""PageRank (Page, Brin, Motwani and Winograd 1999), by power iteration.

A walker follows a random edge out of its node with probability d, the damping, and else goes to any node v
with probability p(v), by default 1 / n. From a sink, which no edge leaves, it goes to any node. The rank of a
node is the share of time that the walker spends there:

    rank(v) = d (sum of rank(u) / outdegree(u) over edges u -> v) + (1 - d + d (sum of rank over sinks)) p(v)

Every node starts with 1 / n, and all change at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from numpy.typing import NDArray

import kernels.base as bsp
from kernels.exact import exact_sum
from partition.segments import add

if TYPE_CHECKING:
    from partition.graph import Graph

TOLERANCE = 1e-6
"""Default tolerance, where no number of iterations is given."""

MOST = 1000
"""Iterations at most, where no number is given: what the GAP benchmark allows."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    rank: NDArray[np.float64]
    preference: NDArray[np.float64]  # share of the walkers that go to any node
    out: NDArray[np.float64]  # number, or weight, of the edges out of each node; infinite at sinks
    sinks: NDArray[np.int64]  # nodes from which a walker goes to any node


@dataclass(frozen=True)
class PageRank(bsp.Kernel):
    """PageRank, of directed and undirected graphs; the ranks of all nodes add up to 1.

    Output ``rank``, float64, without unit. It does not depend on the cut of the graph, to the last bit.

    Parameters
    ----------
    damping
        Probability that a walker follows an edge, from 0 to 1.
    tolerance
        Stop when the ranks of all nodes together change by less than this in an iteration (GAP takes 1e-4;
        networkx its `tol` times the number of nodes). By default 1e-6, or none where `iterations` is given.
    iterations
        How many to do; with a tolerance at most so many, by default 1000.
    personalisation
        How much each node is preferred where a walker goes to any node: a mapping from nodes, others then
        have 0, or an array by node. Only proportions matter. By default all nodes are alike.
    weighted
        Whether walkers choose edges in proportion to their weights, which must not be negative. Without,
        or where the graph has no weights, all edges are alike.
    sinks
        What happens where no edge leaves a node: walkers "spread" to any node, as in networkx and
        Graphalytics, or are "lost", as in GAP; then the ranks add up to less than 1.
    """

    damping: float = 0.85
    tolerance: float | None = None
    iterations: int | None = None
    personalisation: Mapping[bsp.Node, float] | Sequence[float] | None = None
    weighted: bool = False
    sinks: Literal["spread", "lost"] = "spread"

    name = "pagerank"
    outputs = {"rank": bsp.Output("share of time that a random walker spends at the node")}
    fields = {"share": np.float64}
    undirected = False
    pulls = True

    def suited(self, graph: Graph) -> Self:
        """With a tolerance, where neither that nor a number of iterations is given."""
        if self.tolerance is None and self.iterations is None:
            return replace(self, tolerance=TOLERANCE)
        return self

    def check(self, c: bsp.Cluster) -> str | None:
        if not 0 <= self.damping <= 1:
            return f"damping must be from 0 to 1, got {self.damping!r}"
        if self.tolerance is not None and not self.tolerance > 0:
            return f"tolerance must be above 0, got {self.tolerance!r}"
        if self.iterations is not None and self.iterations < 1:
            return f"iterations must be at least 1, got {self.iterations!r}"
        if self.weighted and c.weights is not None:
            if not (c.weights >= 0).all():
                return f"weights must not be negative, got {c.weights.min()}"
            if not np.isfinite(self.out(c)).all():
                return "weights of the edges out of a node add up to more than a float64 can hold"
        return self._check_personalisation(c.n)

    def _check_personalisation(self, n: int) -> str | None:
        wanted = self.personalisation
        if wanted is None:
            return None
        if isinstance(wanted, Mapping):
            for node in wanted:
                if wrong := bsp.no_node("personalisation: node", node, n):
                    return wrong
            wanted = [*wanted.values()]
        elif len(wanted) != n:
            return f"personalisation must have a number for each of {n} nodes, got {len(wanted)}"
        numbers = np.asarray(wanted)
        if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "biuf"):
            return "personalisation must be numbers, one for each node"
        if not (np.isfinite(numbers) & (numbers >= 0)).all():
            return "personalisation must be finite numbers, none of them negative"
        if not numbers.any():
            return "personalisation must prefer a node: all numbers are 0, or there are none"
        return None

    def program(self, net: bsp.Net) -> bsp.Program:
        for _ in range(MOST if self.iterations is None else self.iterations):
            held = yield bsp.Round(self.spread, opening=True)
            moved = yield bsp.Round(self.gather, held=held.sum)
            if self.tolerance is not None and moved.sum < self.tolerance:
                return

    def start(self, c: bsp.Cluster) -> State:
        out = self.out(c)
        return State(
            rank=c.full(1 / c.n),
            preference=self.preference(c),
            out=np.where(out > 0, out, np.inf),
            sinks=np.flatnonzero((out == 0) & (self.sinks == "spread")),
        )

    def out(self, c: bsp.Cluster) -> NDArray[np.float64]:
        """Number, or weight, of the edges out of each node."""
        if self.weighted and c.weights is not None:
            return add(c.weights.astype(np.float64), c.indptr)
        return c.degree.astype(np.float64)

    def preference(self, c: bsp.Cluster) -> NDArray[np.float64]:
        """Share of the walkers that go to any node, for each node of a cluster."""
        wanted = self.personalisation
        if wanted is None:
            return c.full(1 / c.n)
        if isinstance(wanted, Mapping):
            numbers = np.zeros(c.n)
            numbers[[*wanted]] = [*wanted.values()]
        else:
            numbers = np.asarray(wanted, np.float64)
        numbers = numbers / numbers.max()  # so that the sum is finite
        return numbers[c.ids] / float(exact_sum(numbers))

    def spread(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox
    ) -> tuple[bsp.Broadcast | bsp.Unicast, bsp.Vote]:
        share = s.rank / s.out
        held = bsp.vote(sum=s.rank[s.sinks])
        if not self.weighted or c.weights is None:
            return bsp.broadcast(share=share), held
        at, to = c.edges(np.arange(c.size))
        return bsp.unicast(to, at, share=share[at] * c.weights), held

    def gather(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, held: float) -> bsp.Vote:
        rank = inbox.totals("share")
        rank *= self.damping
        rank += s.preference * (1 - self.damping + self.damping * held)
        change = np.abs(rank - s.rank)
        s.rank = rank
        return bsp.vote(sum=change)
