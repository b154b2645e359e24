"""Waves that go out from a root and come back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.genval.report import Found
from dgsuite.genval.rules import search
from dgsuite.genval.rules.base import Job, Outputs, collect
from dgsuite.partition.clusters.cluster import Cluster


def echo(job: Job) -> list[Found]:
    """The tree is one of breadth-first search, with the smallest possible parents. The size of a subtree is
    one more than those of the node's children together, and the total its value more; both are 0 where the
    wave does not come. The root has decided, and no other node.
    """
    outputs = job.outputs
    level, parent = outputs["level"], outputs["parent"]
    tree = job.with_outputs({"distance": level, "parent": parent})
    value = np.zeros(job.n, np.int64)
    for ids, mine in job.each(_values, of=str(job.fact("value", "degree"))):
        value[ids] = mine
    child = np.flatnonzero((parent >= 0) & (parent < job.n))
    reached, root = level >= 0, np.arange(job.n) == job.root()
    right = {"size": reached.astype(np.int64), "total": np.where(reached, value, 0)}
    for name, sums in right.items():
        np.add.at(sums, parent[child], outputs[name][child])
    found = collect(
        np.arange(job.n),
        *(
            (
                name,
                outputs[name] != sums,
                lambda i, sums=sums: f"{sums[i]}, by its children",
                lambda i, name=name: str(outputs[name][i]),
            )
            for name, sums in right.items()
        ),
        (
            "decided",
            (outputs["decided"] != 0) != root,
            lambda i: "a decision" if root[i] else "none but at the root",
            lambda i: "none" if root[i] else "one",
        ),
    )
    return [*search.dst(tree), *job.each(_smallest), found]


def _values(c: Cluster, outputs: Outputs, of: str) -> tuple[NDArray, NDArray]:
    return c.ids, c.uid if of == "uid" else c.degree


def _smallest(c: Cluster, outputs: Outputs) -> Found:
    """No neighbour that is one hop nearer to the root is smaller than the parent."""
    level, parent = outputs["level"].astype(np.int64), outputs["parent"][c.ids]
    row = np.repeat(np.arange(c.size), c.degree)
    nearer = level[c.indices] == level[c.ids][row] - 1
    least = np.full(c.size, c.n)
    np.minimum.at(least, row[nearer], c.indices[nearer])
    return collect(
        c.ids,
        (
            "parent",
            (level[c.ids] > 0) & (parent > least),
            lambda i: f"node {least[i]}, the smallest one hop nearer",
            lambda i: str(parent[i]),
        ),
    )


def dijkstra_scholten(job: Job) -> list[Found]:
    """Distances are those of breadth-first search. A node that is reached has told its neighbours, and each
    has acknowledged as many messages as its neighbours have sent it. The root announces the end when no node
    gets or sends a message of the search any more, at most n rounds later, and no other node does.
    """
    root = np.arange(job.n) == job.root()
    announced, last = job.outputs["announced"], job.outputs["last"]
    over = int(last.max(initial=-1))
    right = np.where(root, (over <= announced) & (announced <= over + job.n), announced == -1)
    found = collect(
        np.arange(job.n),
        (
            "end",
            ~right,
            lambda i: f"round {over} to {over + job.n}" if root[i] else "-1, but at the root",
            lambda i: str(announced[i]),
        ),
    )
    return [*search.bf(job), *job.each(_acknowledged), found]


def _acknowledged(c: Cluster, outputs: Outputs) -> Found:
    told, acknowledged = outputs["told"], outputs["acknowledged"][c.ids]
    reached, last = outputs["distance"][c.ids] >= 0, outputs["last"][c.ids]
    row = np.repeat(np.arange(c.size), c.degree)
    got = np.zeros(c.size, np.int64)
    np.add.at(got, row, told[c.indices])
    mine = told[c.ids]
    return collect(
        c.ids,
        (
            "search",
            np.where(reached, mine < 1, mine != 0),
            lambda i: "a node that told its neighbours" if reached[i] else "0",
            lambda i: str(mine[i]),
        ),
        (
            "acknowledgements",
            acknowledged != got,
            lambda i: f"{got[i]}, as many as messages",
            lambda i: str(acknowledged[i]),
        ),
        (
            "last",
            reached != (last >= 0),
            lambda i: "a round from 0 on" if reached[i] else "-1",
            lambda i: str(last[i]),
        ),
    )
