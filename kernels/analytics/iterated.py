"""The base of kernels that repeat a step until real values hardly change any more."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import RunError
from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.extremes import exponent, extremes, negative, weights_of
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
        if self.weighted and c.loop_weights is not None:
            return divided(c.loop_weights, power)
        return 1

    def moved(self, new: NDArray, old: NDArray) -> bsp.Vote | None:
        """The sum of all changes, as a vote; None without a tolerance."""
        return None if self.tolerance is None else bsp.vote(sum=np.abs(new - old))

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
