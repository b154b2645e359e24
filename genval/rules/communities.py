"""Communities by label propagation, and by modularity."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import Job, Outputs, collect, ends, exponent, lengths
from dgsuite.partition.clusters.cluster import Cluster

ROUNDING = 1e-12
"""What modularity may seem to gain where floats are rounded."""


def cdlp(job: Job) -> list[Found]:
    """Labels equal those of the definition, step by step: from the node's own id on, the most frequent label
    among the neighbours of the step before, of several the smallest. On directed graphs a neighbour with an
    edge each way counts twice.
    """
    steps = job.integer("iterations", 10, 1, np.iinfo(np.int64).max)
    label = np.arange(job.n)
    for _ in range(steps):
        keys, times = np.concatenate(job.each(_heard, before=label.copy()), axis=1)
        key, which = np.unique(keys, return_inverse=True)
        times = np.bincount(which, times).astype(np.int64)
        nodes, labels = np.divmod(key, job.n)
        best = np.lexsort((-times, nodes))  # labels ascend among those that are equally frequent
        nodes, first = np.unique(nodes[best], return_index=True)
        changed = (label[nodes] != labels[best][first]).any()
        label[nodes] = labels[best][first]
        if not changed:
            break
    found = job.outputs["label"]
    return [
        collect(
            np.arange(job.n),
            ("label", found != label, lambda i: str(label[i]), lambda i: str(found[i])),
        )
    ]


def _heard(c: Cluster, outputs: Outputs, before: NDArray) -> NDArray[np.int64]:
    """Labels that come along the cluster's edges: node * n + label, and how often; shape (2, labels)."""
    row, other = ends(c)
    keys = c.ids[row] * c.n + before[other]
    if c.directed:  # rows are edges that leave: labels go along them both ways
        keys = np.concatenate([keys, other.astype(np.int64) * c.n + before[c.ids[row]]])
    return np.stack(np.unique(keys, return_counts=True))


def louvain(job: Job) -> list[Found]:
    """A community is named by its smallest node, and no two of them have a higher modularity as one."""
    named = _named(job)
    return [named] if named.total else [named, _apart(job)]


def leiden(job: Job) -> list[Found]:
    """A community is named by its smallest node, edges with weights above 0 connect it, and no two of them
    have a higher quality as one.
    """
    named = _named(job)
    return [named] if named.total else [named, _connected(job), _apart(job)]


def _named(job: Job) -> Found:
    """A community is named by its smallest node."""
    label = job.outputs["community"]
    nodes = np.arange(job.n)
    known = (label >= 0) & (label <= nodes)
    named = known.copy()
    named[known] = label[label[known]] == label[known]
    return collect(
        nodes,
        (
            "community",
            ~named,
            lambda i: "the smallest node of its community",
            lambda i: str(label[i]),
        ),
    )


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
    return collect(
        one,
        (
            objective,
            gain > ROUNDING,
            lambda i: "no gain from being one with another community",
            lambda i: f"{2 * gain[i]:.3g} with that of node {other[i]}",
        ),
    )


def _connected(job: Job) -> Found:
    """Edges with weights above 0 connect each community with the node that names it."""
    label = job.outputs["community"]
    links = np.concatenate(job.each(_linked, weighted=job.weighted), axis=1)
    link = sp.csr_array((np.ones(links.shape[1], bool), links), shape=(job.n, job.n))
    _, piece = connected_components(link, directed=False)
    return collect(
        np.arange(job.n),
        (
            "path",
            piece != piece[label],
            lambda i: f"a path to node {label[i]} within the community",
            lambda i: "none",
        ),
    )


def _linked(c: Cluster, outputs: Outputs, weighted: bool) -> NDArray[np.int64]:
    """A spanning forest of the cluster's edges within communities: shape (2, edges)."""
    label = outputs["community"]
    row, other = ends(c)
    same = (label[c.ids[row]] == label[other]) & (lengths(c, weighted, 0) > 0)
    edges = c.ids[row[same]], other[same]
    link = sp.csr_array((np.ones(len(edges[0])), edges), shape=(c.n, c.n))
    return np.stack(minimum_spanning_tree(link).nonzero()).astype(np.int64)


def _between(c: Cluster, outputs: Outputs, weighted: bool, power: int) -> tuple[NDArray, NDArray]:
    """Pairs of communities with edges between them, and the weight of each edge."""
    label = outputs["community"]
    row, other = ends(c)
    return np.stack([label[c.ids[row]], label[other]]), lengths(c, weighted, power)
