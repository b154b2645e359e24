"""Compiled loops of betweenness centrality.

Dependencies are summed over a node's successors in the order of its row (Madduri, Ediger, Jiang, Bader and
Chavarria-Miranda, IPDPS 2009), and over sources in fixed point (`dgsuite.kernels.tools.exact`): so
they do not depend on which cluster takes which source.
"""

import numpy as np

from dgsuite.base.compiling import compiled
from dgsuite.kernels.analytics.trouble import DEEP, FAR, INEXACT, LOST, MANY, WHOLE
from dgsuite.kernels.tools import exact
from dgsuite.kernels.tools._heap import pop, push
from dgsuite.kernels.tools.exact import BITS, MASK

ONE = np.uint32(1)

SCANS = 16
"""A level of more than one in so many nodes is listed by looking at all nodes."""


@compiled(inline="always")
def add(whole, part, node, value):
    """Add a number to a node's sum."""
    units = np.int64(value)
    total = part[node] + np.int64((value - units) * exact.ONE)
    whole[node] += units + (total >> BITS)
    part[node] = total & MASK


@compiled
def by_hops(
    indptr, indices, sources, by_edge, whole, part, distance, sigma, share, order, starts, after, far,
):  # fmt: skip
    """Brandes' algorithm where edges have no weights.

    Rows of a large level are read in the order of the graph, which is faster than in the order of discovery:
    they follow each other in memory. Where there are too many paths to count them exactly, their sums depend
    on the order. Then it is that of discovery, which is the same for every partition.

    Parameters
    ----------
    indptr, indices
        The whole graph's out-edges, uint32: what is unsigned is not looked at for a minus sign.
    sources
        Nodes to start from, uint32.
    by_edge
        Whether to sum up by edge instead of by node.
    whole, part
        int64, a value for each node, or edge: sums so far.
    distance, sigma, share, order, starts, after
        Workspace: see `workspace`.
    far
        What `distance` holds of nodes that have not been reached: its largest value.

    Returns
    -------
    How many searches ended, and the edges that they looked at. Then 0 if all ended; of the first that did
    not, `MANY`, or `DEEP` if hops come to `far`.
    """
    scanned, room = 0, (distance, sigma, order, starts, after)
    for k, source in enumerate(sources):
        wrong, count = _search(indptr, indices, source, *room, far, True)
        if wrong == INEXACT:
            wrong, count = _search(indptr, indices, source, *room, far, False)
        if wrong:
            return k, scanned, wrong
        found = sigma, share, order, starts, after
        if by_edge:
            _depend_by_edge(indptr, indices, count, whole, part, *found)
        else:
            _depend(count, whole, part, *found)
        for at in range(count):
            scanned += indptr[order[at] + ONE] - indptr[order[at]]
            distance[order[at]] = far
    return len(sources), scanned, 0


@compiled
def _search(indptr, indices, source, distance, sigma, order, starts, after, far, by_position):
    """Levels, paths and successors of a search. Returns `MANY`, `DEEP`, `INEXACT` or 0, and how many nodes
    were reached; unless it returns 0, `distance` is as before.
    """
    n = len(indptr) - 1
    order[0], distance[source], sigma[source] = source, 0, 1.0
    low, high, links, hops, wrong = 0, 1, 0, 0, 0
    while low < high and not wrong:
        hops += 1
        if hops == far:
            wrong = DEEP
            break
        if by_position and (high - low) * SCANS > n:
            at = low
            for v in range(n):
                order[at] = v
                at += distance[v] == hops - 1
        count = high
        for at in range(low, high):
            u = order[at]
            starts[at] = links
            for e in range(indptr[u], indptr[u + ONE]):
                v = indices[e]
                if distance[v] == far:
                    distance[v], sigma[v] = hops, 0.0
                    order[count] = v
                    count += 1
                after[links] = v
                links += distance[v] == hops
            paths = sigma[u]
            if paths > WHOLE and (by_position or paths == np.inf):
                wrong = INEXACT if by_position else MANY
                break
            for e in range(starts[at], links):
                sigma[after[e]] += paths
        low, high = high, count
    starts[high] = links
    if wrong:
        distance[order[:high]] = far
    return wrong, high


