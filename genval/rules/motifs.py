"""Cliques, squares and motifs, by listing sets of nodes, each from one with a node less."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import LEAST, Job, Rule, collect, exactly
from dgsuite.genval.rules.registry import judges
from dgsuite.genval.rules.triangles import NEAR, adjacency, coefficients, neighbours

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MAX_WORK = 30_000_000
"""Neighbours of the nodes of all sets of a size, up to which sets are listed, or squares counted."""

AT_ONE = MAX_WORK // LEAST
"""The same of the sets of one node, where not all are listed."""

ORBITS = 15
"""Orbits of motifs of up to four nodes."""

BLOCK = 1 << 14
"""Sets that grow at a time."""

THREE = {(2, 2): {1: 1, 2: 2}, (3, 2): {2: 3}}
FOUR = {
    (3, 2): {1: 4, 2: 5},
    (3, 3): {1: 6, 3: 7},
    (4, 2): {2: 8},
    (4, 3): {1: 9, 2: 10, 3: 11},
    (5, 3): {2: 12, 3: 13},
    (6, 3): {3: 14},
}
"""By edges of a motif and its largest degree: the orbit of a node by its degree there."""

NODES = {1: 2, 2: 1, 3: 3, 4: 2, 5: 2, 6: 3, 7: 1, 8: 4, 9: 1, 10: 2, 11: 1, 12: 2, 13: 2, 14: 4}
"""Nodes of a motif that are in the orbit."""

SAME = ((1, 2), (4, 5), (6, 7), (9, 10), (9, 11), (12, 13))
"""Orbits of the same motif."""


@judges("cliques", outputs={"cliques": 1})
def cliques(job: Job) -> list[Found]:
    """Cliques are listed, each from that of its nodes but the last; on larger graphs those of some nodes.
    There are none where neighbours are too few, and the sum is a multiple of `k`.
    """
    edges, k = adjacency(job), job.integer("k", 4, 3, job.n + (1 << 20))
    (found,) = job.integers("cliques")
    degree, total = np.diff(edges.indptr), int(found.sum())
    few = degree < k - 1
    told = np.where(few, "0, as it has too few neighbours", "0 or more")
    report = [
        job.found(("range", (found < 0) | (few & (found > 0)), told, found)),
        job.whole("sum", total % k, f"a sum that is a multiple of {k}", str(total)),
    ]
    nodes = np.arange(job.n)
    sets = _sets(edges, nodes[:, None], k, True, MAX_WORK)
    if sets is not None:
        right = np.bincount(sets.ravel(), minlength=job.n)
    else:
        some = {node: _cliques_at(edges, node, k) for node in job.some(found, LEAST).tolist()}
        counted = [(node, count) for node, count in some.items() if count is not None]
        nodes, right = np.array(counted, np.int64).reshape(-1, 2).T
    return [*report, collect(nodes, exactly("cliques", found[nodes], right))]


def _cliques_at(edges: csr_array, node: int, k: int) -> int | None:
    """Cliques of k nodes, one of which is a given one; None where there are too many sets to look at."""
    near = neighbours(edges, node)
    among = edges[near][:, near].tocsr()
    sets = _sets(among, np.arange(len(near))[:, None], k - 1, True, AT_ONE)
    return None if sets is None else len(sets)


@judges("motifs", outputs={"orbits": 2}, sampled=True)
def motifs(job: Job) -> list[Found]:
    """Connected sets of three and four nodes are listed, and a node's orbit follows from degrees in the set.
    On larger graphs sets of some nodes are listed. Orbits of a motif are as frequent as it has nodes there,
    and every two, and every three, of a node's neighbours are in a motif with it.
    """
    (found,), edges = job.integers("orbits"), adjacency(job)
    degree = np.diff(edges.indptr).astype(np.int64)
    if found.shape[1] != ORBITS:
        raise InputError(f"'orbits' must have shape ({job.n}, {ORBITS}), got {found.shape}")
    total, least = found.sum(axis=0), found.min(axis=1)
    pairs, threes = found[:, [2, 3]].sum(axis=1), found[:, [7, 11, 13, 14]].sum(axis=1)
    unequal = [
        (a, b)
        for a, b in (*SAME, *((a, a) for a in NODES))
        if total[a] % NODES[a] or total[a] // NODES[a] != total[b] // NODES[b]
    ]
    rules: list[Rule] = [
        ("range", least < 0, "0 or more", least),
        exactly("orbit 0", found[:, 0], degree),
        exactly("pairs of neighbours", pairs, degree * (degree - 1) // 2),
        exactly("threes of neighbours", threes, degree * (degree - 1) * (degree - 2) // 6),
    ]
    checks = []
    if unequal:
        one, other = unequal[0]
        told = f"as many nodes in orbits {one} and {other} as the motif has"
        checks.append(job.whole("sum", True, told, f"{total[one]} and {total[other]}"))
    for size in (3, 4):
        if (sets := _sets(edges, np.arange(job.n)[:, None], size, False, MAX_WORK)) is not None:
            rights = _orbits(edges, sets).items()
            rules += [exactly(f"orbit {orbit}", found[:, orbit], right) for orbit, right in rights]
            continue
        for node in job.some(found.sum(axis=1), LEAST):
            near = neighbours(edges, node)
            pairs = np.sort(np.column_stack([np.full(len(near), node), near]), axis=1)
            sets = _sets(edges, pairs.astype(np.int64), size, False, AT_ONE)
            if sets is not None:
                for orbit, right in _orbits(edges, sets).items():
                    at = exactly(f"orbit {orbit}", found[[node], orbit], right[[node]])
                    checks.append(collect(np.array([node]), at))
    return [job.found(*rules), *checks]


@judges("square_clustering", outputs={"coefficient": 1}, real=("coefficient",))
def square_clustering(job: Job) -> list[Found]:
    """Squares of a node and a pair of its neighbours are other neighbours that the pair has in common, by the
    square of the adjacency matrix; on larger graphs those of some nodes. The coefficient is from 0 to 1.
    """
    edges, (found,) = adjacency(job), job.floats("coefficient")
    degree = np.diff(edges.indptr).astype(np.int64)
    nodes = np.arange(job.n)
    if (degree**2).sum() * max(degree.max(initial=0), 1) > MAX_WORK:
        nodes = job.some(found, LEAST)
        nodes = nodes[degree[nodes] <= NEAR]
    right = np.array([_share(edges, degree, node) for node in nodes.tolist()])
    return coefficients(job, found, degree, nodes, right)


def _sets(
    edges: csr_array, sets: NDArray, size: int, cliques: bool, limit: int
) -> NDArray[np.int64] | None:
    """All connected sets of so many nodes, or all cliques, that grow from given ones; None where there are
    too many.
    """
    while sets.shape[1] < size:
        grown = _grown(edges, sets, sets.shape[1] if cliques else 1, limit)
        if grown is None:
            return None
        if not len(grown):
            return np.empty((0, size), np.int64)
        sets = grown
    return sets


def _share(edges: csr_array, degree: NDArray[np.int64], node: int) -> float:
    """The squares at a node over those that there could be, pair by pair of its neighbours."""
    near = neighbours(edges, node)
    one, other = np.triu_indices(len(near), 1)
    rows = edges[near]
    squares = (rows @ rows.T).toarray()[one, other] - 1
    joined = rows[:, near].toarray()[one, other]
    possible = degree[near[one]] + degree[near[other]] - 2 * (1 + squares + joined) + squares
    return float(squares.sum() / possible.sum()) if possible.sum() > 0 else 0.0


def _grown(edges: csr_array, sets: NDArray, least: int, limit: int) -> NDArray[np.int64] | None:
    """All sets with a node more that has at least so many neighbours in the set, each once and ascending;
    None where there are too many.
    """
    from scipy.sparse import csr_array

    if np.diff(edges.indptr)[sets].sum() > limit:
        return None
    found = [np.empty((0, sets.shape[1] + 1), np.int64)]
    every = least == sets.shape[1]  # then the last node of a set will do
    for first in range(0, len(sets), BLOCK):
        some = sets[first : first + BLOCK]
        heads = np.arange(0, some.size + 1, some.shape[1])
        of = csr_array(
            (np.ones(some.size, np.int64), some.ravel(), heads), (len(some), edges.shape[0])
        )
        near = (of @ edges).tocoo()
        which, node = near.row, near.col
        keep = (near.data >= least) & ~(some[which] == node[:, None]).any(axis=1)
        if every:
            keep &= node > some[which, -1]
        grown = np.column_stack([some[which[keep]], node[keep]]).astype(np.int64)
        grown.sort(axis=1)
        found.append(grown if every else np.unique(grown, axis=0))
    grown = np.concatenate(found)
    return grown if every else np.unique(grown, axis=0)


def _orbits(edges: csr_array, sets: NDArray[np.int64]) -> dict[int, NDArray[np.int64]]:
    """How often each node is in each orbit of motifs of some connected sets of as many nodes."""
    n, size = edges.shape[0], sets.shape[1]
    keys = np.repeat(np.arange(n), np.diff(edges.indptr)) * n + edges.indices
    degree = np.zeros(sets.shape, np.int64)
    for a, b in permutations(range(size), 2):
        degree[:, a] += np.isin(sets[:, a] * n + sets[:, b], keys)
    count, most = degree.sum(axis=1) // 2, degree.max(axis=1, initial=0)
    found = {}
    for (links, top), places in (THREE if size == 3 else FOUR).items():
        same = (count == links) & (most == top)
        for times, orbit in places.items():
            found[orbit] = np.bincount(sets[same][degree[same] == times], minlength=n)
    return found
