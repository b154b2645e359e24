"""Triangles, clustering coefficients, trusses, cores and dense sets, by linear algebra."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import LEAST, Job, Outputs, closely, collect, ends, exactly, says
from dgsuite.genval.rules.registry import judges
from dgsuite.partition.clusters.cluster import Cluster

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MAX_WORK = 300_000_000
"""Pairs of neighbours, of all nodes together, up to which edges between them are counted."""

BLOCK = 3_000_000
"""Pairs of neighbours that are counted at a time, or those of one node."""

NEAR = 3_000
"""Neighbours of a node, up to which the edges among them are looked at for its truss number."""

CLOSE = 1e-12
"""Relative difference allowed for rounding."""


@judges("triangles", outputs={"triangles": 1})
def triangles(job: Job) -> list[Found]:
    """Triangles of a node are half the paths of three edges that lead back to it, the diagonal of the cube
    of the adjacency matrix; on larger graphs of some nodes. Their sum is a multiple of three.
    """
    edges = adjacency(job)
    degree = np.diff(edges.indptr).astype(np.int64)
    found, most = job.outputs["triangles"], degree * (degree - 1) // 2
    total = int(found.sum(dtype=np.int64))
    told = says("from 0 to {}, its pairs of neighbours", most)
    nodes, right = looked_at(job, edges, edges, found)
    return [
        job.found(("range", (found < 0) | (found > most), told, found)),
        job.whole("sum", total % 3, "a sum that is a multiple of three", str(total)),
        collect(nodes, exactly("triangles", found[nodes], right // 2)),
    ]


@judges("lcc", outputs={"coefficient": 1}, real=("coefficient",))
def lcc(job: Job) -> list[Found]:
    """The coefficient is the number of ordered pairs of neighbours that an edge joins, over the number of
    ordered pairs; neighbours are those along edges in any direction. On larger graphs it is of some nodes,
    and of all from 0 to 1, and 0 where there is no pair.
    """
    edges = adjacency(job)
    near = edges + edges.T if job.graph.directed else edges
    near.data[:] = 1
    degree = np.diff(near.indptr).astype(np.int64)
    (found,) = job.floats("coefficient")
    nodes, pairs = looked_at(job, near, edges, found)
    right = pairs / np.maximum(degree * (degree - 1), 1)[nodes]
    return coefficients(job, found, degree, nodes, right)


def coefficients(
    job: Job, found: NDArray, degree: NDArray, nodes: NDArray, right: NDArray
) -> list[Found]:
    """Values are from 0 to 1, and 0 at nodes without a pair of neighbours; those of some nodes are right."""
    told = np.where(degree > 1, "a number from 0 to 1", "0, as there is no pair")
    outside = ~((found >= 0) & (found <= (degree > 1)))
    shares = job.found(("range", outside, told, says("{:g}", found)))
    return [shares, collect(nodes, closely("coefficient", found[nodes], right, CLOSE))]


@judges("ktruss", outputs={"truss": 1})
def ktruss(job: Job) -> list[Found]:
    """The k-truss is what is left when edges in less than k - 2 triangles are taken off until there are none:
    a node's number is the last k with which it has an edge. On larger graphs only necessary conditions are
    checked: numbers are from 2 to the neighbours and one, 0 without neighbours, and of some nodes no less
    than among their neighbours alone, and no more than triangles of nodes with such numbers allow.
    """
    edges = adjacency(job)
    degree = np.diff(edges.indptr).astype(np.int64)
    found = job.outputs["truss"]
    outside = np.where(degree > 0, (found < 2) | (found > degree + 1), found != 0)
    limits = says("from 2 to {}", degree + 1)
    told = "range", outside, (lambda i: limits(i) if degree[i] else "0, as it has no edge"), found
    if (degree**2).sum() <= MAX_WORK:
        return [job.found(told, exactly("truss", found, _trusses(edges)))]
    nodes = job.some(found, LEAST)
    least, most = np.array([_limits(edges, found, node) for node in nodes]).T
    off = (found[nodes] < least) | (found[nodes] > most)
    truss = ("truss", off, says("from {} to {}", least, most), found[nodes])
    return [job.found(told), collect(nodes, truss)]


def _trusses(edges: csr_array) -> NDArray[np.int64]:
    """The last k with which each node has an edge in the k-truss; 0 without edges."""
    found, k = np.zeros(edges.shape[0], np.int64), 2
    while edges.nnz:
        found[np.diff(edges.indptr) > 0] = k
        k += 1
        before = -1
        while edges.nnz != before:
            before = edges.nnz
            edges = ((edges @ edges).multiply(edges) >= k - 2).astype(np.int64).tocsr()
    return found


def _limits(edges: csr_array, truss: NDArray[np.int64], node: int) -> tuple[int, int]:
    """What a node's truss number is at least, and at most, by those of its neighbours."""
    near = neighbours(edges, node)
    if not len(near):
        return 0, 0
    if len(near) > NEAR:
        return 2, len(near) + 1
    ego = np.append(near, node)
    least = int(_trusses(edges[ego][:, ego])[-1])
    # an edge of the k-truss is in k - 2 triangles of nodes of the k-truss
    among, own, most = edges[near][:, near], truss[near], 2
    for k in range(3, int(own.max()) + 1):
        stay = own >= k
        if not (stay & (among @ stay.astype(np.int64) >= k - 2)).any():
            break
        most = k
    return least, most