@compiled
def _depend(count, whole, part, sigma, share, order, starts, after):
    """Dependencies of all nodes on a source, those farthest away first."""
    for at in range(count - 1, 0, -1):
        v = order[at]
        below = 0.0
        for e in range(starts[at], starts[at + 1]):
            below += share[after[e]]
        depends = sigma[v] * below
        share[v] = (1.0 + depends) / sigma[v]
        add(whole, part, v, depends)


@compiled
def _depend_by_edge(indptr, indices, count, whole, part, sigma, share, order, starts, after):
    """As `_depend`, summed up for each edge: a node's successors are some of its row, in its order."""
    for at in range(count - 1, -1, -1):
        v = order[at]
        below = 0.0
        link = starts[at]
        for e in range(indptr[v], indptr[v + ONE]):
            if link < starts[at + 1] and indices[e] == after[link]:
                below += share[indices[e]]
                add(whole, part, e, sigma[v] * share[indices[e]])
                link += ONE
        share[v] = (1.0 + sigma[v] * below) / sigma[v]


@compiled
def by_weight(
    indptr, indices, weights, limit, sources, by_edge, whole, part,
    distance, sigma, share, order, starts, after, heap,
):  # fmt: skip
    """Brandes' algorithm on weights above 0, by Dijkstra's, with distances in float64 below a limit; else as
    `by_hops`. A search that does not end gives `MANY`, `LOST` or `FAR`.

    Paths are counted when all distances are known. The original counts on the way and, where it finds
    a shorter path, forgets the predecessors but not their paths.
    """
    scanned = 0
    costs = heap[0]
    for k, source in enumerate(sources):
        distance[source], sigma[source] = 0.0, 1.0
        push(heap, 0, 0.0, source, source)
        waiting, count = 1, 0
        while waiting:
            reach = costs[0]
            pop(heap, waiting)
            waiting -= 1
            u = heap[2][waiting]
            if reach > distance[u]:
                continue  # a shorter way has been found since
            order[count] = u
            count += 1
            scanned += indptr[u + 1] - indptr[u]
            for e in range(indptr[u], indptr[u + 1]):
                v = indices[e]
                there = reach + weights[e]
                if there < distance[v]:
                    distance[v], sigma[v] = there, 0.0
                    push(heap, waiting, there, v, v)
                    waiting += 1
        links = 0
        for at in range(count):
            u = order[at]
            starts[at] = links
            reach = distance[u]
            lost = far = False
            for e in range(indptr[u], indptr[u + 1]):
                after[links] = indices[e]
                there = reach + weights[e]
                last = distance[indices[e]] == there
                links += last
                lost |= last & (there == reach)
                far |= last & (there >= limit)
            if lost or far:
                return k, scanned, FAR if far else LOST
            paths = sigma[u]
            if paths == np.inf:
                return k, scanned, MANY
            for e in range(starts[at], links):
                sigma[after[e]] += paths
        starts[count] = links
        found = sigma, share, order, starts, after
        if by_edge:
            _depend_by_edge(indptr, indices, count, whole, part, *found)
        else:
            _depend(count, whole, part, *found)
        distance[order[:count]] = np.inf
    return len(sources), scanned, 0


def workspace(n, entries, weighted, kind):
    """What a search needs besides the graph: arrays of nodes, successors, and a heap if weighted.

    Parameters
    ----------
    kind
        Type of distances; all are the largest number of the type.
    """
    far = np.inf if weighted else np.iinfo(kind).max
    sizes = n + 1, n + 1, *[entries + 1] * (3 if weighted else 1)
    order, starts, after, *heap = (np.empty(size, np.uint32) for size in sizes)
    last = (np.empty(entries + 1), *heap) if weighted else kind(far)
    return np.full(n, far, kind), np.empty(n), np.empty(n), order, starts, after, last
