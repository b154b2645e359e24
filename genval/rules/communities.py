"""Communities by label propagation, and by modularity."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import (
    Job,
    Outputs,
    collect,
    ends,
    exactly,
    exponent,
    forest,
    lengths,
    loop_lengths,
    parts,
    says,
)
from dgsuite.genval.rules.components import named
from dgsuite.genval.rules.registry import judges
from dgsuite.partition.clusters.cluster import Cluster

ROUNDING = 1e-12
"""What modularity may seem to gain where floats are rounded."""


@judges("cdlp", outputs={"label": 1})
def cdlp(job: Job) -> list[Found]:
    """Labels equal those of the definition, step by step: from those to begin with on, the label with the
    greatest weight among the neighbours of the step before, of several the smallest. Without weights each
    neighbour counts 1. On directed graphs one with an edge each way counts by both.
    """
    steps = job.integer("iterations", 10, 1, np.iinfo(np.int64).max)
    weighted = job.graph.weighted and bool(job.fact("weighted", False))
    shift = _shift(job) if weighted else None
    label = _first_labels(job)
    free = np.ones(job.n, bool)
    free[_listed(job, "fixed")] = False
    for _ in range(steps):
        heard = job.each(_heard, before=label.copy(), shift=shift)
        keys, weights = (np.concatenate(parts) for parts in zip(*heard, strict=True))
        key, which = np.unique(keys, return_inverse=True)
        weight = np.bincount(which, weights)
        nodes, labels = np.divmod(key, job.n)
        best = np.lexsort((-weight, nodes))  # labels ascend among those of equal weight
        nodes, first = np.unique(nodes[best], return_index=True)
        nodes, labels = nodes[free[nodes]], labels[best][first[free[nodes]]]
        changed = (label[nodes] != labels).any()
        label[nodes] = labels
        if not changed:
            break
    return [job.found(exactly("label", job.outputs["label"], label))]


def _first_labels(job: Job) -> NDArray[np.int64]:
    """Labels to begin with, -1 for none: of all nodes their own, or those of the run."""
    given: Any = job.given("labels")
    if given is None or not given.ndim:
        given = job.fact("labels")
    if given is None:
        return np.arange(job.n)
    if isinstance(given, str):  # too long to be among the attributes
        raise InputError("the labels are unknown: the results need 'labels', one value per node")
    pairs = [*given.items()] if isinstance(given, Mapping) else given
    if len(pairs) == job.n and not np.ndim(pairs[0]):
        if job.graph.labels is None:
            return np.asarray(pairs, np.int64)
        return job.graph.labels.nodes([*pairs], missing=True)
    label = np.full(job.n, -1)
    for node, kind in pairs:
        label[job.node(node)] = job.node(kind)
    return label


def _listed(job: Job, name: str) -> NDArray[np.int64]:
    """A parameter that is a list of nodes, or none."""
    given = job.given(name)
    if given is not None and given.ndim:
        return given.astype(np.int64)
    if isinstance(job.fact(name), str):  # too long to be among the attributes
        raise InputError(
            f"the nodes of {name!r} are unknown: the results need {name!r}, a list of them"
        )
    found = job.nodes(name)
    return np.empty(0, np.int64) if found is None else found


def _shift(job: Job) -> tuple[int, int]:
    """Powers of two: each weight times both, rounded, makes sums of whole numbers below 2^52."""
    power = exponent(job)
    sums = [part for parts in job.each(_twice, power=power) for part in parts]
    return power, 52 - math.frexp(math.fsum(sums))[1]


def _twice(c: Cluster, outputs: Outputs, power: int) -> tuple[float, float]:
    """Weights of a cluster's edges, once for each end; in two parts, of which the second is what the first
    was rounded by.
    """
    ends = (2 if c.directed else 1) * lengths(c, True, power)
    total = math.fsum(ends)
    return total, math.fsum([*ends, -total])


def _heard(
    c: Cluster, outputs: Outputs, before: NDArray, shift: tuple[int, int] | None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Labels that come along the cluster's edges: node * n + label, and their weight, where it is above 0."""
    row, other = ends(c)
    weight = lengths(c, shift is not None, 0)
    if shift is not None:
        weight = np.ldexp(weight, shift[1] - shift[0])
    keys, said = c.ids[row] * c.n, before[other]
    if c.directed:  # rows are edges that leave: labels go along them both ways
        keys = np.append(keys, other.astype(np.int64) * c.n)
        said, weight = np.append(said, before[c.ids[row]]), np.append(weight, weight)
    weight = np.rint(weight)
    counts = (said >= 0) & (weight > 0)
    key, which = np.unique(keys[counts] + said[counts], return_inverse=True)
    return key, np.bincount(which, weight[counts], len(key)).astype(np.float64)


