"""Routing tables."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dgsuite.genval.report import LISTED, Found, Violation
from dgsuite.genval.rules.base import Job, Outputs, addable, collect, ends, says
from dgsuite.genval.rules.registry import judges
from dgsuite.partition.clusters.cluster import Cluster

AT_ONCE = 1 << 22
"""Table entries that are checked at a time."""

CLOSE = 1e-9
"""Relative difference allowed for rounding, since sums from the two ends of a path round differently."""


@judges("dr", outputs={"cost": 2, "next_hop": 2}, real=("cost",))
def dr(job: Job) -> Iterator[list[Found]]:
    """Bellman's equation holds at every node for every target, and the next hop attains its minimum. Next
    hops lead to the target, which is checked if weights are 0 or negligible against a cost.
    """
    found, free = zip(*job.each(_bellman), strict=True)
    yield [*found]
    if any(free):
        yield job.each(_walk)


def _bellman(c: Cluster, outputs: Outputs) -> tuple[Found, bool]:
    """Check Bellman's equation; also returns whether a weight is negligible against the highest cost."""
    cost, next_hop = outputs["cost"], outputs["next_hop"]
    weights = addable(c, "cost", cost)
    real = weights.dtype.kind == "f"
    equal = partial(np.isclose, rtol=CLOSE, atol=0) if real else np.equal
    nothing = CLOSE * cost.max() if real else 0
    count, listed = 0, list[Violation]()
    targets = np.arange(c.n)
    for rows in _chunks(c):
        ids = c.ids[rows]
        mine, hop = cost[ids], next_hop[ids]
        least, weight = _over_neighbours(c, rows, weights, cost)
        own = ids[:, None] == targets
        least = np.where(own, 0, least)
        right_cost = equal(mine, least) & (least < np.inf)
        valid = (hop >= 0) & (hop < c.n)
        safe = np.where(valid, hop, 0)
        through = np.take_along_axis(weight, safe, axis=1) + cost[safe, targets]
        right_hop = np.where(own, hop == ids[:, None], valid & equal(through, mine))
        for what, right, values in (("cost", right_cost, mine), ("next hop", right_hop, hop)):
            wrong = np.argwhere(~right)
            count += len(wrong)
            for i, t in wrong[: LISTED - len(listed)].tolist():
                best = f"{least[i, t]}" if what == "cost" else "a neighbour on a cheapest path"
                found = f"{values[i, t]}"
                listed.append(Violation(f"{what} to node {t}", int(ids[i]), best, found))
    return Found(count, listed), bool((weights <= nothing).any())


def _chunks(c: Cluster) -> list[NDArray]:
    """Blocks of a cluster's rows whose neighbours' tables have about `AT_ONCE` entries."""
    work = np.cumsum((c.degree.astype(np.int64) + 1) * c.n) // AT_ONCE
    cuts = np.flatnonzero(np.diff(work)) + 1
    return [rows for rows in np.split(np.arange(c.size), cuts) if len(rows)]


def _over_neighbours(
    c: Cluster, rows: NDArray, weights: NDArray, cost: NDArray
) -> tuple[NDArray, NDArray]:
    """For some rows and all targets, the least cost via a neighbour; also the weight of each neighbour,
    infinite for all other nodes.
    """
    lo, hi = int(c.indptr[rows[0]]), int(c.indptr[rows[-1] + 1])
    kind = np.float64 if "f" in (weights.dtype.kind, cost.dtype.kind) else np.int64
    nothing = np.inf if kind is np.float64 else np.iinfo(np.int64).max // 4
    least = np.full((len(rows), c.n), nothing, kind)
    weight = np.full((len(rows), c.n), nothing, kind)
    at = np.repeat(np.arange(len(rows)), c.degree[rows])
    weight[at, c.indices[lo:hi]] = weights[lo:hi]
    some = np.flatnonzero(c.degree[rows])
    if len(some):
        starts = c.indptr[rows[some]] - lo
        ways = cost[c.indices[lo:hi]] + weights[lo:hi, None]
        least[some] = np.minimum.reduceat(ways, starts, axis=0)
    return least, weight


def _walk(c: Cluster, outputs: Outputs) -> Found:
    """Check that next hops lead to each of the cluster's nodes."""
    count, listed = 0, list[Violation]()
    width = max(AT_ONCE // c.n, 1)
    for start in range(0, c.size, width):
        targets = c.ids[start : start + width]
        hop = outputs["next_hop"][:, targets]
        for _ in range(max(c.n - 1, 1).bit_length()):
            hop = np.take_along_axis(hop, hop, axis=0)
        lost = np.argwhere(hop != targets)
        count += len(lost)
        for node, t in lost[: LISTED - len(listed)].tolist():
            what = f"path to node {targets[t]}"
            listed.append(Violation(what, node, "an end", "a loop"))
    return Found(count, listed)


@judges("distance_vector", outputs={"distance": 1, "next_hop": 1})
def distance_vector(job: Job) -> list[Found]:
    """The root is at distance 0, any other node one farther than its nearest neighbour, but no farther than
    what counts as infinite. Its next hop is such a neighbour; there is none at the root and where there is
    no way. Nodes that have crashed are left out.
    """
    infinity = job.integer("infinity", 16, 1, (1 << 31) - 1)
    return job.each(_hops_to_the_root, root=job.root(), alive=job.alive, infinity=infinity)


def _hops_to_the_root(
    c: Cluster, outputs: Outputs, root: int, alive: NDArray[np.bool_], infinity: int
) -> Found:
    distance, hop = outputs["distance"].astype(np.int64), outputs["next_hop"][c.ids]
    mine, live = distance[c.ids], alive[c.ids]
    row, other = ends(c)
    there = alive[other]
    right = c.full(infinity)
    np.minimum.at(right, row[there], distance[other[there]] + 1)
    right[c.ids == root] = 0
    way = live & (mine > 0) & (mine < infinity)
    good = way & (c.entries(np.arange(c.size), hop) >= 0)
    good[good] = alive[hop[good]] & (distance[hop[good]] == mine[good] - 1)
    nearer = says("a neighbour {} hops from the root", mine - 1)
    return collect(
        c.ids,
        ("distance", live & (mine != right), says("{}, by its neighbours", right), mine),
        ("next hop", way & ~good, nearer, hop),
        ("next hop", live & ~way & (hop != -1), "none, -1", hop),
    )
