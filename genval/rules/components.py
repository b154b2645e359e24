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
from dgsuite.genval.rules.base import Job, Outputs, collect, ends, exactly, says
from dgsuite.genval.rules.registry import judges
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.checks import components, each_cluster
from dgsuite.partition.graph.graph import Graph


@judges("wcc", outputs={"component": 1}, columns="threshold")
def wcc(job: Job) -> list[Found]:
    """The label of each node is the smallest node of its component, by a spanning forest. With thresholds
    this holds for each of them, on the graph of the edges that count.
    """
    if job.fact("single") is not None:
        raise InputError("no validator for components of a run with single=")
    label, graphs = job.outputs["component"], [job.graph]
    if label.ndim == 2:
        thresholds = job.given("threshold")
        assert thresholds is not None
        graphs = [_heavy(job.graph, least) for least in thresholds.tolist()]
    columns = zip(label.reshape(job.n, len(graphs)).T, graphs, strict=True)
    return [job.found(exactly("component", one, components(graph))) for one, graph in columns]


def _heavy(graph: Graph, least: float) -> Graph:
    """The edges whose weight is at least a number, for `components`, which does not count them."""
    if not graph.weighted:
        raise InputError("components at thresholds need a graph with weights")
    return graph.like(each_cluster(graph, _kept, least), graph.entries)


def _kept(c: Cluster, least: float) -> Cluster:
    assert c.weights is not None
    with np.errstate(over="ignore"):  # of weights of 32 bits
        kept = c.weights >= least
    indptr = np.append(0, np.cumsum(kept))[c.indptr].astype(c.indptr.dtype)
    return replace(
        c, indptr=indptr, indices=c.indices[kept], weights=c.weights[kept], block=None, cache={}
    )


def named(label: NDArray) -> Found:
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
    yield [named(label)]
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