@judges("louvain", outputs={"community": 1}, columns="level")
def louvain(job: Job) -> Iterator[list[Found]]:
    """A community is named by its smallest node, and no two of them have a higher quality as one. Of several
    levels this holds for the last, and each community is within one of the next level.
    """
    return _levels(job, connected=False)


@judges("leiden", outputs={"community": 1}, columns="level")
def leiden(job: Job) -> Iterator[list[Found]]:
    """A community is named by its smallest node, edges with weights above 0 connect it, and no two of them
    have a higher quality as one. Of several levels the last is so, and each community is within
    one of the next level.
    """
    return _levels(job, connected=True)


def _levels(job: Job, connected: bool) -> Iterator[list[Found]]:
    columns = job.outputs["community"].reshape(job.n, -1).T
    levels = [job.with_outputs({"community": column}) for column in columns]
    yield [named(column) for column in columns]
    found = [_within(fine, coarse) for fine, coarse in pairwise(columns)]
    if connected:
        found += [_connected(level) for level in levels]
    yield [*found, _apart(levels[-1])]


def _within(fine: NDArray, coarse: NDArray) -> Found:
    """Each community is within one of the next level: that of the node which names it."""
    above = coarse[fine]
    told = says("{} at the next level, as node {}", above, fine)
    return collect(np.arange(len(fine)), ("level", coarse != above, told, coarse))


def _apart(job: Job) -> Found:
    """No two communities gain as one: modularity, or by the constant Potts model."""
    label, resolution = job.outputs["community"], float(job.fact("resolution", 1.0))
    power = exponent(job) if job.weighted else 0
    pairs, weights = zip(*job.each(_between, weighted=job.weighted, power=power), strict=True)
    pair, at = np.unique(np.concatenate(pairs, axis=1), axis=1, return_inverse=True)
    weight = np.bincount(at.reshape(-1), np.concatenate(weights), pair.shape[1])
    degree = np.bincount(pair[0], weight, job.n)
    twice = max(degree.sum(), np.finfo(float).tiny)
    one, other = pair[:, pair[0] < pair[1]]
    gain = weight[pair[0] < pair[1]] / twice
    objective = str(job.fact("objective", "modularity"))
    if objective == "modularity":
        gain -= resolution * degree[one] / twice * degree[other] / twice
    else:
        size = np.bincount(label, minlength=job.n)
        gain -= np.ldexp(resolution, -power) * size[one] * size[other] / twice
    wanted = "no gain from being one with another community"
    found = says("{:.3g} with that of node {}", 2 * gain, other)
    return collect(one, (objective, gain > ROUNDING, wanted, found))


def _connected(job: Job) -> Found:
    """Edges with weights above 0 connect each community with the node that names it."""
    label = job.outputs["community"]
    links = np.concatenate(job.each(_linked, weighted=job.weighted), axis=1)
    piece = parts(links[0], links[1], job.n)
    told = says("a path to node {} within the community", label)
    return job.found(("path", piece != piece[label], told, "none"))


def _linked(c: Cluster, outputs: Outputs, weighted: bool) -> NDArray[np.int64]:
    """A spanning forest of the cluster's edges within communities: shape (2, edges)."""
    label = outputs["community"]
    row, other = ends(c)
    same = (label[c.ids[row]] == label[other]) & (lengths(c, weighted, 0) > 0)
    return np.stack(forest(c.n, c.ids[row[same]], other[same], np.ones(same.sum()))[:2])


def _between(c: Cluster, outputs: Outputs, weighted: bool, power: int) -> tuple[NDArray, NDArray]:
    """Pairs of communities with edges between them, and the weight of each edge."""
    label = outputs["community"]
    row, other = ends(c)
    pairs, weight = np.stack([label[c.ids[row]], label[other]]), lengths(c, weighted, power)
    if c.loops is not None:  # both their ends are the node's
        own = label[c.ids[c.loops]]
        pairs = np.append(pairs, [own, own], axis=1)
        weight = np.append(weight, 2 * loop_lengths(c, weighted, power))
    return pairs, weight
