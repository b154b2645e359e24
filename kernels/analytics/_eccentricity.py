"""Compiled loops of eccentricities: searches of a whole graph, and the bounds that they give."""

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
    level[root], queue[0] = 0, root
    head, tail = 0, 1
    while head < tail < len(queue):  # until all are found
        node = np.uint64(queue[head])
        head += 1
        hops = level[node] + 1
        for e in range(np.uint64(indptr[node]), np.uint64(indptr[node + ONE])):
            other = np.uint64(ends[np.uint64(e)])
            if level[other] < 0:
                level[other], queue[tail] = hops, other
                tail += 1
    return level[queue[tail - 1]]


@compiled
def bound(indptr, ends, order, which):
    """Bounds of all eccentricities of a connected graph, by searches in the order of `Eccentricity`.

    Parameters
    ----------
    order
        The nodes: of several that could be next, the first one is.
    which
        `NODES`, `DIAMETER` or `RADIUS`.

    Returns
    -------
    By node, its eccentricity at least and at most.
    """
    size = len(order)
    least, most = np.zeros(size, np.int32), np.full(size, size - 1, np.int32)
    level, queue = np.empty(size, np.int32), np.empty(size, np.uint32)
    diameter, radius, highest, root = 0, size - 1, True, order[0]
    while root >= 0:
        hops = search(indptr, ends, root, level, queue)
        diameter, radius = max(diameter, hops), min(radius, hops)
        highest, root, extreme = not highest, -1, 0
        for node in order:
            low = max(least[node], level[node], hops - level[node])
            high = min(most[node], hops + level[node])
            least[node], most[node] = low, high
            done = (which == DIAMETER and high <= diameter) or (which == RADIUS and low >= radius)
            rank = high if highest else -low
            if low < high and not done and (root < 0 or rank > extreme):
                root, extreme = node, rank
    return least, most
