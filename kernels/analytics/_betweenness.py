"""Compiled loops of betweenness centrality.

Dependencies are summed over a node's successors in the order of its row (Madduri, Ediger, Jiang, Bader and
Chavarria-Miranda, IPDPS 2009), and over sources in fixed point (`dgsuite.kernels.tools.fixed`): so
they do not depend on which cluster takes which source.
"""

from __future__ import annotations

import numpy as np

from dgsuite.base.compiling import compiled
from dgsuite.kernels.analytics.trouble import FAR, LOST, MANY
from dgsuite.kernels.tools._heap import pop, push
from dgsuite.kernels.tools.fixed import BITS, MASK, ONE


@compiled(inline="always")
def add(whole, part, node, value):
    """Add a number to a node's sum."""
    units = np.int64(value)
    total = part[node] + np.int64((value - units) * ONE)
    whole[node] += units + (total >> BITS)
    part[node] = total & MASK


@compiled
def by_hops(indptr, indices, sources, whole, part, distance, sigma, share, order, starts, after):
    """Brandes' algorithm where edges have no weights.

    Parameters
    ----------
    indptr, indices
        The whole graph's out-edges, uint32: what is unsigned is not looked at for a minus sign.
    sources
        Nodes to start from, uint32.
    whole, part
        int64, shape (n,): sums so far.
    distance, sigma, share, order, starts, after
        Workspace: see `workspace`.

    Returns
    -------
    Edges looked at by the searches; `MANY`, `LOST`, `FAR` or 0; and the source where that is.
    """
    scanned = 0
    for source in sources:
        order[0] = source
        distance[source] = 0
        sigma[source] = 1.0
        count = 1
        at = 0
        links = 0
        while at < count:
            u = order[at]
            starts[at] = links
            at += 1
            level = distance[u] + 1
            scanned += indptr[u + 1] - indptr[u]
            for e in range(indptr[u], indptr[u + 1]):
                v = indices[e]
                if distance[v] < 0:
                    distance[v] = level
                    sigma[v] = 0.0
                    order[count] = v
                    count += 1
                after[links] = v
                links += distance[v] == level
            paths = sigma[u]
            if paths == np.inf:
                return scanned, MANY, source
            for e in range(starts[at - 1], links):
                sigma[after[e]] += paths
        starts[count] = links
        _depend(source, count, whole, part, sigma, share, order, starts, after)
        for at in range(count):
            distance[order[at]] = -1
    return scanned, 0, 0


@compiled
def _depend(source, count, whole, part, sigma, share, order, starts, after):
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
def by_weight(
    indptr,
    indices,
    weights,
    limit,
    sources,
    whole,
    part,
    distance,
    sigma,
    share,
    order,
    starts,
    after,
    heap,
):
    """Brandes' algorithm on weights above 0, by Dijkstra's, with distances below a limit; else as `by_hops`.

    Paths are counted when all distances are known. The original counts on the way and, where it finds
    a shorter path, forgets the predecessors but not their paths.
    """
    scanned = 0
    costs = heap[0]
    for source in sources:
        distance[source] = 0.0
        sigma[source] = 1.0
        push(heap, 0, 0.0, source, source)
        waiting = 1
        count = 0
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
                    distance[v] = there
                    sigma[v] = 0.0
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
                return scanned, (FAR if far else LOST), source
            paths = sigma[u]
            if paths == np.inf:
                return scanned, MANY, source
            for e in range(starts[at], links):
                sigma[after[e]] += paths
        starts[count] = links
        _depend(source, count, whole, part, sigma, share, order, starts, after)
        for at in range(count):
            distance[order[at]] = np.inf
    return scanned, 0, 0


def workspace(n, entries, weighted):
    """What a search needs besides the graph: arrays of nodes, successors, and a heap if weighted."""
    nodes = (np.full(n, np.inf) if weighted else np.full(n, -1, np.int32), np.empty(n), np.empty(n))
    lists = (np.empty(n, np.uint32), np.empty(n + 1, np.uint32), np.empty(entries + 1, np.uint32))
    if not weighted:
        return (*nodes, *lists)
    room = entries + 1
    return (*nodes, *lists, (np.empty(room), np.empty(room, np.uint32), np.empty(room, np.uint32)))
