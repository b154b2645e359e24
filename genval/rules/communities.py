"""Communities by label propagation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from genval.report import Found
from genval.rules.base import Job, Outputs, collect, ends
from partition.cluster import Cluster


def cdlp(job: Job) -> list[Found]:
    """Labels equal those of the definition, step by step: from the node's own id on, the most frequent label
    among the neighbours of the step before, of several the smallest.
    """
    steps = job.integer("iterations", 10, 1, np.iinfo(np.int64).max)
    label = np.arange(job.n)
    for _ in range(steps):
        before = label.copy()
        for nodes, labels in job.each(_most_frequent, before=before):
            label[nodes] = labels
        if (label == before).all():
            break
    found = job.outputs["label"]
    return [
        collect(
            np.arange(job.n),
            ("label", found != label, lambda i: str(label[i]), lambda i: str(found[i])),
        )
    ]


def _most_frequent(c: Cluster, outputs: Outputs, before: NDArray) -> tuple[NDArray, NDArray]:
    """The cluster's nodes that have neighbours, and the most frequent label of each one's."""
    row, other = ends(c)
    key, times = np.unique(row.astype(np.int64) * c.n + before[other], return_counts=True)
    rows, labels = np.divmod(key, c.n)
    best = np.lexsort((-times, rows))  # labels ascend among equal ones
    rows, first = np.unique(rows[best], return_index=True)
    return c.ids[rows], labels[best][first]
