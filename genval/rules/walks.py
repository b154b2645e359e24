"""Random walks."""

from __future__ import annotations

import numpy as np

from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import Job, Outputs, collect
from dgsuite.partition.clusters.cluster import Cluster


def random_walks(job: Job) -> list[Found]:
    """Each walk begins at its node, goes along edges, ends only at a node that no edge leaves, and has as
    many steps as the run was to make.
    """
    steps = job.outputs["walk"].shape[1] - 1
    length = job.integer("length", steps, 0, np.iinfo(np.int64).max)
    return [*job.each(_ends, steps=steps, length=length), *job.each(_steps)]


def _ends(c: Cluster, outputs: Outputs, steps: int, length: int) -> Found:
    walk = outputs["walk"][c.ids]
    ended = walk == -1
    resumed = (ended[:, :-1] & ~ended[:, 1:]).any(axis=1)
    short = np.full(c.size, steps != length)
    return collect(
        c.ids,
        ("start", walk[:, 0] != c.ids, lambda i: f"node {c.ids[i]}", lambda i: str(walk[i, 0])),
        ("end", resumed, lambda i: "no node after the end", lambda i: str(walk[i])),
        ("length", short, lambda i: f"{length} steps", lambda i: f"{steps}"),
    )


def _steps(c: Cluster, outputs: Outputs) -> Found:
    walk, after = outputs["walk"][:, :-1], outputs["walk"][:, 1:]
    here = (walk >= 0) & (walk < c.n)
    here &= c.partition.owner(np.where(here, walk, 0)) == c.index
    row = c.partition.position(walk[here]) - c.partition.offsets[c.index]
    to = after[here]
    wrong = np.where(to == -1, c.degree[row] > 0, c.entries(row, to) < 0)
    return collect(
        np.nonzero(here)[0],
        (
            "step",
            wrong,
            lambda i: f"a neighbour of node {c.ids[row[i]]}, or none where it has none",
            lambda i: str(to[i]),
        ),
    )
