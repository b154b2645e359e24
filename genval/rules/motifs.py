"""Cliques, squares and motifs, by listing sets of nodes, each from one with a node less."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import Job, Rule, collect
from dgsuite.genval.rules.triangles import CLOSE, adjacency

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST = 30_000_000
"""Neighbours of the nodes of all sets of a size, up to which sets are listed, or squares counted."""

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


def cliques(job: Job) -> list[Found]:
    """Cliques are listed, each from that of its nodes but the last. On larger graphs only necessary
    conditions are checked: none where neighbours are too few, and a sum that is a multiple of `k`.
    """
    edges, k = adjacency(job), job.integer("k", 4, 3, job.n + (1 << 20))
    found = job.outputs["cliques"].astype(np.int64)
    degree, total = np.diff(edges.indptr), int(found.sum())
    few = degree < k - 1
    rules: list[Rule] = [
        (
            "range",
            (found < 0) | (few & (found > 0)),
            lambda i: "0, as it has too few neighbours" if few[i] else "0 or more",
            lambda i: str(found[i]),
        ),
        (
            "sum",
            (np.arange(job.n) == 0) & (total % k != 0),
            lambda i: f"a sum that is a multiple of {k}",
            lambda i: str(total),
        ),
    ]
    if (sets := _sets(edges, k, True)) is not None:
        rules.append(_exactly("cliques", found, np.bincount(sets.ravel(), minlength=job.n)))
    return [collect(np.arange(job.n), *rules)]


def motifs(job: Job) -> list[Found]:
    """Connected sets of three and four nodes are listed, and a node's orbit follows from degrees in the set.
    On larger graphs only necessary conditions are checked: orbits of a motif are as frequent as it has nodes
    there, and every two, and every three, of a node's neighbours are in a motif with it.
    """
    found, edges = job.outputs["orbits"].astype(np.int64), adjacency(job)
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
        (
            "range",
            least < 0,
            lambda i: "0 or more",
            lambda i: str(least[i]),
        ),
        _exactly("orbit 0", found[:, 0], degree),
        _exactly("pairs of neighbours", pairs, degree * (degree - 1) // 2),
        _exactly("threes of neighbours", threes, degree * (degree - 1) * (degree - 2) // 6),
        (
            "sum",
            np.full(job.n, bool(unequal)) & (np.arange(job.n) == 0),
            lambda i: "as many nodes in orbits {} and {} as the motif has".format(*unequal[0]),
            lambda i: " and ".join(str(total[orbit]) for orbit in unequal[0]),
        ),
    ]
    for size in (3, 4):
        if (sets := _sets(edges, size, False)) is not None:
            for orbit, right in _orbits(edges, sets).items():
                rules.append(_exactly(f"orbit {orbit}", found[:, orbit], right))
    return [collect(np.arange(job.n), *rules)]


def square_clustering(job: Job) -> list[Found]:
    """Squares of a node and a pair of its neighbours are other neighbours that the pair has in common, by the
    square of the adjacency matrix. On larger graphs only the range is checked: from 0 to 1.
    """
    edges, found = adjacency(job), job.outputs["coefficient"].astype(np.float64)
    degree = np.diff(edges.indptr).astype(np.int64)
    rules: list[Rule] = [
        (
            "range",
            ~((found >= 0) & (found <= (degree > 1))),
            lambda i: "a number from 0 to 1" if degree[i] > 1 else "0, as there is no pair",
            lambda i: f"{found[i]:g}",
        )
    ]
    if (degree**2).sum() * max(degree.max(initial=0), 1) <= MOST:
        right = np.array([_share(edges, degree, node) for node in range(job.n)])
        off = ~np.isclose(found, right, CLOSE, 0)
        rules.append(
            ("coefficient", off, lambda i: f"{right[i]:.15g}", lambda i: f"{found[i]:.15g}")
        )
    return [collect(np.arange(job.n), *rules)]


def _exactly(what: str, found: NDArray[np.int64], right: NDArray[np.int64]) -> Rule:
    """The rule that numbers are the right ones."""
    return what, found != right, lambda i: str(right[i]), lambda i: str(found[i])


def _sets(edges: csr_array, size: int, cliques: bool) -> NDArray[np.int64] | None:
    """All connected sets of so many nodes, or all cliques; None where there are too many."""
    sets = np.arange(edges.shape[0])[:, None]
    while sets.shape[1] < size:
        grown = _grown(edges, sets, sets.shape[1] if cliques else 1)
        if grown is None:
            return None
        if not len(grown):
            return np.empty((0, size), np.int64)
        sets = grown
    return sets


def _share(edges: csr_array, degree: NDArray[np.int64], node: int) -> float:
    """The squares at a node over those that there could be, pair by pair of its neighbours."""
    near = edges.indices[edges.indptr[node] : edges.indptr[node + 1]]
    one, other = np.triu_indices(len(near), 1)
    rows = edges[near]
    squares = (rows @ rows.T).toarray()[one, other] - 1
    joined = rows[:, near].toarray()[one, other]
    possible = degree[near[one]] + degree[near[other]] - 2 * (1 + squares + joined) + squares
    return float(squares.sum() / possible.sum()) if possible.sum() > 0 else 0.0


def _grown(edges: csr_array, sets: NDArray, least: int) -> NDArray[np.int64] | None:
    """All sets with a node more that has at least so many neighbours in the set, each once and ascending;
    None where there are too many.
    """
    from scipy.sparse import csr_array

    if np.diff(edges.indptr)[sets].sum() > MOST:
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
        inside = (some[which] == node[:, None]).any(axis=1)
        keep = (near.data >= least) & ~inside
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
    for a in range(size):
        for b in range(size):
            if a != b:
                degree[:, a] += np.isin(sets[:, a] * n + sets[:, b], keys)
    count, most = degree.sum(axis=1) // 2, degree.max(axis=1, initial=0)
    found = {}
    for (links, top), places in (THREE if size == 3 else FOUR).items():
        same = (count == links) & (most == top)
        for times, orbit in places.items():
            found[orbit] = np.bincount(sets[same][degree[same] == times], minlength=n)
    return found
