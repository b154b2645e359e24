"""Centralities by power iteration: eigenvector, Katz, hubs and authorities; and the base of all kernels that
repeat a step until real values hardly change any more.

Eigenvector centrality (Bonacich 1972), by power iteration.

A node's centrality is in proportion to the sum of the centralities of the nodes with an edge to it. Each
iteration adds that sum to the node's own value, and scales all values so that their squares add up to 1. To
add the own value changes no eigenvector, and makes the iteration converge on bipartite graphs, too.

Katz centrality (Katz 1953): the walks that end at a node, each counted less the longer it is.

x(v) = alpha (sum of x(u) over edges u -> v) + beta

Hubs and authorities (Kleinberg 1999), by power iteration.

A good hub has edges to good authorities, and a good authority has edges from good hubs: the value of either
is the sum of the others' along the edges. On an undirected graph both are the same.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import RunError
from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.extremes import exponent, extremes, negative, weights_of
from dgsuite.kernels.tools.exact import exact_change
from dgsuite.partition.arrays.segments import add, weigh
from dgsuite.partition.graph.graph import Graph

TOLERANCE = 1e-6
"""Default tolerance, where no number of iterations is given."""

MAX_ITERATIONS = 1000
"""Iterations at most, where no number is given: as in the GAP benchmark. More are an error."""

Step = Generator[bsp.Round | bsp.Finish, bsp.Reply, bsp.Reply]
"""The rounds of an iteration; it returns the votes of the last, whose sum is that of all changes."""


@dataclass(frozen=True)
class Iterated(bsp.Weighted):
    """A kernel that repeats a step; nodes send a value along the edges that leave them.

    Parameters
    ----------
    tolerance
        Stop when the values of all nodes together change by less than this in an iteration (GAP's meaning;
        networkx multiplies its `tol` by the number of nodes in most functions). By default 1e-6, or none
        where `iterations` is given.
    iterations
        How many to do; with a tolerance at most so many. Without, a run of more than 1000 is an error.
    weighted
        Whether values are multiplied by the weights of edges, which must not be negative; all edges are
        alike without. By default where the graph has weights. Weights above 2^400, or all below 2^-400, are
        divided by a power of two, which all but `alpha` of Katz do not depend on.
    """

    tolerance: float | None = None
    iterations: int | None = None

    obeys = bsp.Model("edges", reduces="data")
    fields = {"value": np.float64}
    undirected = False
    pulls = True
    prepares = ("totals",)
    streams = True
    allowed = {"iterations": (1, np.inf)}

    def suited(self, graph: Graph) -> Self:
        """With a tolerance, where neither that nor a number of iterations is given."""
        kernel = super().suited(graph)
        if self.tolerance is None and self.iterations is None:
            return replace(kernel, tolerance=TOLERANCE)
        return kernel

    def unfit(self) -> dict[str, str]:
        """With weights it reads what all neighbours sent last."""
        return bsp.no_faults(bsp.READS_LATEST) if self.weighted else super().unfit()

    def check(self, c: bsp.Cluster) -> str | None:
        if self.tolerance is not None and not self.tolerance > 0:
            return f"tolerance must be above 0, got {self.tolerance!r}"
        if self.tolerance is None and c.earlier is not None:
            return (
                "iterations counts from the start; with since= give a tolerance, or leave both out"
            )
        return super().check(c) or (negative(weights_of(c)) if self.weighted else None)

    def program(self, net: bsp.Net) -> bsp.Program:
        power = 0
        if self.weighted:
            power = exponent(self.name, (yield bsp.Round(self.survey, opening=True)))
        for _ in range(MAX_ITERATIONS if self.iterations is None else self.iterations):
            moved = yield from self.step(power)
            if self.tolerance is not None and moved.sum < self.tolerance:
                return
        if self.iterations is None:
            raise RunError(
                f"kernel {self.name!r}: after {MAX_ITERATIONS} iterations values still change by "
                f"{moved.sum:.3g} in all, not by less than tolerance={self.tolerance}; give "
                f"iterations= to take them as they are"
            )

    def step(self, power: int) -> Step:
        """The rounds of an iteration, with weights divided by 2 to a power."""
        raise NotImplementedError

    def spread(self, c: bsp.Cluster, s: Any, inbox: bsp.Inbox) -> bsp.Sent:
        return bsp.broadcast(value=s.centrality)

    def survey(self, c: bsp.Cluster, s: bsp.ClusterState, inbox: bsp.Inbox) -> bsp.Vote:
        return extremes(weights_of(c))

    def out(self, c: bsp.Cluster, power: int) -> NDArray[np.float64]:
        """Number, or weight, of the edges out of each node."""
        if self.weighted and c.weights is not None:
            found = add(divided(c.weights, power).astype(np.float64), c.indptr)
        else:
            found = c.degree.astype(np.float64)
        if c.loops is not None:
            found[c.loops] += self.per_loop(c, power)
        return found

    def per_loop(self, c: bsp.Cluster, power: int) -> NDArray | int:
        """What a self-loop counts: its weight, or 1."""
        return divided(c.loop_weights, power) if self.weighted and c.loop_weights is not None else 1

    def moved(self, new: NDArray, old: NDArray) -> bsp.Sent:
        """The sum of all changes, as a vote; None without a tolerance."""
        return None if self.tolerance is None else bsp.vote(sum=exact_change(new, old))

    def sums(
        self, c: bsp.Cluster, inbox: bsp.Inbox, power: int, own: NDArray, backwards: bool = False
    ) -> NDArray[np.float64]:
        """What came along the edges, times their weights; or backwards, along those that leave.

        Parameters
        ----------
        own
            What the nodes of the cluster sent, which comes back along their self-loops.
        """
        weights = c.weights if backwards else c.sender_weights
        if not self.weighted or weights is None or not c.size:
            found: NDArray[np.float64] = inbox.totals("value")
        else:
            indptr, indices, values = inbox.latest("value")
            found = weigh(indptr, indices, divided(weights, power), values)
        if c.loops is not None:
            found[c.loops] += own[c.loops] * self.per_loop(c, power)
        return found


def divided(weights: NDArray, power: int) -> NDArray:
    """Weights divided by 2 to a power, which is exact."""
    return np.ldexp(weights, -power) if power else weights


@dataclass(eq=False)
class EigenState(bsp.ClusterState):
    """What the nodes of a cluster know."""

    centrality: NDArray[np.float64] = bsp.initial(lambda c: c.full(1 / c.n))
    sums: NDArray[np.float64] = bsp.later()  # before they are scaled


class Eigenvector(Iterated):
    """Eigenvector centrality, of directed and undirected graphs, as in networkx.

    Output ``centrality``, float64; the squares of all add up to 1.

    Notes
    -----
    Rounds: at most `iterations`, or 1000 where only a tolerance is given.

    Exchanges: at most ``rounds``.

    Messages: exactly ``rounds * arcs``: a node sends its value to each neighbour.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("eigenvector", graph).centrality.round(3).values
    array([0.523, 0.523, 0.612, 0.282])
    """

    name = "eigenvector"
    outputs = {"centrality": bsp.Output("eigenvector centrality")}
    state = EigenState

    def step(self, power: int) -> Step:
        squares = yield bsp.Round(self.spread, self.gather, power=power, opening=True)
        return (yield bsp.Round(self.scale, length=sqrt(squares.sum)))

    def gather(self, c: bsp.Cluster, s: EigenState, inbox: bsp.Inbox, power: int) -> bsp.Vote:
        s.sums = s.centrality + self.sums(c, inbox, power, s.centrality)
        return bsp.vote(sum=s.sums**2)

    def scale(self, c: bsp.Cluster, s: EigenState, inbox: bsp.Inbox, length: float) -> bsp.Sent:
        old, s.centrality = s.centrality, s.sums / length
        return self.moved(s.centrality, old)


HUGE = 1e150
"""Values above it show that the sum over all walks is infinite; their squares still add up."""


@dataclass(eq=False)
class KatzState(bsp.ClusterState):
    """What the nodes of a cluster know."""

    centrality: NDArray[np.float64] = bsp.per_node(0.0)


@dataclass(frozen=True)
class Katz(Iterated):
    """Katz centrality, of directed and undirected graphs, as in networkx.

    Output ``centrality``, float64.

    Parameters
    ----------
    alpha
        What an edge more multiplies a walk by. Above 0, and less than 1 over the largest eigenvalue of the
        adjacency: else values grow without limit, and the run is an error.
    beta
        What every node has of its own.
    normalised
        Whether to scale the values so that their squares add up to 1.

    Notes
    -----
    Rounds: at most `iterations`, or 1000 where only a tolerance is given.

    Exchanges: at most ``rounds``.

    Messages: exactly ``rounds * arcs``: a node sends its value to each neighbour.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("katz", graph, alpha=0.1).centrality.round(3).values
    array([0.501, 0.501, 0.542, 0.451])
    """

    alpha: float = 0.1
    beta: float = 1.0
    normalised: bool = True

    name = "katz"
    outputs = {"centrality": bsp.Output("Katz centrality")}
    state = KatzState

    def check(self, c: bsp.Cluster) -> str | None:
        if not 0 < self.alpha < HUGE:
            return f"alpha must be above 0 and less than {HUGE}, got {self.alpha!r}"
        if not 0 < self.beta < HUGE:
            return f"beta must be above 0 and less than {HUGE}, got {self.beta!r}"
        return super().check(c)

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from super().program(net)
        if self.normalised:
            squares = yield bsp.Round(self.square, closing=True)
            yield bsp.Round(self.scale, closing=True, length=sqrt(squares.sum))

    def step(self, power: int) -> Step:
        return (yield bsp.Round(self.spread, self.gather, power=power))

    def gather(self, c: bsp.Cluster, s: KatzState, inbox: bsp.Inbox, power: int) -> bsp.Sent:
        half = power // 2  # 2 to the whole power may be no float64
        alpha = self.alpha * 2.0**half * 2.0 ** (power - half)
        old, sums = s.centrality, self.sums(c, inbox, power, s.centrality)
        if alpha < inf:
            s.centrality = alpha * sums + self.beta
        if not alpha < inf or s.centrality.max(initial=0) > HUGE:
            raise OverflowError(
                f"alpha={self.alpha} must be less than 1 over the largest eigenvalue of the adjacency"
            )
        return self.moved(s.centrality, old)

    def square(self, c: bsp.Cluster, s: KatzState, inbox: bsp.Inbox) -> bsp.Vote:
        return bsp.vote(sum=s.centrality**2)

    def scale(self, c: bsp.Cluster, s: KatzState, inbox: bsp.Inbox, length: float) -> None:
        s.centrality = s.centrality / length


@dataclass(eq=False)
class Hubs(bsp.ClusterState):
    """What the nodes of a cluster know."""

    hub: NDArray[np.float64] = bsp.initial(lambda c: c.full(1 / c.n))
    authority: NDArray[np.float64] = bsp.initial(lambda c: c.full(1 / c.n))
    before: NDArray[np.float64] = bsp.later()  # the hubs of the iteration before


class HITS(Iterated):
    """Hubs and authorities, of directed and undirected graphs, as in networkx.

    Outputs ``hub`` and ``authority``, float64; each adds up to 1, or is 0 on a graph without edges. The
    tolerance is for the change of the hubs, scaled so that the greatest is 1.

    Notes
    -----
    Rounds: at most `iterations`, or 1000 where only a tolerance is given.

    Exchanges: at most ``2 * rounds``.

    Messages: exactly ``rounds * 2 * arcs``: one along each edge, and one back.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [3, 3, 4], directed=True)
    >>> ds = dgsuite.run("hits", graph)
    >>> ds.authority.values.round(3)
    array([0., 0., 0., 1., 0.])
    """

    name = "hits"
    outputs = {"hub": bsp.Output("hub"), "authority": bsp.Output("authority")}
    state = Hubs

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from super().program(net)
        for output in self.outputs:
            total = yield bsp.Round(self.total, closing=True, output=output)
            yield bsp.Round(self.scale, closing=True, output=output, total=total.sum)

    def step(self, power: int) -> Step:
        greatest = yield bsp.Round(self.point, self.judge, self.rate, power=power, opening=True)
        return (yield bsp.Round(self.compare, greatest=greatest.max))

    def point(self, c: bsp.Cluster, s: Hubs, inbox: bsp.Inbox) -> bsp.Broadcast:
        return bsp.broadcast(value=s.hub)

    def judge(self, c: bsp.Cluster, s: Hubs, inbox: bsp.Inbox, power: int) -> bsp.Broadcast:
        s.authority = self.sums(c, inbox, power, s.hub)
        return bsp.broadcast(value=s.authority, backwards=True)

    def rate(self, c: bsp.Cluster, s: Hubs, inbox: bsp.Inbox, power: int) -> bsp.Vote:
        s.before, s.hub = s.hub, self.sums(c, inbox, power, s.authority, backwards=True)
        return bsp.vote(max=s.hub)

    def compare(self, c: bsp.Cluster, s: Hubs, inbox: bsp.Inbox, greatest: float) -> bsp.Sent:
        s.hub = s.hub / (greatest or 1)
        return self.moved(s.hub, s.before)

    def total(self, c: bsp.Cluster, s: Hubs, inbox: bsp.Inbox, output: str) -> bsp.Vote:
        return bsp.vote(sum=getattr(s, output))

    def scale(self, c: bsp.Cluster, s: Hubs, inbox: bsp.Inbox, output: str, total: float) -> None:
        setattr(s, output, getattr(s, output) / (total or 1))
