"""Components of a graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order, connected_components

from dgsuite.base.errors import InputError
from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import Job, Outputs, collect, edges_within, ends, says
from dgsuite.genval.rules.registry import judges
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.checks import components, each_cluster, of_clusters


@judges("wcc", outputs={"component": 1}, columns="threshold")
def wcc(job: Job) -> list[Found]:
    """Connected components: both ends of an edge have the same label; a label is the smallest node that has
    it; and the smallest node of each tree of a spanning forest has a label of its own, so none joins two.
    With thresholds this holds for each of them, on the graph of the edges that count.
    """
    label = job.outputs["component"]
    if job.fact("single") is not None:
        raise InputError("no validator for components of a run with single=")
    if label.ndim == 1:
        return _components(job, label)
    thresholds = job.given("threshold")
    assert thresholds is not None
    columns = zip(thresholds.tolist(), label.T, strict=True)
    return [found for least, column in columns for found in _components(_heavy(job, least), column)]


def _heavy(job: Job, least: float) -> Job:
    """The job on the graph of the edges whose weight is at least a number."""
    if not job.graph.weighted:
        raise InputError("components at thresholds need a graph with weights")
    parts = each_cluster(job.graph, _kept, least)
    entries = of_clusters(job.graph.like(parts, job.graph.entries), _entries)
    return Job(job.graph.like(parts, entries), {}, {})


def _kept(c: Cluster, least: float) -> Cluster:
    assert c.weights is not None
    with np.errstate(over="ignore"):  # of weights of 32 bits
        kept = c.weights >= least
    indptr = np.append(0, np.cumsum(kept))[c.indptr].astype(c.indptr.dtype)
    return replace(
        c, indptr=indptr, indices=c.indices[kept], weights=c.weights[kept], block=None, cache={}
    )


def _entries(c: Cluster) -> int:
    return len(c.indices)


def _components(job: Job, label: NDArray) -> list[Found]:
    job = Job(job.graph, {"component": label}, {})
    nodes = np.arange(job.n)
    alone = (components(job.graph) == nodes) & (label != nodes)
    told = says("{}, since no path leads to a smaller node", nodes)
    return [*job.each(_joined), _named(label), job.found(("component", alone, told, label))]


def _named(label: NDArray) -> Found:
    """Each label is the smallest node that has it."""
    nodes = np.arange(len(label))
    known = (label >= 0) & (label <= nodes)
    above = label[np.where(known, label, 0)]
    other = says("node {} with label {}", label, above)
    return collect(
        nodes,
        ("label", ~known, says("a node from 0 to {}", nodes), label),
        ("label", known & (above != label), "a node with that label", other),
    )


@judges("scc", outputs={"component": 1})
def scc(job: Job) -> Iterator[list[Found]]:
    """Strongly connected components: a label is the smallest node that has it; paths within the label lead
    from that node to all others that have it, and back; and no cycle goes through two labels.
    """
    label = job.outputs["component"]
    yield [_named(label)]
    nodes = np.arange(job.n)
    checks = []
    for back, told in ((False, "a path from node {}"), (True, "a path to node {}")):
        reached, before = label == nodes, -1
        while (now := int(np.count_nonzero(reached))) > before:
            before = now
            for found in job.each(_reached, reached=reached.copy(), back=back):
                reached[found] = True
        checks.append(job.found(("path", ~reached, says(told, label), "none")))
    between = np.concatenate(job.each(_between), axis=1)
    link = sp.csr_array((np.ones(between.shape[1], bool), between), shape=(job.n, job.n))
    _, cycle = connected_components(link, connection="strong")
    shared = np.bincount(cycle)[cycle] > 1
    wanted = "no path from the component to another one and back"
    names = np.where(shared, label, -1)
    yield [*checks, job.found(("component", shared, wanted, names))]


def _reached(c: Cluster, outputs: Outputs, reached: NDArray, back: bool) -> NDArray:
    """Nodes that paths along the cluster's edges, within labels, lead to from nodes that are reached."""
    label = outputs["component"]
    row, dst = ends(c)
    src = c.ids[row]
    same = label[src] == label[dst]
    way = np.stack([src[same], dst[same]])[:: -1 if back else 1]
    starts = np.flatnonzero(reached)
    way = np.concatenate([way, [np.full(len(starts), c.n), starts]], axis=1)
    matrix = sp.csr_array((np.ones(way.shape[1], bool), way), shape=(c.n + 1, c.n + 1))
    return breadth_first_order(matrix, c.n, return_predecessors=False)[1:]


def _between(c: Cluster, outputs: Outputs) -> NDArray:
    """The labels at both ends of edges whose ends have different ones: shape (2, count)."""
    label = outputs["component"]
    row, other = ends(c)
    pairs = np.stack([label[c.ids[row]], label[other]])
    return np.unique(pairs[:, pairs[0] != pairs[1]], axis=1)


def _joined(c: Cluster, outputs: Outputs) -> Found:
    label = outputs["component"]
    return edges_within(c, "edge", label, "neighbours with label {}", "node {} with {}")
