"""Centralities by shortest paths, and searches from many sources: by SciPy's distances."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import Job, collect
from dgsuite.genval.rules.similar import Pairs, listed, unreal

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST = 30_000_000
"""Maximum of sources times (nodes + edges) up to which betweenness is computed for comparison."""

CELLS = 1 << 20
"""Distances that are computed at a time."""

CLOSE = 1e-9
"""Relative difference allowed for rounding."""

SIGMAS = 6
"""Standard errors by which an estimate may be wrong."""


def bc(job: Job) -> list[Found]:
    """Betweenness equals the result of SciPy's distances and two triangular systems per source: with A the
    edges of shortest paths, (I - A') sigma = e counts the paths, and (I - A) y = 1 / sigma sums the
    dependencies. On larger graphs only necessary conditions are checked: values are finite, not negative,
    at most one per pair of ends, and 0 at nodes that no path leads through.
    """
    matrix, sources = _lengths_of(job), _sources(job)
    matrix.setdiag(0)
    matrix.eliminate_zeros()
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
    if _small(matrix, sources) and not checks[0].total:
        row, total = _rows(matrix), np.zeros(job.n)
        for source, over in _over(matrix, sources):
            through = np.bincount(row, over, job.n)
            through[source] = 0
            total += through
        right = half * total
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


def edge_betweenness(job: Job) -> list[Found]:
    """The rows are the edges, and each betweenness is the sum of the shares of paths that lead over it, found
    as in `bc`. On larger graphs only necessary conditions are checked: values are at most one per pair of
    ends, and where all edges are equally long at least one per pair of the edge's own ends.
    """
    matrix = _lengths_of(job)
    edges = Pairs(_rows(matrix), matrix.indices.astype(np.int64))
    found = Pairs(*(job.outputs[end].astype(np.int64) for end in ("source", "target")))
    report = [unreal(job.n, found)]
    if report[0].total:
        return report
    half = 1.0 if job.graph.directed else 0.5
    once = (edges.source <= edges.target) | job.graph.directed
    report += listed(job.n, found, Pairs(edges.source[once], edges.target[once]))
    if any(part.total for part in report):
        return report
    sources, value = _sources(job, "start"), job.outputs["betweenness"].astype(np.float64)
    starts = _marked(job.n, sources).astype(np.float64)
    most = np.full(len(value), half * len(sources) * (job.n - 1))
    least = half * (starts[found.source] + (0 if job.graph.directed else starts[found.target]))
    least *= (found.source != found.target) & (matrix.data == matrix.data[:1]).all()
    report.append(_range("betweenness", value, most, least, found.source))
    if _small(matrix, sources) and not report[-1].total:
        total = np.zeros(matrix.nnz)
        for _, over in _over(matrix, sources):
            total += over
        if not job.graph.directed:
            total += total[np.argsort(matrix.indices, kind="stable")]  # entries of the transpose
        report.append(_beside("betweenness", value, half * total[once], found.source))
    return report


def _lengths_of(job: Job) -> csr_array:
    """The graph's edges and their lengths: 1 where weights do not count."""
    matrix = job.graph.to_scipy().astype(np.float64)
    if not job.weighted or not (matrix.data > 0).all():
        matrix.data = np.ones(matrix.nnz)
    matrix.sort_indices()
    return matrix


def _rows(matrix: csr_array) -> NDArray[np.int64]:
    """The row of each entry."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def _sources(job: Job, name: str = "source") -> NDArray[np.int64]:
    """The sources of paths: those flagged in the results, else the parameter `sources`, else all nodes."""
    flags = job.given(name)
    if flags is not None:
        if flags.shape != (job.n,):
            raise InputError(f"{name!r} must have one flag for each of {job.n} nodes")
        return np.flatnonzero(flags)
    asked = job.fact("sources")
    if asked is None:
        return np.arange(job.n)
    if (named := job.nodes("sources")) is None:
        raise InputError(f"the sources are unknown: the results need flags {name!r}")
    return named


def bfs_many(job: Job) -> list[Found]:
    """The sources that reach a node also reach those that it has an edge to, one hop farther at most; and on
    graphs that are not too large, the outputs are those of SciPy's distances.
    """
    matrix, sources = _hops_of(job), _sources(job)
    starts = _marked(job.n, sources)
    names = ("distance", "reached", "eccentricity")
    distance, reached, most = (job.outputs[name].astype(np.int64) for name in names)
    all_of_them = reached + starts
    row, end = np.repeat(np.arange(job.n), np.diff(matrix.indptr)), matrix.indices
    fewer = all_of_them[end] < all_of_them[row]
    same = all_of_them[end] == all_of_them[row]
    farther = (distance[end] > distance[row] + all_of_them[row]) | (most[end] > most[row] + 1)
    checks = [
        collect(
            np.arange(job.n),
            (
                "reached",
                (reached < 0) | (all_of_them > len(sources)),
                lambda i: f"0 to {len(sources) - starts[i]}",
                lambda i: str(reached[i]),
            ),
            (
                "distance",
                (distance < reached) | (distance > reached * most),
                lambda i: f"{reached[i]} to {reached[i] * most[i]}",
                lambda i: str(distance[i]),
            ),
            (
                "eccentricity",
                (reached > 0) != (most > 0),
                lambda i: "0 where no source reaches the node, and else above",
                lambda i: str(most[i]),
            ),
            (
                "edge",
                _marked(job.n, end[fewer | (same & farther)]),
                lambda i: "reached as nodes with an edge to it, one hop farther at most",
                lambda i: f"{reached[i]} at {distance[i]}, the farthest at {most[i]}",
            ),
        )
    ]
    if _small(matrix, sources) and not checks[0].total:
        total = np.zeros((3, job.n))
        for hops in _hops(matrix, sources):
            near = np.isfinite(hops)
            hops[~near] = 0
            total[0] += hops.sum(0)
            total[1] += near.sum(0)
            np.maximum(total[2], hops.max(0, initial=0), out=total[2])
        checks += [
            _beside(name, job.outputs[name], right)
            for name, right in zip(names, total, strict=True)
        ]
    return checks


def closeness(job: Job) -> list[Found]:
    """Closeness is from 0 to 1, and 0 where no edge comes in; and on graphs that are not too large, what
    SciPy's distances make it.
    """
    matrix, sources = _hops_of(job), _sources(job)
    found = job.outputs["closeness"].astype(np.float64)
    checks = [_range("closeness", found, np.sign(_edges_in(matrix)))]
    if _small(matrix, sources) and not checks[0].total:
        distance, near = np.zeros((2, job.n))
        for hops in _hops(matrix, sources):
            near += np.isfinite(hops).sum(0)
            distance += np.where(np.isfinite(hops), hops, 0).sum(0)
        right = np.where(near > 0, near / np.maximum(distance, 1), 0)
        if job.fact("wf_improved", True):
            right *= near / _others(job.n, sources)
        checks.append(_beside("closeness", found, right))
    return checks


def harmonic(job: Job) -> list[Found]:
    """From all nodes, each edge that comes in adds 1, and each other node 1/2 at most; and on graphs that are
    not too large, harmonic centrality is what SciPy's distances make it.
    """
    matrix, sources = _hops_of(job), _sources(job)
    found = job.outputs["harmonic"].astype(np.float64)
    near = _edges_in(matrix)
    most = np.where(near > 0, (near + job.n - 1) / 2, 0)
    whole = len(sources) == job.n
    limits = (near, most) if whole else (None, np.sign(near) * max(job.n - 1, 0))
    checks = [_range("harmonic", found, limits[1], limits[0])]
    if _small(matrix, sources) and not checks[0].total:
        total = sum((1 / hops).sum(0) for hops in _hops(matrix, sources))
        checks.append(_beside("harmonic", found, total * (job.n - 1) / _others(job.n, sources)))
    return checks


def hyperball(job: Job) -> list[Found]:
    """Each node that reaches another adds 1 to n - 1 hops; harmonic centrality is no less than if all were
    equally far; closeness is that of the two other outputs. On graphs that are not too large,
    outputs are those of SciPy's distances, as nearly as `SIGMAS` standard errors of each ball of nodes allow.
    Two nodes may have drawn the same register, and count as one.
    """
    names = ("reached", "distance", "harmonic", "closeness")
    reached, distance, near, close = (job.outputs[name].astype(np.float64) for name in names)
    matrix, n = _hops_of(job), job.n
    hops = np.maximum(distance, 1)
    right = reached**2 / hops / max(n - 1, 1)
    some = np.sign(_edges_in(matrix)) * (n - 1)
    checks = [
        _range("reached", reached, some),
        _range("distance", distance, reached * (n - 1), reached),
        _range("harmonic", near, reached, reached**2 / hops),
        _beside("closeness", close, right),
    ]
    if _small(matrix, np.arange(n)) and not any(found.total for found in checks):
        ball, total, farthest, inverse = np.ones(n), *np.zeros((3, n))
        for lengths in _hops(matrix, np.arange(n)):
            inverse += (1 / lengths).sum(0)
            ball += np.isfinite(lengths).sum(0)
            lengths[~np.isfinite(lengths)] = 0
            total += lengths.sum(0)
            np.maximum(farthest, lengths.max(0, initial=0), out=farthest)
        # the distance is the sum, over hops, of the largest ball less the ball of so many hops
        error = SIGMAS * 1.04 / 2 ** (job.integer("log2m", 8, 4, 16) / 2)
        slack = error * (2 * farthest * ball - total) + farthest
        checks += [
            _range("reached", reached + 1, (1 + error) * ball + 0.5, (1 - error) * ball - 1),
            _range("distance", distance, total + slack, total - slack),
            _range(
                "harmonic",
                near,
                inverse + error * (inverse + 1) + 1,
                inverse - error * (inverse + 1) - 1,
            ),
        ]
    return checks


def eccentricity(job: Job) -> list[Found]:
    """Eccentricities are at most the limits, and of all nodes these; those of neighbours differ by one at
    most. On graphs that are not too large, SciPy's are between the two; so is the largest, or the smallest.
    """
    matrix, of, nodes = _hops_of(job), job.fact("of", "nodes"), np.arange(job.n)
    least, most = (job.outputs[name].astype(np.int64) for name in ("eccentricity", "limit"))
    row, end = np.repeat(nodes, np.diff(matrix.indptr)), matrix.indices
    steep = np.abs(least[row] - least[end]) > 1 if of == "nodes" else np.zeros(len(row), bool)
    outside = (least < min(job.n - 1, 1)) | (least > most) | (most > job.n - 1)
    checks = [
        collect(
            nodes,
            (
                "limit",
                outside | ((of == "nodes") & (least != most)),
                lambda i: f"1 to {job.n - 1} hops, and the limit {most[i]} no less",
                lambda i: str(least[i]),
            ),
            (
                "edge",
                _marked(job.n, row[steep]),
                lambda i: "within 1 of the neighbours' eccentricities",
                lambda i: str(least[i]),
            ),
        )
    ]
    if _small(matrix, nodes) and not checks[0].total:
        right = np.zeros(job.n)
        for hops in _hops(matrix, nodes):
            np.maximum(right, np.where(np.isfinite(hops), hops, 0).max(0, initial=0), out=right)
        wrong = (least > right) | (most < right)
        wrong |= (of == "diameter") & (least.max() < right.max())
        wrong |= (of == "radius") & (most.min() > right.min())
        texts = (lambda i: f"{right[i]:g}"), (lambda i: f"{least[i]} to {most[i]}")
        checks.append(collect(nodes, ("eccentricity", wrong, *texts)))
    return checks


def _hops_of(job: Job) -> csr_array:
    """The adjacency matrix, without weights."""
    matrix = job.graph.to_scipy()
    matrix.data = np.ones(matrix.nnz)
    return matrix


def _edges_in(matrix: csr_array) -> NDArray[np.int64]:
    return np.bincount(matrix.indices, minlength=matrix.shape[0])


def _marked(n: int, nodes: NDArray) -> NDArray[np.bool_]:
    mask = np.zeros(n, bool)
    mask[nodes] = True
    return mask


def _small(matrix: csr_array, sources: NDArray) -> bool:
    """Whether distances from all sources take no more than some seconds."""
    return len(sources) * (matrix.shape[0] + matrix.nnz) <= MOST


def _others(n: int, sources: NDArray) -> NDArray[np.int64]:
    """Sources other than each node; 1 where there are none."""
    return np.maximum(len(sources) - _marked(n, sources), 1)


def _hops(matrix: csr_array, sources: NDArray) -> Iterator[NDArray[np.float64]]:
    """Distances from some sources at a time, a row each; infinite to themselves."""
    from scipy.sparse.csgraph import dijkstra

    step = max(CELLS // matrix.shape[0], 1)
    for lo in range(0, len(sources), step):
        some = sources[lo : lo + step]
        hops = dijkstra(matrix, indices=some, unweighted=True)
        hops[np.arange(len(some)), some] = np.inf
        yield hops


def _range(
    what: str,
    found: NDArray,
    most: NDArray,
    least: NDArray | None = None,
    ids: NDArray | None = None,
) -> Found:
    """Violations of limits, up to rounding; of nodes, or of rows of some nodes."""
    low = np.zeros(len(found)) if least is None else least * (1 - CLOSE)
    return collect(
        np.arange(len(found)) if ids is None else ids,
        (
            "range",
            ~((found >= low) & (found <= most * (1 + CLOSE))),
            lambda i: f"a number from {low[i]:g} to {most[i]:g} in {what}",
            lambda i: f"{found[i]:g}",
        ),
    )


def _beside(what: str, found: NDArray, right: NDArray, ids: NDArray | None = None) -> Found:
    """Where values are not the right ones; of nodes, or of rows of some nodes."""
    return collect(
        np.arange(len(found)) if ids is None else ids,
        (
            what,
            ~np.isclose(found, right, CLOSE, 0),
            lambda i: f"{right[i]:.12g}",
            lambda i: f"{found[i]:.12g}",
        ),
    )


def _over(matrix: csr_array, sources: NDArray) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Of each source the share of its shortest paths that lead over each entry, summed over their ends."""
    from scipy.sparse import csr_array, eye_array
    from scipy.sparse.csgraph import dijkstra
    from scipy.sparse.linalg import spsolve_triangular

    n, row = matrix.shape[0], _rows(matrix)
    for source in sources.tolist():
        distance = dijkstra(matrix, indices=source)
        order = np.argsort(distance, kind="stable")[: int(np.isfinite(distance).sum())]
        rank = np.full(n, -1)
        rank[order] = np.arange(len(order))
        near = rank[row] >= 0
        near[near] = (distance[row] + matrix.data == distance[matrix.indices])[near]
        # SuperLU takes numbers of 32 bits
        u, v = (rank[at].astype(np.intc) for at in (row[near], matrix.indices[near]))
        edges = csr_array((np.ones(len(u)), (u, v)), shape=(len(order), len(order)))
        one = eye_array(len(order), format="csr")
        start = np.zeros(len(order))
        start[rank[source]] = 1
        paths = spsolve_triangular((one - edges.T).tocsr(), start, lower=True)
        share = spsolve_triangular((one - edges).tocsr(), 1 / paths, lower=False)
        over = np.zeros(matrix.nnz)
        over[near] = paths[u] * share[v]
        yield source, over
