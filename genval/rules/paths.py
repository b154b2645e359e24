"""Betweenness centrality, by linear algebra."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from genval.report import Found
from genval.rules.base import Job, collect
from partition.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST = 30_000_000
"""Maximum of sources times (nodes + edges) up to which betweenness is computed for comparison."""

CLOSE = 1e-9
"""Relative difference allowed for rounding."""


def bc(job: Job) -> list[Found]:
    """Betweenness equals the result of SciPy's distances and two triangular systems per source: with A the
    edges of shortest paths, (I - A') sigma = e counts the paths, and (I - A) y = 1 / sigma sums the
    dependencies. On larger graphs only necessary conditions are checked: values are finite, not negative,
    at most one per pair of ends, and 0 at nodes that no path leads through.
    """
    matrix = job.graph.to_scipy()
    if not (matrix.data > 0).all() or not job.fact("weighted", False):
        matrix.data = np.ones(matrix.nnz)
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    sources = _sources(job)
    found = job.outputs["betweenness"].astype(np.float64)
    half = 1.0 if job.graph.directed else 0.5
    most = half * len(sources) * max(job.n - 2, 0) * (1 + CLOSE)
    dead = (np.diff(matrix.indptr) == 0) | (np.bincount(matrix.indices, minlength=job.n) == 0)
    checks = [
        collect(
            np.arange(job.n),
            (
                "range",
                ~((found >= 0) & (found <= most)),
                lambda i: f"a number from 0 to {most:g}",
                lambda i: f"{found[i]:g}",
            ),
            (
                "through",
                dead & (found != 0),
                lambda i: "0, as no path leads through it",
                lambda i: f"{found[i]:g}",
            ),
        )
    ]
    if len(sources) * (job.n + matrix.nnz) <= MOST and not checks[0].total:
        right = half * _dependencies(matrix.astype(np.float64), sources)
        checks.append(
            collect(
                np.arange(job.n),
                (
                    "betweenness",
                    ~np.isclose(found, right, CLOSE, CLOSE),
                    lambda i: f"{right[i]:.12g}",
                    lambda i: f"{found[i]:.12g}",
                ),
            )
        )
    return checks


def _sources(job: Job) -> NDArray[np.int64]:
    """The sources of paths: those flagged in the results, else the parameter `sources`, else all nodes."""
    flags = job.given("source")
    if flags is not None:
        if flags.shape != (job.n,):
            raise InputError(f"'source' must have one flag for each of {job.n} nodes")
        return np.flatnonzero(flags)
    asked = job.fact("sources")
    if asked is None:
        return np.arange(job.n)
    if (named := job.nodes("sources")) is None:
        raise InputError("the sources are unknown: the results need flags 'source'")
    return named


def _dependencies(matrix: csr_array, sources: NDArray) -> NDArray[np.float64]:
    from scipy.sparse import csr_array, eye_array
    from scipy.sparse.csgraph import dijkstra
    from scipy.sparse.linalg import spsolve_triangular

    n = matrix.shape[0]
    total = np.zeros(n)
    row = np.repeat(np.arange(n), np.diff(matrix.indptr))
    for source in sources.tolist():
        distance = dijkstra(matrix, indices=source)
        order = np.argsort(distance, kind="stable")[: int(np.isfinite(distance).sum())]
        rank = np.full(n, -1)
        rank[order] = np.arange(len(order))
        near = rank[row] >= 0
        near[near] = (distance[row] + matrix.data == distance[matrix.indices])[near]
        entries = (np.ones(int(near.sum())), (rank[row[near]], rank[matrix.indices[near]]))
        edges = csr_array(entries, shape=(len(order), len(order)))
        one = eye_array(len(order), format="csr")
        start = np.zeros(len(order))
        start[rank[source]] = 1
        paths = spsolve_triangular((one - edges.T).tocsr(), start, lower=True)
        share = spsolve_triangular((one - edges).tocsr(), 1 / paths, lower=False)
        depends = paths * (edges @ share)
        depends[rank[source]] = 0
        total[order] += depends
    return total
