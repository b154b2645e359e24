"""Waves that go out from a root and come back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.genval.report import Found
from dgsuite.genval.rules import search
from dgsuite.genval.rules.base import Job, Outputs, collect, ends, exactly, says
from dgsuite.genval.rules.registry import judges
from dgsuite.partition.clusters.cluster import Cluster


@judges("echo", outputs={"parent": 1, "level": 1, "size": 1, "total": 1, "decided": 1})
def echo(job: Job) -> list[Found]:
    """The tree is one of breadth-first search, with the smallest possible parents. The size of a subtree is
    one more than those of the node's children together, and the total its value more; both are 0 where the
    wave does not come. The root has decided, and no other node.
    """
    outputs = job.outputs
    level, parent = outputs["level"], outputs["parent"]
    tree = job.with_outputs({"distance": level, "parent": parent})
    value = job.values(_values, of=str(job.fact("value", "degree")))
    child = np.flatnonzero((parent >= 0) & (parent < job.n))
    reached, root = level >= 0, np.arange(job.n) == job.root()
    right = {"size": reached.astype(np.int64), "total": np.where(reached, value, 0)}
    for name, sums in right.items():
        np.add.at(sums, parent[child], outputs[name][child])
    mistaken = (outputs["decided"] != 0) != root
    told = "a decision", "none but at the root"
    found = job.found(
        exactly("size", outputs["size"], right["size"]),
        exactly("total", outputs["total"], right["total"]),
        ("decided", mistaken, np.where(root, *told), np.where(root, "none", "one")),
    )
    return [*search.dst(tree), *job.each(_smallest), found]


def _values(c: Cluster, outputs: Outputs, of: str) -> tuple[NDArray, NDArray]:
    return c.ids, c.uid if of == "uid" else c.degree


def _smallest(c: Cluster, outputs: Outputs) -> Found:
    """No neighbour that is one hop nearer to the root is smaller than the parent."""
    level, parent = outputs["level"].astype(np.int64), outputs["parent"][c.ids]
    row, other = ends(c)
    nearer = level[other] == level[c.ids][row] - 1
    least = np.full(c.size, c.n)
    np.minimum.at(least, row[nearer], other[nearer])
    wrong = (level[c.ids] > 0) & (parent > least)
    told = says("node {}, the smallest one hop nearer", least)
    return collect(c.ids, ("parent", wrong, told, parent))


@judges(
    "dijkstra_scholten",
    outputs={"distance": 1, "told": 1, "acknowledged": 1, "last": 1, "announced": 1},
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
    told = np.where(root, f"round {over} to {over + job.n}", "-1, but at the root")
    found = job.found(("end", ~right, told, announced))
    return [*search.bf(job), *job.each(_acknowledged), found]


def _acknowledged(c: Cluster, outputs: Outputs) -> Found:
    told, acknowledged = outputs["told"], outputs["acknowledged"][c.ids]
    reached, last = outputs["distance"][c.ids] >= 0, outputs["last"][c.ids]
    row, other = ends(c)
    got = np.zeros(c.size, np.int64)
    np.add.at(got, row, told[other])
    mine = told[c.ids]
    sent = np.where(reached, "a node that told its neighbours", "0")
    end = np.where(reached, "a round from 0 on", "-1")
    return collect(
        c.ids,
        ("search", np.where(reached, mine < 1, mine != 0), sent, mine),
        exactly("acknowledgements", acknowledged, got),
        ("last", reached != (last >= 0), end, last),
    )
