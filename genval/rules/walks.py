"""Random walks."""

from __future__ import annotations

import numpy as np

from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import Job, Outputs, collect
from dgsuite.partition.clusters.cluster import Cluster


def random_walks(job: Job) -> list[Found]:
    """Each walk begins at its node, goes along edges, ends only at a node that no edge leaves, and has as
    many steps as the run was to make. With restarts it may go back to its first node at any time, and does
    not end. Where weights count, it takes no edge of weight 0.
    """
    steps = job.outputs["walk"].shape[-1] - 1
    length = job.integer("length", steps, 0, np.iinfo(np.int64).max)
    restarts = bool(job.fact("restart", 0.0))
    by_weight = job.graph.weighted and bool(job.fact("weighted", False))
    return [
        *job.each(_ends, steps=steps, length=length),
        *job.each(_steps, restarts=restarts, by_weight=by_weight),
    ]


def _ends(c: Cluster, outputs: Outputs, steps: int, length: int) -> Found:
    walk = outputs["walk"][c.ids].reshape(-1, steps + 1)
    node = np.repeat(c.ids, len(walk) // max(c.size, 1))
    ended = walk == -1
    resumed = (ended[:, :-1] & ~ended[:, 1:]).any(axis=1)
    short = np.full(len(walk), steps != length)
    return collect(
        node,
        ("start", walk[:, 0] != node, lambda i: f"node {node[i]}", lambda i: str(walk[i, 0])),
        ("end", resumed, "no node after the end", walk),
        ("length", short, f"{length} steps", f"{steps}"),
    )


def _steps(c: Cluster, outputs: Outputs, restarts: bool, by_weight: bool) -> Found:
    walk, after = outputs["walk"][..., :-1], outputs["walk"][..., 1:]
    here = (walk >= 0) & (walk < c.n)
    here &= c.partition.owner(np.where(here, walk, 0)) == c.index
    start = np.nonzero(here)[0]
    row = c.partition.position(walk[here]) - c.partition.offsets[c.index]
    to = after[here]
    weighs = c.weights > 0 if by_weight and c.weights is not None else np.ones(len(c.indices), bool)
    way = c.entries(row, to)
    way[way >= 0] = np.where(weighs[way[way >= 0]], way[way >= 0], -1)
    ways = np.bincount(np.repeat(np.arange(c.size), c.degree), weighs, c.size)[row] > 0
    wrong = np.where(to == -1, ways | restarts, (way < 0) & ~(restarts & (to == start)))
    return collect(
        start,
        (
            "step",
            wrong,
            lambda i: f"a neighbour of node {c.ids[row[i]]}, or none where it has none",
            to,
        ),
    )
