"""Components of a graph."""

from __future__ import annotations

import numpy as np

from genval.report import Found
from genval.rules.base import Job, Outputs, collect, ends, first, occurs
from partition.checks import components
from partition.cluster import Cluster


def wcc(job: Job) -> list[Found]:
    """Connected components: both ends of an edge have the same label; a label is the smallest node that has
    it; and the smallest node of each tree of a spanning forest has a label of its own, so none joins two.
    """
    label = job.outputs["component"]
    nodes = np.arange(job.n)
    known = (label >= 0) & (label <= nodes)
    own = known.copy()
    own[known] = label[label[known]] == label[known]
    alone = (components(job.graph) == nodes) & (label != nodes)
    return [
        *job.each(_joined),
        collect(
            nodes,
            ("label", ~known, lambda i: f"a node from 0 to {i}", lambda i: str(label[i])),
            (
                "label",
                known & ~own,
                lambda i: "a node with that label",
                lambda i: f"node {label[i]} with label {label[label[i]]}",
            ),
            (
                "component",
                alone & own,
                lambda i: f"{i}, since no path leads to a smaller node",
                lambda i: str(label[i]),
            ),
        ),
    ]


def _joined(c: Cluster, outputs: Outputs) -> Found:
    label = outputs["component"]
    mine = label[c.ids]
    row, other = ends(c)
    apart = label[other] != mine[row]
    return collect(
        c.ids,
        (
            "edge",
            occurs(c, row[apart]),
            lambda i: f"neighbours with label {mine[i]}",
            lambda i: "node {} with {}".format(
                *(v[first(row, i, apart)] for v in (other, label[other]))
            ),
        ),
    )
