"""Communities by label propagation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from genval.report import Found
from genval.rules.base import Job, Outputs, collect, ends
from partition.cluster import Cluster


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
