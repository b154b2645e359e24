"""Cliques, squares and motifs, by listing sets of nodes, each from one with a node less."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import Job, Rule, collect
from dgsuite.genval.rules.triangles import CLOSE, MOST, adjacency

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SETS = 3_000_000
"""Sets of nodes up to which they are listed."""

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
    sets = np.arange(job.n)[:, None]
    while sets is not None and sets.shape[1] < k and len(sets):
        sets = _grown(edges, sets, sets.shape[1])
    if sets is not None:
        right = np.bincount(sets.ravel() if sets.shape[1] == k else [], minlength=job.n)
        rules.append(("cliques", found != right, lambda i: str(right[i]), lambda i: str(found[i])))
    return [collect(np.arange(job.n), *rules)]


def motifs(job: Job) -> list[Found]:
    """Connected sets of three and four nodes are listed, and a node's orbit follows from degrees in the set.
    On larger graphs only necessary conditions are checked: orbits of a motif are as frequent as it has nodes
    there, and every two, and every three, of a node's neighbours are in a motif with it.
    """
    found, edges = job.outputs["orbits"].astype(np.int64), adjacency(job)
    degree = np.diff(edges.indptr).astype(np.int64)
    nodes, total = np.arange(job.n), found.sum(axis=0)
    right = {0: degree}
    pairs, threes = degree * (degree - 1) // 2, degree * (degree - 1) * (degree - 2) // 6
    near = {
        "pairs of neighbours": (found[:, [2, 3]].sum(axis=1), pairs),
        "threes of neighbours": (found[:, [7, 11, 13, 14]].sum(axis=1), threes),
    }
    rules: list[Rule] = [
        (
            "range",
            (found < 0).any(axis=1),
            lambda i: "0 or more",
            lambda i: str(found[i].min()),
        )
    ]
    for what, (count, wanted) in near.items():
        rules.append(
            (
                what,
                count != wanted,
                lambda i, wanted=wanted: str(wanted[i]),
                lambda i, count=count: str(count[i]),
            )
        )
    unequal = [
        (a, b)
        for a, b in (*SAME, *((a, a) for a in NODES))
        if total[a] % NODES[a] or total[a] // NODES[a] != total[b] // NODES[b]
    ]
    rules.append(
        (
            "sum",
            (nodes == 0) & bool(unequal),
            lambda i: "as many nodes in orbits {} and {} as the motif has".format(*unequal[0]),
            lambda i: " and ".join(str(total[orbit]) for orbit in unequal[0]),
        )
    )
    for size in (3, 4):
        sets = nodes[:, None]
        while sets is not None and sets.shape[1] < size:
            sets = _grown(edges, sets, 1)
        if sets is not None:
            right |= _orbits(edges, sets)
    for orbit, wanted in right.items():
        rules.append(
            (
                f"orbit {orbit}",
                found[:, orbit] != wanted,
                lambda i, wanted=wanted: str(wanted[i]),
                lambda i, orbit=orbit: str(found[i, orbit]),
            )
        )
    return [collect(nodes, *rules)]


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

    found, total = [np.empty((0, sets.shape[1] + 1), np.int64)], 0
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
        total += len(found[-1])
        if total > SETS:
            return None
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