def adjacency(job: Job) -> csr_array:
    """The graph's edges as a matrix of ones, without loops."""
    matrix = job.graph.to_scipy().astype(np.int64)
    matrix.data[:] = 1
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    return matrix


def neighbours(edges: csr_array, node: int) -> NDArray:
    """The neighbours of a node in such a matrix."""
    return edges.indices[edges.indptr[node] : edges.indptr[node + 1]]


def looked_at(
    job: Job, near: csr_array, edges: csr_array, values: NDArray
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Nodes, and for each of them how many ordered pairs of its neighbours an edge joins: all nodes, or
    some if there are too many pairs.

    Parameters
    ----------
    near
        Which nodes are neighbours, symmetric.
    edges
        Which pairs count.
    """
    pairs = np.diff(near.indptr).astype(np.int64) ** 2
    work = np.cumsum(pairs)
    if work[-1:].sum() > MAX_WORK:
        nodes = job.some(values, int(MAX_WORK // max(pairs.max(), 1)))
        return nodes, joined_by(near[nodes], edges)
    cuts = [0, *np.flatnonzero(np.diff(work // BLOCK)) + 1, job.n]
    counts = [joined_by(near[a:b], edges) for a, b in pairwise(cuts)]
    return np.arange(job.n), np.concatenate(counts)


def joined_by(rows: csr_array, edges: csr_array) -> NDArray[np.int64]:
    """The same for some rows of neighbours."""
    return np.asarray((rows @ edges).multiply(rows).sum(axis=1)).ravel()


@judges("core_number", outputs={"core": 1})
def core_number(job: Job) -> list[Found]:
    """A node with core number k has at least k neighbours with core numbers of k or more, so k is not too
    large. No set of nodes with number k has, for each of them, more than k neighbours in the set or with
    larger numbers, so k is not too small: taking off nodes with no more such neighbours than k leaves none.
    """
    core = job.outputs["core"]
    found = job.each(_supported)
    left = np.ones(job.n, bool)
    while len(off := np.concatenate(job.each(_free, left=left.copy()))):
        left[off] = False
    told = says("at most {} neighbours in any set of nodes that have more", core)
    more = says("a set where it has {} or more", core + 1)
    return [*found, job.found(("peeling", left, told, more))]


@judges("densest", outputs={"densest": 1})
def densest(job: Job) -> list[Found]:
    """The set is the densest, of equals the largest, of those that are left when again and again all nodes
    are taken off that have at most 1 + epsilon times the mean degree.
    """
    edges, slack = adjacency(job), 1 + Fraction(job.fact("epsilon", 0.1))
    found, left = job.outputs["densest"], np.ones(job.n, np.int64)
    right, best = left > 0, Fraction(-1)
    while left.any():
        degree = edges @ left
        mean = Fraction(int(degree @ left), int(left.sum()))
        if mean > best:
            best, right = mean, left > 0
        left[degree <= int(slack * mean)] = 0
    told = np.where(right, "to be in the set", "to be out of the set")
    return [job.found(("densest", found != right, told, found))]


def _supported(c: Cluster, outputs: Outputs) -> Found:
    core = outputs["core"]
    mine = core[c.ids]
    row, other = ends(c)
    count = np.bincount(row[core[other] >= mine[row]], minlength=c.size)
    told = says("{} neighbours of that core number or more", mine)
    return collect(c.ids, ("support", (mine < 0) | (count < mine), told, count))


def _free(c: Cluster, outputs: Outputs, left: NDArray) -> NDArray:
    """Nodes that are left and have no more neighbours than their number, of larger ones or left of it."""
    core = outputs["core"]
    mine = core[c.ids]
    row, other = ends(c)
    holds = (core[other] > mine[row]) | ((core[other] == mine[row]) & left[other])
    count = np.bincount(row[holds], minlength=c.size)
    return c.ids[left[c.ids] & (count <= mine)]
