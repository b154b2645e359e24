"""What lies around some nodes: neighbourhoods and samples of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import Job, Outputs, absent, collect, says, strange
from dgsuite.genval.rules.registry import judges
from dgsuite.partition.arrays.segments import expand
from dgsuite.partition.clusters.cluster import Cluster


@judges("neighbourhood", outputs={"target": 0, "source": 0, "hop": 0})
def neighbourhood(job: Job) -> Iterator[list[Found]]:
    """Sources are at hop 0 of themselves; an edge leads at most one hop further, and each other node has an
    edge to it from one that is a hop nearer. With `nearest` this holds for the nearest source, of several the
    smallest node.
    """
    target, source, hop = job.integers("target", "source", "hop")
    yield [strange(job.n, target, source)]
    hops, nearest = int(job.fact("hops", 1)), bool(job.fact("nearest", False))
    key = target * job.n + (0 if nearest else source)
    wanted = _sources(job, source[hop == 0])
    missing = np.setdiff1d(wanted, source[(hop == 0) & (target == source)])
    order = "rows that ascend by target and source, each once"
    odd = ~np.isin(source, wanted) | ((hop == 0) != (target == source))
    begin, found = "a source, at hop 0 of itself alone", says("node {} at hop {}", source, hop)
    table = collect(
        target,
        ("order", np.diff(key, prepend=-1) <= 0, order, says("source {} there", source)),
        ("source", odd, begin, found),
        ("hops", (hop < 0) | (hop > hops), f"a hop from 0 to {hops}", hop),
    )
    yield [table, absent(missing, "source", "at hop 0 of itself")]
    rows = job.each(_spread, hops=hops, nearest=nearest)
    backed = np.any([backed for backed, _ in rows], axis=0) | (hop == 0)
    far = np.unique(np.concatenate([far for _, far in rows]))
    nearer = says("a neighbour at hop {} of node {}", hop - 1, source)
    yield [
        collect(target, ("nearer", ~backed, nearer, says("none, at hop {}", hop))),
        absent(far, "neighbour", "a row that is at most one hop further than its neighbour's"),
    ]


def _spread(
    c: Cluster, outputs: Outputs, hops: int, nearest: bool
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Which rows have an edge from a row of a cluster's nodes that is a hop nearer, and the nodes to which an
    edge leads, but for which there is no row that is near enough.
    """
    target, source, hop = (outputs[name].astype(np.int64) for name in ("target", "source", "hop"))
    key = target * c.n + (0 if nearest else source)
    rank = hop * c.n + source  # what comes first is nearer
    mine = np.flatnonzero((c.partition.owner(target) == c.index) & (hop < hops))
    at, entry = expand(c.indptr, c.partition.position(target[mine]) - c.first)
    row, end = mine[at], c.indices[entry].astype(np.int64)
    wanted = end * c.n + (0 if nearest else source[row])
    there = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
    due = rank[row] + c.n
    near = (key[there] == wanted) & (rank[there] <= due)
    backed = np.zeros(len(key), bool)
    backed[there[near & (rank[there] == due)]] = True
    return backed, np.unique(end[~near])


@judges("sample", outputs={"source": 0, "target": 0, "place": 0, "hop": 0})
def sample(job: Job) -> Iterator[list[Found]]:
    """A node draws in the hop after the one that met it first, sources in hop 0, as many edges as the fan-out
    says, which are edges of the graph; without replacement different ones, and with weights none of weight 0.
    """
    source, target, hop = job.integers("source", "target", "hop")
    yield [strange(job.n, source, target)]
    fanouts = job.listed("fanouts", (15, 10))
    order, there = "rows that ascend by source", says("node {} there", source)
    turns, outside = f"a hop from 0 to {len(fanouts) - 1}", (hop < 0) | (hop >= len(fanouts))
    falls = np.diff(source, prepend=0) < 0
    yield [collect(source, ("order", falls, order, there), ("hop", outside, turns, hop))]
    due = np.full(job.n, len(fanouts))  # hop in which a node draws
    np.minimum.at(due, target, hop + 1)
    due[_sources(job, np.unique(source[hop == 0]))] = 0
    how = {name: bool(job.fact(name, False)) for name in ("replace", "weighted")}
    found = job.each(_drawn, due=due, fanouts=np.array([*fanouts, 0]), **how)
    yield [*chain.from_iterable(found)]


def _drawn(
    c: Cluster, outputs: Outputs, due: NDArray, fanouts: NDArray, replace: bool, weighted: bool
) -> list[Found]:
    """What is wrong with the edges that a cluster's nodes have drawn."""
    mine = c.partition.owner(outputs["source"].astype(np.int64)) == c.index
    names = ("source", "target", "place", "hop")
    source, target, place, hop = (outputs[name][mine].astype(np.int64) for name in names)
    row = c.partition.position(source) - c.first
    real = (place >= 0) & (place < c.degree[row])
    entry = np.where(real, c.indptr[row] + place, -1)
    real[real] = c.indices[entry[real]] == target[real]
    able = np.ones(len(c.indices), bool)
    if weighted and c.weights is not None:
        able = c.weights > 0
        real[real] = able[entry[real]]
    order = np.lexsort((place, source))
    twice = np.zeros(len(source), bool)
    again = (np.diff(source[order]) == 0) & (np.diff(place[order]) == 0)
    twice[order[1:][again]] = True
    there = np.bincount(np.repeat(np.arange(c.size), c.degree), able, c.size).astype(np.int64)
    fanout = fanouts[due[c.ids]]
    twice &= (not replace) | (fanout[row] < 0)
    wanted = np.where(there > 0, fanout, 0) if replace else np.minimum(there, fanout)
    wanted = np.where(fanout < 0, there, wanted)
    has = np.bincount(row, minlength=c.size)
    edge = "an edge that can be drawn, by its place among those of the node"
    turn = due[source]
    return [
        collect(c.ids, ("number", has != wanted, says("{} edges", wanted), has)),
        collect(
            source,
            ("edge", ~real, edge, says("node {} at place {}", target, place)),
            ("twice", twice, "different edges", says("place {} again", place)),
            ("turn", hop != turn, says("hop {}", turn), hop),
        ),
    ]


def _sources(job: Job, seen: NDArray) -> NDArray:
    """The nodes to start from, where the run lists them; all of them, or those that it has drawn."""
    listed = job.nodes("sources")
    if listed is None and job.fact("sources") is None:
        return np.arange(job.n)
    return np.unique(seen if listed is None else listed)
