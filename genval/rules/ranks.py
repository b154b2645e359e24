"""Centralities: what a step leaves as it is, up to the tolerance of the run.

A run repeats a step until all values together change by less than its tolerance. So one more step changes
them by less than a bound that follows from the tolerance; each rule says which. Where a run was given a
number of iterations, values may be farther from that, and must be those after so many steps from the start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import Job, Outputs, ends, exponent, lengths, loop_lengths, says
from dgsuite.genval.rules.registry import judges
from dgsuite.partition.clusters.cluster import Cluster

ROUNDING = 1e-12
"""Difference, of all values together, that is allowed for rounding."""

TOLERANCE = 1e-6
"""Tolerance of a run that was given neither a tolerance nor a number of iterations."""

Values = NDArray[np.float64]
Step = Callable[[Values], Values]


@judges("pagerank", outputs={"rank": 1}, real=("rank",))
def pagerank(job: Job) -> Iterator[list[Found]]:
    """One more step of the walk hardly changes the ranks. A step shrinks every change by the damping at
    least, so the bound is damping times tolerance. There is only one such fixed point.
    """
    edges, damping = Edges(job), job.fact("damping", 0.85)
    preference, sinks = _preference(job), edges.out == 0
    spread = job.fact("sinks", "spread") == "spread"
    divisor = np.where(sinks, np.inf, edges.out)

    def step(rank: Values) -> Values:
        held = rank[sinks].sum() if spread else 0.0
        anywhere = (1 - damping + damping * held) * preference
        return anywhere + damping * edges.forwards(rank / divisor)

    return _settled(job, "rank", step, np.full(job.n, 1 / job.n), damping)


@judges("eigenvector", outputs={"centrality": 1}, real=("centrality",))
def eigenvector(job: Job) -> Iterator[list[Found]]:
    """To add to each value those along the edges that come in, and scale so that squares add up to 1, hardly
    changes any. A step adds at most the largest weight out of a node, times a change; scaling, of vectors at
    least 1 long, at most sqrt(n) times as much.
    """
    edges, start = Edges(job), np.full(job.n, 1 / job.n)

    def step(values: Values) -> Values:
        sums = values + edges.forwards(values)
        return sums / np.linalg.norm(sums) if sums.any() else start

    grows = (1 + edges.out.max()) * (1 + np.sqrt(job.n))
    return _settled(job, "centrality", step, start, grows)


@judges("katz", outputs={"centrality": 1}, real=("centrality",))
def katz(job: Job) -> Iterator[list[Found]]:
    """Each value is alpha times the sum along the edges that come in, plus beta. Where values are scaled, the
    scale follows: what is left without the sum is beta, scaled. The bound is alpha times the largest weight
    out of a node times the tolerance, and for scaling as above.
    """
    edges = Edges(job)
    half = edges.power // 2  # 2 to the whole power may be no float64
    alpha = job.fact("alpha", 0.1) * 2.0**half * 2.0 ** (edges.power - half)
    beta, scaled = job.fact("beta", 1.0), job.fact("normalised", True)
    start = np.zeros(job.n)

    def step(values: Values) -> Values:
        return alpha * edges.forwards(values) + beta

    def again(values: Values) -> Values:
        left = (values - alpha * edges.forwards(values)).mean()
        sums = step(values * (beta / left) if left > 0 else start)
        return sums / np.linalg.norm(sums)

    grows = alpha * edges.out.max() * (4 * (1 + np.sqrt(job.n)) if scaled else 1)
    return _settled(job, "centrality", step, start, grows, again if scaled else None)


@judges("hits", outputs={"hub": 1, "authority": 1}, real=("hub", "authority"))
def hits(job: Job) -> Iterator[list[Found]]:
    """Hubs are the sums of the authorities that they point to, scaled to add up to 1: exactly, as these come
    last. Authorities are those of the hubs that point to them, up to the tolerance, which is for hubs of
    which the greatest is 1, times the largest weight out of a node, over the sum of these authorities.
    """
    edges, start = Edges(job), np.full(job.n, 1 / job.n)
    hub, authority = job.floats("hub", "authority")
    yield [_numbers(job, "hub")]
    yield [_numbers(job, "authority")]

    def share(values: Values) -> Values:
        """Scaled to add up to 1; all 0 only where no edge has a weight."""
        return values / values.sum() if values.any() else start * edges.out.any()

    def authorities(hub: Values) -> Values:
        return share(edges.forwards(hub))

    right = share(edges.backwards(authority))
    yield [_compared(job, "hub", hub, right, ROUNDING)]
    tolerance, iterations = _limits(job)
    right, bound = authorities(hub), ROUNDING
    if tolerance is not None:
        sums = edges.forwards(hub / (hub.max() or 1)).sum()
        bound += 2 * edges.out.max() * tolerance / (sums or 1)
    if iterations is not None and np.abs(right - authority).sum() > bound:
        for _ in range(iterations - 1):
            start = share(edges.backwards(edges.forwards(start)))
        right, bound = authorities(start), ROUNDING
    yield [_compared(job, "authority", authority, right, bound)]


class Edges:
    """Sums along the edges of a graph, worked out where its clusters are.

    Attributes
    ----------
    out
        Number, or weight, of the edges out of each node.
    power
        Weights are divided by 2 to it, where they are extreme.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.power = exponent(job) if job.weighted else 0
        self.how = {"weighted": job.weighted, "power": self.power}
        self.out = self.backwards(np.ones(job.n))

    def forwards(self, values: Values, back: bool = False) -> Values:
        """For each node, the sum over the edges that come in; or back, over those that leave."""
        return sum(self.job.each(_sums, values=values, back=back, **self.how), np.zeros(self.job.n))

    def backwards(self, values: Values) -> Values:
        """For each node, the sum over the edges that leave."""
        return self.forwards(values, back=True)


