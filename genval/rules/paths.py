"""Centralities by shortest paths, and searches from many sources: by SciPy's distances."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import LEAST, Job, closely, collect, marked, rows, says, strange
from dgsuite.genval.rules.registry import judges
from dgsuite.genval.rules.similar import Pairs

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MAX_WORK = 30_000_000
"""Maximum of sources times (nodes + edges) up to which betweenness is computed for comparison."""

CELLS = 1 << 20
"""Distances that are computed at a time."""

CLOSE = 1e-9
"""Relative difference allowed for rounding."""

SIGMAS = 6
"""Standard errors by which an estimate may be wrong."""

Part = Callable[[int, NDArray], NDArray[np.float64]]
"""What a source adds to each value, given its share of paths over each entry of the matrix."""


@judges("bc", outputs={"betweenness": 1}, real=("betweenness",))
def bc(job: Job) -> Iterator[list[Found]]:
    """Betweenness equals the result of SciPy's distances and two triangular systems per source: with A the
    edges of shortest paths, (I - A') sigma = e counts the paths, and (I - A) y = 1 / sigma sums the
    dependencies. On larger graphs only necessary conditions are checked: values are finite, not negative,
    at most one per pair of ends, 0 at nodes that no path leads through, no less than what some sources add,
    and their sum is what these lead to expect, within `SIGMAS` standard errors.
    """
    matrix, sources = _lengths_of(job), _sources(job)
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    (found,) = job.floats("betweenness")
    half = 1.0 if job.graph.directed else 0.5
    most = half * len(sources) * max(job.n - 2, 0)
    dead = (np.diff(matrix.indptr) == 0) | (_edges_in(matrix) == 0)
    yield [_range("betweenness", found, np.where(dead, 0, most))]
    row = _rows(matrix)

    def through(source: int, over: NDArray) -> NDArray[np.float64]:
        found = np.bincount(row, over, job.n)
        found[source] = 0
        return half * found

    yield _added_up(job, matrix, sources, found, np.arange(job.n), through)


def _added_up(
    job: Job, matrix: csr_array, sources: NDArray, found: NDArray, ids: NDArray, part: Part
) -> list[Found]:
    """Violations of the rule that values are what all sources add to them. Where these are too many, what
    some of them add is a lower bound of each value, and an estimate of the sum.

    Parameters
    ----------
    ids
        The node of each value.
    """
    every, count = len(sources), len(sources)
    if every > _room(matrix):
        job.left_out.append("sources that were not drawn")
        count = min(max(_room(matrix), LEAST), every)
        drawn = np.random.default_rng(job.n).choice(every, count, replace=False)
        sources = sources[np.sort(drawn)]
    total, sums = np.zeros(len(found)), []
    for source, over in _over(matrix, sources):
        added = part(source, over)
        total += added
        sums.append(added.sum())
    if count == every:
        return [collect(ids, closely("betweenness", found, total, CLOSE, CLOSE))]
    right = every * np.mean(sums)
    error = every * np.std(sums, ddof=1) / np.sqrt(count) * np.sqrt(1 - count / every)
    slack = SIGMAS * error + CLOSE * right
    off = not abs(found.sum() - right) <= slack
    told = f"a sum of {right:.6g}, give or take {slack:.3g}"
    return [
        _range("betweenness", found, np.full(len(found), np.inf), total - CLOSE, ids),
        job.whole("sum", off, told, f"{found.sum():.6g}"),
    ]


@judges(
    "edge_betweenness", outputs={"source": 0, "target": 0, "betweenness": 0}, real=("betweenness",)
)
def edge_betweenness(job: Job) -> Iterator[list[Found]]:
    """The rows are the edges, and each betweenness is the sum of the shares of paths that lead over it, found
    as in `bc`. On larger graphs only necessary conditions are checked: values are at most one per pair of
    ends, where all edges are equally long at least one per pair of the edge's own ends, and as in `bc` what
    some sources add.
    """
    matrix = _lengths_of(job)
    edges = Pairs(_rows(matrix), matrix.indices.astype(np.int64))
    found = Pairs(*job.integers("source", "target"))
    yield [strange(job.n, *found)]
    half = 1.0 if job.graph.directed else 0.5
    once = (edges.source <= edges.target) | job.graph.directed
    yield rows(job.n, *found, edges.keys(job.n)[once])
    sources, (value,) = _sources(job, "start"), job.floats("betweenness")
    starts = marked(job.n, sources).astype(np.float64)
    most = np.full(len(value), half * len(sources) * (job.n - 1))
    least = half * (starts[found.source] + (0 if job.graph.directed else starts[found.target]))
    least *= (found.source != found.target) & (matrix.data == matrix.data[:1]).all()
    yield [_range("betweenness", value, most, least, found.source)]
    back = np.argsort(matrix.indices, kind="stable")  # entries of the transpose

    def over_edges(source: int, over: NDArray) -> NDArray[np.float64]:
        both = over if job.graph.directed else over + over[back]
        return half * both[once]

    yield _added_up(job, matrix, sources, value, found.source, over_edges)


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
    if (flags := job.given(name)) is not None:
        if flags.shape != (job.n,):
            raise InputError(f"{name!r} must have one flag for each of {job.n} nodes")
        return np.flatnonzero(flags)
    asked = job.fact("sources")
    if asked is None:
        return np.arange(job.n)
    if (named := job.nodes("sources")) is None:
        raise InputError(f"the sources are unknown: the results need flags {name!r}")
    return named


@judges("bfs_many", outputs={"distance": 1, "reached": 1, "eccentricity": 1})
def bfs_many(job: Job) -> Iterator[list[Found]]:
    """The sources that reach a node also reach those that it has an edge to, one hop farther at most; and the
    outputs are those of SciPy's distances, on larger graphs of some nodes.
    """
    matrix, sources = _hops_of(job), _sources(job)
    starts = marked(job.n, sources)
    names = ("distance", "reached", "eccentricity")
    distance, reached, most = job.integers(*names)
    all_of_them = reached + starts
    row, end = _rows(matrix), matrix.indices
    fewer = all_of_them[end] < all_of_them[row]
    same = all_of_them[end] == all_of_them[row]
    farther = (distance[end] > distance[row] + all_of_them[row]) | (most[end] > most[row] + 1)
    skipped = marked(job.n, end[fewer | (same & farther)])
    told = "0 where no source reaches the node, and else above"
    mistaken = (reached > 0) != (most > 0)
    near = "reached as nodes with an edge to it, one hop farther at most"
    seen = says("reached by {} at {}, the farthest at {}", reached, distance, most)
    yield [
        _range("reached", reached, len(sources) - starts),
        _range("distance", distance, reached * most, reached),
        job.found(("eccentricity", mistaken, told, most), ("edge", skipped, near, seen)),
    ]
    nodes, lengths = _looked_at(job, matrix, sources, distance)
    found = zip(names, _summed(lengths).T, strict=False)
    rules = [closely(name, job.outputs[name][nodes], right, CLOSE) for name, right in found]
    yield [collect(nodes, *rules)]


def _summed(lengths: Iterator[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Of each row of distances the sum, the number, the largest, and the sum of inverses."""
    found = [np.empty((0, 4))]
    for hops in lengths:
        near = np.where(np.isfinite(hops), hops, 0)
        found.append(
            np.column_stack(
                [near.sum(1), np.isfinite(hops).sum(1), near.max(1, initial=0), (1 / hops).sum(1)]
            )
        )
    return np.concatenate(found)


@judges("closeness", outputs={"closeness": 1}, real=("closeness",))
def closeness(job: Job) -> Iterator[list[Found]]:
    """Closeness is from 0 to 1, and 0 where no edge comes in; and it is what SciPy's distances make it, on
    larger graphs of some nodes.
    """
    matrix, sources, (found,) = _hops_of(job), _sources(job), job.floats("closeness")
    yield [_range("closeness", found, np.sign(_edges_in(matrix)))]
    nodes, lengths = _looked_at(job, matrix, sources, found)
    distance, near, *_ = _summed(lengths).T
    right = np.where(near > 0, near / np.maximum(distance, 1), 0)
    if job.fact("wf_improved", True):
        right *= near / _others(job.n, sources)[nodes]
    yield [collect(nodes, closely("closeness", found[nodes], right, CLOSE))]


@judges("harmonic", outputs={"harmonic": 1}, real=("harmonic",))
def harmonic(job: Job) -> Iterator[list[Found]]:
    """From all nodes, each edge that comes in adds 1, and each other node 1/2 at most; and harmonic
    centrality is what SciPy's distances make it, on larger graphs of some nodes.
    """
    matrix, sources, (found,) = _hops_of(job), _sources(job), job.floats("harmonic")
    least = near = _edges_in(matrix)
    most = np.where(near > 0, (near + job.n - 1) / 2, 0)
    if len(sources) < job.n:
        least, most = 0 * near, np.sign(near) * max(job.n - 1, 0)
    yield [_range("harmonic", found, most, least)]
    nodes, lengths = _looked_at(job, matrix, sources, found)
    right = _summed(lengths)[:, 3] * (job.n - 1) / _others(job.n, sources)[nodes]
    yield [collect(nodes, closely("harmonic", found[nodes], right, CLOSE))]


@judges(
    "hyperball",
    outputs={"reached": 1, "distance": 1, "harmonic": 1, "closeness": 1},
    real=("harmonic", "closeness"),
)
def hyperball(job: Job) -> Iterator[list[Found]]:
    """Each node that reaches another adds 1 to n - 1 hops; harmonic centrality is no less than if all were
    equally far; closeness is that of the two other outputs. Outputs are those of SciPy's distances, on larger
    graphs of some nodes, as nearly as `SIGMAS` standard errors of each ball of nodes allow. With the default
    of 256 registers that is 39 % and one node: a change of 0.1 % is seen only where the other limits are
    nearer. Two nodes may have drawn the same register, and count as one.
    """
    reached, distance, near, close = job.floats("reached", "distance", "harmonic", "closeness")
    matrix, n = _hops_of(job), job.n
    hops = np.maximum(distance, 1)
    right = reached**2 / hops / max(n - 1, 1)
    some = np.sign(_edges_in(matrix)) * (n - 1)
    job.left_out.append("what the estimates may differ by")
    yield [
        _range("reached", reached, some),
        _range("distance", distance, reached * (n - 1), reached),
        _range("harmonic", near, reached, reached**2 / hops),
        job.found(closely("closeness", close, right, CLOSE)),
    ]
    nodes, lengths = _looked_at(job, matrix, np.arange(n), near)
    total, others, farthest, inverse = _summed(lengths).T
    ball = others + 1
    # the distance is the sum, over hops, of the largest ball less the ball of so many hops
    error = SIGMAS * 1.04 / 2 ** (job.integer("log2m", 8, 4, 16) / 2)
    slack = error * (2 * farthest * ball - total) + farthest
    blur = error * (inverse + 1) + 1
    most, least = (1 + error) * ball + 0.5, (1 - error) * ball - 1
    yield [
        _range("reached", reached[nodes] + 1, most, least, nodes),
        _range("distance", distance[nodes], total + slack, total - slack, nodes),
        _range("harmonic", near[nodes], inverse + blur, inverse - blur, nodes),
    ]


@judges("eccentricity", outputs={"eccentricity": 1, "limit": 1})
def eccentricity(job: Job) -> Iterator[list[Found]]:
    """Eccentricities are at most the limits, and of all nodes these; those of neighbours differ by one at
    most. SciPy's are between the two, on larger graphs of some nodes; so is the largest, or the smallest.
    """
    matrix, of, nodes = _hops_of(job), job.fact("of", "nodes"), np.arange(job.n)
    least, most = job.integers("eccentricity", "limit")
    row, end = _rows(matrix), matrix.indices
    steep = (np.abs(least[row] - least[end]) > 1) & (of == "nodes")
    outside = (least < min(job.n - 1, 1)) | (least > most) | (most > job.n - 1)
    outside |= (of == "nodes") & (least != most)
    limits = says(f"1 to {job.n - 1} hops, and the limit {{}} no less", most)
    near = "within 1 of the neighbours' eccentricities"
    steps = "edge", marked(job.n, row[steep]), near, least
    yield [job.found(("limit", outside, limits, least), steps)]
    some, lengths = _looked_at(job, matrix, nodes, least)
    right, low, high = _summed(lengths)[:, 2], least[some], most[some]
    wrong = (low > right) | (high < right)
    wrong |= (of == "diameter") & (least.max(initial=0) < right.max(initial=0))
    wrong |= (of == "radius") & (most.min(initial=job.n) > right.min(initial=job.n))
    texts = says("{:g}", right), says("{} to {}", low, high)
    yield [collect(some, ("eccentricity", wrong, *texts))]


def _hops_of(job: Job) -> csr_array:
    """The adjacency matrix, without weights."""
    matrix = job.graph.to_scipy()
    matrix.data = np.ones(matrix.nnz)
    return matrix


def _edges_in(matrix: csr_array) -> NDArray[np.int64]:
    return np.bincount(matrix.indices, minlength=matrix.shape[0])


def _room(matrix: csr_array) -> int:
    """From how many nodes distances take no more than some seconds."""
    return MAX_WORK // max(matrix.shape[0] + matrix.nnz, 1)


def _looked_at(
    job: Job, matrix: csr_array, sources: NDArray, values: NDArray
) -> tuple[NDArray[np.int64], Iterator[NDArray[np.float64]]]:
    """Nodes, and for each the distances from some sources to it, a row for each node: of all nodes, or if
    these are too many of some. Distances from a node to itself are infinite.
    """
    every = np.arange(job.n)
    nodes = every if len(sources) <= _room(matrix) else job.some(values, _room(matrix))
    return nodes, (rows[:, sources] for rows in _hops(matrix.T.tocsr(), nodes))


def _others(n: int, sources: NDArray) -> NDArray[np.int64]:
    """Sources other than each node; 1 where there are none."""
    return np.maximum(len(sources) - marked(n, sources), 1)


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
    off = ~((found >= low) & (found <= most * (1 + CLOSE)))
    told = f"a number from {{:g}} to {{:g}} in {what}"
    texts = says(told, low, most), says("{:g}", found)
    return collect(np.arange(len(found)) if ids is None else ids, ("range", off, *texts))


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
