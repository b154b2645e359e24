"""Triangles, clustering coefficients and trusses, by linear algebra."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import Job, collect

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST = 300_000_000
"""Pairs of neighbours, of all nodes together, up to which edges between them are counted."""

BLOCK = 3_000_000
"""Pairs of neighbours that are counted at a time, or those of one node."""

CLOSE = 1e-12
"""Relative difference allowed for rounding."""


def triangles(job: Job) -> list[Found]:
    """Triangles of a node are half the paths of three edges that lead back to it, the diagonal of the cube
    of the adjacency matrix. On larger graphs only necessary conditions are checked: no more than pairs of
    neighbours, and a sum that is a multiple of three.
    """
    edges = adjacency(job)
    degree = np.diff(edges.indptr).astype(np.int64)
    found, most = job.outputs["triangles"], degree * (degree - 1) // 2
    total = int(found.sum(dtype=np.int64))
    rules = [
        (
            "range",
            (found < 0) | (found > most),
            lambda i: f"from 0 to {most[i]}, its pairs of neighbours",
            lambda i: str(found[i]),
        ),
        (
            "sum",
            (np.arange(job.n) == 0) & (total % 3 != 0),
            lambda i: "a sum that is a multiple of three",
            lambda i: str(total),
        ),
    ]
    if (right := joined(edges, edges)) is not None:
        rules.append(
            (
                "triangles",
                2 * found != right,
                lambda i: str(right[i] // 2),
                lambda i: str(found[i]),
            )
        )
    return [collect(np.arange(job.n), *rules)]


def lcc(job: Job) -> list[Found]:
    """The coefficient is the number of ordered pairs of neighbours that an edge joins, over the number of
    ordered pairs; neighbours are those along edges in any direction. On larger graphs only the range is
    checked: from 0 to 1, and 0 where there is no pair.
    """
    edges = adjacency(job)
    near = edges + edges.T if job.graph.directed else edges
    near.data[:] = 1
    degree = np.diff(near.indptr).astype(np.int64)
    found = job.outputs["coefficient"].astype(np.float64)
    rules = [
        (
            "range",
            ~((found >= 0) & (found <= (degree > 1))),
            lambda i: "a number from 0 to 1" if degree[i] > 1 else "0, as there is no pair",
            lambda i: f"{found[i]:g}",
        )
    ]
    if (pairs := joined(near, edges)) is not None:
        right = pairs / np.maximum(degree * (degree - 1), 1)
        rules.append(
            (
                "coefficient",
                ~np.isclose(found, right, CLOSE, 0),
                lambda i: f"{right[i]:.15g}",
                lambda i: f"{found[i]:.15g}",
            )
        )
    return [collect(np.arange(job.n), *rules)]


def ktruss(job: Job) -> list[Found]:
    """The k-truss is what is left when edges in less than k - 2 triangles are taken off until there are none:
    a node's number is the last k with which it has an edge. On larger graphs only the range is checked:
    from 2 to its neighbours and one, 0 without neighbours.
    """
    edges = adjacency(job)
    degree = np.diff(edges.indptr).astype(np.int64)
    found = job.outputs["truss"]
    rules = [
        (
            "range",
            np.where(degree > 0, (found < 2) | (found > degree + 1), found != 0),
            lambda i: f"from 2 to {degree[i] + 1}" if degree[i] else "0, as it has no edge",
            lambda i: str(found[i]),
        )
    ]
    if (degree**2).sum() <= MOST:
        right, k = np.zeros(job.n, np.int64), 2
        while edges.nnz:
            right[np.diff(edges.indptr) > 0] = k
            k += 1
            before = -1
            while edges.nnz != before:
                before = edges.nnz
                edges = ((edges @ edges).multiply(edges) >= k - 2).astype(np.int64).tocsr()
        rules.append(("truss", found != right, lambda i: str(right[i]), lambda i: str(found[i])))
    return [collect(np.arange(job.n), *rules)]


def adjacency(job: Job) -> csr_array:
    """The graph's edges as a matrix of ones, without loops."""
    matrix = job.graph.to_scipy().astype(np.int64)
    matrix.data[:] = 1
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    return matrix


def joined(near: csr_array, edges: csr_array) -> NDArray[np.int64] | None:
    """For each node, how many ordered pairs of its neighbours an edge joins; None where there are too many.

    Parameters
    ----------
    near
        Which nodes are neighbours, symmetric.
    edges
        Which pairs count.
    """
    degree = np.diff(near.indptr).astype(np.int64)
    work = np.cumsum(degree**2)
    if not len(work) or work[-1] > MOST:
        return None
    ends = [*np.flatnonzero(np.diff(work // BLOCK)) + 1, len(work)]
    parts = []
    for a, b in zip([0, *ends], ends, strict=False):
        rows = near[a:b]
        parts.append((rows @ edges).multiply(rows).sum(axis=1))
    return np.concatenate(parts)
