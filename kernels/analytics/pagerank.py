"""PageRank (Page, Brin, Motwani and Winograd 1999), by power iteration.

A walker follows a random edge out of its node with probability d, the damping, and else goes to any node v
with probability p(v), by default 1 / n. From a sink, which no edge leaves, it goes to any node. The rank of a
node is the share of time that the walker spends there:

    rank(v) = d (sum of rank(u) / outdegree(u) over edges u -> v) + (1 - d + d (sum of rank over sinks)) p(v)

Every node starts with 1 / n, and all change at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.centralities import Iterated, Step
from dgsuite.kernels.tools.exact import exact_sum


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    rank: NDArray[np.float64]
    share: NDArray[np.float64]  # what each node sends along an edge
    preference: NDArray[np.float64] | float  # share of the walkers that go to any node
    # where weights count, from the first round on, when it is known by what they are divided
    out: NDArray[np.float64] | None = None  # number, or weight, of edges out; infinite at sinks
    sinks: NDArray[np.int64] = bsp.later()  # nodes from which a walker goes to any node


@dataclass(frozen=True)
class PageRank(Iterated):
    """PageRank, of directed and undirected graphs; the ranks of all nodes add up to 1.

    Output ``rank``, float64, without unit. It does not depend on the cut of the graph, to the last bit.

    A walker chooses among edges in proportion to their weights, where these count.

    Parameters
    ----------
    damping
        Probability that a walker follows an edge, from 0 to 1.
    personalisation
        How much each node is preferred where a walker goes to any node: a mapping from nodes, others then
        have 0, or an array by node. Only proportions matter. By default all nodes are alike.
    sinks
        What happens where no edge leaves a node: walkers "spread" to any node, as in networkx and
        Graphalytics, or are "lost", as in GAP; then the ranks add up to less than 1.

    Notes
    -----
    Rounds: at most `iterations`, or 1000 where only a tolerance is given.

    Exchanges: at most ``rounds``.

    Messages: exactly ``rounds * arcs``: a node sends its share to each neighbour.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("pagerank", graph)["rank"].values.round(3)
    array([0.246, 0.246, 0.367, 0.141])
    """

    damping: float = 0.85
    personalisation: Mapping[bsp.Node, float] | Sequence[float] | None = None
    sinks: Literal["spread", "lost"] = "spread"

    name = "pagerank"
    allowed = {**Iterated.allowed, "damping": (0, 1)}
    refuses = {"recovery": bsp.KEEPS_LISTS}
    outputs = {"rank": bsp.Output("share of time that a random walker spends at the node")}

    def check(self, c: bsp.Cluster) -> str | None:
        return super().check(c) or self._check_personalisation(c.n)

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

    def step(self, power: int) -> Step:
        held = yield bsp.Round(self.spread, power=power, opening=True)
        return (yield bsp.Round(self.gather, held=held.sum, power=power))

    def start(self, c: bsp.Cluster) -> State:
        state = State(c.full(1 / c.n), c.zeros(np.float64), self.preference(c))
        if not self.weighted:
            self.look_out(c, state, 0)
        return state

    def look_out(self, c: bsp.Cluster, s: State, power: int) -> None:
        """Find what leaves each node, and the sinks."""
        out = self.out(c, power)
        s.out = np.where(out > 0, out, np.inf)
        s.sinks = np.flatnonzero((out == 0) & (self.sinks == "spread"))

    def preference(self, c: bsp.Cluster) -> NDArray[np.float64] | float:
        """Share of the walkers that go to any node, for each node of a cluster, or for all."""
        wanted = self.personalisation
        if wanted is None:
            return 1 / c.n
        if isinstance(wanted, Mapping):
            numbers = np.zeros(c.n)
            numbers[[*wanted]] = [*wanted.values()]
        else:
            numbers = np.asarray(wanted, np.float64)
        numbers = numbers / numbers.max()  # so that the sum is finite
        return numbers[c.ids] / float(exact_sum(numbers))

    def spread(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, power: int) -> bsp.Sent:  # type: ignore[override]
        if s.out is None:
            self.look_out(c, s, power)
        np.divide(s.rank, s.out, out=s.share)  # type: ignore[arg-type]
        return bsp.broadcast(value=s.share), bsp.vote(sum=s.rank[s.sinks])

    def gather(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, held: float, power: int
    ) -> bsp.Sent:
        rank = self.sums(c, inbox, power, s.share)
        rank *= self.damping
        rank += s.preference * (1 - self.damping + self.damping * held)
        old, s.rank = s.rank, rank
        return self.moved(rank, old)