def _sums(
    c: Cluster, outputs: Outputs, values: Values, back: bool, weighted: bool, power: int
) -> Values:
    row, other = ends(c)
    of, to = (other, c.ids[row]) if back else (c.ids[row], other)
    sums = np.bincount(to, values[of] * lengths(c, weighted, power), c.n).astype(np.float64)
    if c.loops is not None:
        nodes = c.ids[c.loops]
        sums[nodes] += values[nodes] * loop_lengths(c, weighted, power)
    return sums


def _limits(job: Job) -> tuple[float | None, int | None]:
    """The tolerance and the number of iterations of a run."""
    iterations = job.fact("iterations")
    return job.fact("tolerance", TOLERANCE if iterations is None else None), iterations


def _settled(
    job: Job, name: str, step: Step, start: Values, grows: float, again: Step | None = None
) -> Iterator[list[Found]]:
    """Violations of values that one more step changes by more than `grows` times the tolerance.

    Parameters
    ----------
    again
        The step for values as they are in the results, if these were scaled at the end.
    """
    (found,) = job.floats(name)
    yield [_numbers(job, name)]
    tolerance, iterations = _limits(job)
    if tolerance is not None:
        right, bound = (again or step)(found), ROUNDING + grows * tolerance
        if iterations is None or np.abs(right - found).sum() <= bound:
            yield [_compared(job, name, found, right, bound)]
            return
    assert iterations is not None
    for _ in range(iterations):
        start = step(start)
    if again is not None:
        start = start / np.linalg.norm(start)
    yield [_compared(job, name, found, start, ROUNDING * max(1.0, np.abs(start).sum()))]


def _numbers(job: Job, name: str) -> Found:
    """Violations of values that are negative or no numbers."""
    found = job.outputs[name]
    wrong = ~(np.isfinite(found) & (found >= 0))
    return job.found((name, wrong, "a number, 0 or more", found))


def _compared(job: Job, name: str, found: Values, right: Values, bound: float) -> Found:
    """Violations of values that together differ from the right ones by more than a bound."""
    change = np.abs(right - found)
    total = change.sum()
    beyond = (change > bound / job.n) & (total > bound)
    text = f"; all together may differ by {bound:.3g}, not by {total:.3g}"
    return job.found((name, beyond, says(f"{{:.15g}}{text}", right), says("{:.15g}", found)))


def _preference(job: Job) -> NDArray[np.float64]:
    """The share of walkers that go to each node when they follow no edge."""
    wanted: Any = job.given("personalisation")
    if wanted is None:
        wanted = job.fact("personalisation")
    if wanted is None:
        return np.full(job.n, 1 / job.n)
    if isinstance(wanted, str):  # too long to be among the attributes
        raise InputError(
            "the personalisation is unknown: the results need 'personalisation', one value per node"
        )
    numbers = np.asarray(wanted, object)
    if numbers.ndim == 2:
        nodes, shares = numbers.T
        numbers = np.zeros(job.n)
        numbers[[job.node(node) for node in nodes]] = shares
    return numbers.astype(float) / numbers.astype(float).sum()
