"""Compiled loops of eccentricities: searches of a whole graph, and the bounds that they give."""

from __future__ import annotations

import numpy as np

from dgsuite.base.compiling import compiled

NODES, DIAMETER, RADIUS = 0, 1, 2
"""Whose bounds must meet."""

ONE = np.uint64(1)


@compiled
def search(indptr, ends, root, level, queue):
    """Search a connected graph; returns the hops to the farthest node.

    Parameters
    ----------
    level
        Of each node the hops from the root: these are filled in.
    queue
        Room for all nodes.
    """
    level[:] = -1
    level[root] = 0
    queue[0] = root
    head, tail = 0, 1
    while head < tail:
        node = np.uint64(queue[head])
        head += 1
        hops = level[node] + 1
        for e in range(np.uint64(indptr[node]), np.uint64(indptr[node + ONE])):
            other = np.uint64(ends[np.uint64(e)])
            if level[other] < 0:
                level[other] = hops
                queue[tail] = other
                tail += 1
    return level[queue[tail - 1]]


@compiled
def bound(indptr, ends, ids, root, which):
    """Bounds of all eccentricities of a connected graph, by searches in the order of `Eccentricity`.

    Parameters
    ----------
    ids
        Of the nodes: of several that could be next, the one with the most neighbours is, of several with
        as many the one with the smallest id.
    root
        Where the first search begins.
    which
        `NODES`, `DIAMETER` or `RADIUS`.

    Returns
    -------
    By node, its eccentricity at least and at most.
    """
    size = len(ids)
    least, most = np.zeros(size, np.int32), np.full(size, size - 1, np.int32)
    level, queue = np.empty(size, np.int32), np.empty(size, np.uint32)
    diameter, radius, highest = 0, size - 1, True
    while root >= 0:
        hops = search(indptr, ends, root, level, queue)
        diameter, radius = max(diameter, hops), min(radius, hops)
        root, extreme, degree = -1, 0, 0
        highest = not highest
        for node in range(size):
            low = max(least[node], level[node], hops - level[node])
            high = min(most[node], hops + level[node])
            least[node], most[node] = low, high
            if low >= high or (which == DIAMETER and high <= diameter):
                continue
            if which == RADIUS and low >= radius:
                continue
            rank = high if highest else -low
            if root < 0 or rank >= extreme:
                near = indptr[node + 1] - indptr[node]
                if root < 0 or rank > extreme or near > degree:
                    root, extreme, degree = node, rank, near
                elif near == degree and ids[node] < ids[root]:
                    root = node
    return least, most
