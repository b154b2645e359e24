"""Centralities that are fixed points of sums over neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from genval.report import Found
from genval.rules.base import Job, Outputs, collect, ends
from partition.cluster import Cluster
from partition.errors import InputError

ROUNDING = 1e-12
"""Difference, of all ranks together, that is allowed for rounding."""


def pagerank(job: Job) -> list[Found]:
    """Ranks are not negative, and one more step of the walk hardly changes them. The last step changed them
    by less than the tolerance, and a step shrinks every change by the damping at least; so the sum of
    changes is below damping times tolerance. That is a fixed point, and there is only one. Where ranks
    need not be so close to it, since the number of iterations was given, they are those after so many
    steps from 1 / n.
    """
    rank = job.outputs["rank"].astype(np.float64)
    damping, tolerance = job.fact("damping", 0.85), job.fact("tolerance")
    iterations = job.fact("iterations")
    nodes = np.arange(job.n)
    wrong = ~(np.isfinite(rank) & (rank >= 0))
    if wrong.any():
        return [collect(nodes, ("rank", wrong, lambda i: "0 or more", lambda i: str(rank[i])))]
    if tolerance is None and iterations is None:
        tolerance = 1e-6
    bound = ROUNDING + damping * (tolerance or 0.0)
    step = Step(job, damping)
    right = step(rank)
    if tolerance is None or (iterations is not None and np.abs(right - rank).sum() > bound):
        right, bound = np.full(job.n, 1 / job.n), ROUNDING
        for _ in range(iterations):
            right = step(right)
    change = np.abs(right - rank)
    beyond = (change > bound / job.n) & (change.sum() > bound)
    text = f"; all together may be wrong by {bound:.3g}, not by {change.sum():.3g}"
    return [
        collect(
            nodes, ("rank", beyond, lambda i: f"{right[i]:.15g}{text}", lambda i: f"{rank[i]:.15g}")
        )
    ]


class Step:
    """A step of the random walk that a run followed, from the ranks before it to those after."""

    def __init__(self, job: Job, damping: float) -> None:
        self.job = job
        self.damping = damping
        self.preference = _preference(job)
        self.weighted = bool(job.fact("weighted", False))
        self.spread = job.fact("sinks", "spread") == "spread"

    def __call__(self, rank: NDArray[np.float64]) -> NDArray[np.float64]:
        found = self.job.each(_walk, rank=rank, weighted=self.weighted)
        along = sum(flow for flow, _ in found)
        held = sum(at_sinks for _, at_sinks in found) if self.spread else 0.0
        anywhere = (1 - self.damping + self.damping * held) * self.preference
        return anywhere + self.damping * along


def _walk(
    c: Cluster, outputs: Outputs, rank: NDArray, weighted: bool
) -> tuple[NDArray[np.float64], float]:
    """What each node of the graph gets along the edges out of a cluster, and what its sinks hold."""
    row, other = ends(c)
    weights = np.ones(len(row)) if c.weights is None or not weighted else c.weights.astype(float)
    out = np.bincount(row, weights, c.size)
    mine = rank[c.ids]
    per_weight = np.divide(mine, out, out=np.zeros(c.size), where=out > 0)
    flow = np.bincount(other, per_weight[row] * weights, c.n).astype(float)
    return flow, float(mine[out == 0].sum())


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
        found = np.zeros(job.n)
        found[[job.node(node) for node in numbers[:, 0]]] = numbers[:, 1].astype(float)
        numbers = found
    return numbers.astype(float) / numbers.astype(float).sum()
