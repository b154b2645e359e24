"""Orders of nodes along edges: generations and cycles of directed graphs, and two colours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import Job, exactly, marked
from dgsuite.genval.rules.registry import judges
from dgsuite.genval.rules.triangles import adjacency


@judges("topological", outputs={"generation": 1, "cycle": 1})
def topological(job: Job) -> list[Found]:
    """A generation is one more than the greatest of the nodes before, all of which have one, and 0 without
    such nodes. A node has none only if one before has none. If any has none, a cycle is given, in its order.
    """
    source, target = _edges(job)
    found, place = job.integers("generation", "cycle")
    most, least = np.full(job.n, -1), np.zeros(job.n, np.int64)
    np.maximum.at(most, target, found[source])
    np.minimum.at(least, target, found[source])
    right = np.where(least < 0, -1, most + 1)
    cycle = _cycle(job, place, bool((found < 0).any()))
    return [job.found(exactly("generation", found, right)), *cycle]


def _edges(job: Job) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Both ends of each edge but loops; an undirected one goes both ways."""
    matrix = adjacency(job)
    source = np.repeat(np.arange(job.n), np.diff(matrix.indptr))
    return source, matrix.indices.astype(np.int64)


def _cycle(job: Job, place: NDArray[np.int64], wanted: bool, odd: bool = False) -> list[Found]:
    """Violations of the rule that places number a cycle, if one is `wanted`, and else none.

    Parameters
    ----------
    odd
        Whether it must be of odd length; edges then have no direction.
    """
    source, target = _edges(job)
    if odd and job.graph.directed:
        source, target = np.concatenate([source, target]), np.concatenate([target, source])
    nodes = np.flatnonzero(place != -1)
    nodes = nodes[np.argsort(place[nodes], kind="stable")]
    size = len(nodes)
    follows = (place[source] >= 0) & (place[target] == (place[source] + 1) % max(size, 1))
    # whether the node before it in the cycle has an edge to it
    after = marked(job.n, target[follows & (place[target] >= 0)])
    out = np.zeros(job.n, bool)
    out[nodes] = (place[nodes] != np.arange(size)) | ~after[nodes]
    expected = ("an odd cycle" if odd else "a cycle") if wanted else "no cycle"
    mistaken = (wanted != (size > 0)) | (odd and size > 0 and size % 2 == 0)
    told = "places from 0 on, and an edge from the node in the place before"
    return [
        job.whole("cycle", mistaken, expected, f"{size} nodes"),
        job.found(("order", out, told, place)),
    ]


@judges("bipartite", outputs={"colour": 1, "cycle": 1})
def bipartite(job: Job) -> list[Found]:
    """Of two copies of the nodes, an edge joins either copy of an end with the other copy of the other end.
    Then a component with an odd cycle is joined to its own copy, and its colours are -1; elsewhere a node has
    the colour 0 where it is joined to the same copy of the component's smallest node. If there is an odd
    cycle, one is given, in its order.
    """
    from scipy.sparse import block_array
    from scipy.sparse.csgraph import connected_components

    matrix, n = adjacency(job), job.n
    colour, place = job.integers("colour", "cycle")
    _, part = connected_components(block_array([[None, matrix], [matrix, None]]), directed=False)
    least = np.full(part.max(initial=-1) + 1, 2 * n)
    np.minimum.at(least, part, np.arange(2 * n))
    one, other = least[part].reshape(2, n)
    right = np.where(one == other, -1, one > other)
    cycle = _cycle(job, place, bool((right < 0).any()), odd=True)
    return [job.found(exactly("colour", colour, right)), *cycle]
