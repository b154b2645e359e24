"""Compiled loop of shortest paths."""

import numpy as np

from dgsuite.base.compiling import compiled
from dgsuite.kernels.tools._heap import pop, push


@compiled
def routes(indptr, indices, origin, weights, sources, latest_first, trees):
    """Dijkstra's algorithm from several sources.

    Parameters
    ----------
    indptr, indices, weights
        The graph's adjacency; rows ascend.
    origin
        The row of each entry.
    sources
        Nodes to start from.
    latest_first
        Of entries of equal cost, settle the one found last; else the one with the fewest hops.
    trees
        Whether to return trees.

    Returns
    -------
    cost, next_hop
        Shape (len(sources), n).
    via
        The node before each on its way, -1 at the source; shape (len(sources), n), or no rows.
    fetched
        How many lists of neighbours IMSuite's nodes fetch to work out their next hops: as often as
        the tree is deep, those of all nodes whose next hop is known by then.
    """
    n = len(indptr) - 1
    cost = np.empty((len(sources), n), weights.dtype)
    next_hop = np.full((len(sources), n), -1, np.int32)
    before = np.full((len(sources) if trees else 0, n), -1, np.int32)
    most = len(indices) + 1
    heap = np.empty(most, weights.dtype), np.empty(most, np.int64), np.empty(most, np.int64)
    hops = np.empty(n, np.int64)
    by_depth = np.empty(n + 1, np.int64)
    fetched = 0
    for i in range(len(sources)):
        source = sources[i]
        best, hop = cost[i], next_hop[i]
        settled = np.zeros(n, np.bool_)
        seen = np.zeros(n, np.bool_)
        by_depth[:] = 0
        settled[source] = True
        best[source], hop[source], hops[source] = 0, source, 0
        deepest = size = found = 0
        node = source
        while True:
            for entry in range(indptr[node], indptr[node + 1]):
                other = indices[entry]
                if settled[other]:
                    continue
                length = best[node] + weights[entry]
                if not seen[other] or length <= best[other]:
                    seen[other] = True
                    best[other] = length
                    found += 1
                    tie = -found if latest_first else ((hops[node] + 1) << 40) + found
                    push(heap, size, length, tie, entry)
                    size += 1
            while size > 0:
                pop(heap, size)
                size -= 1
                if not settled[indices[heap[2][size]]]:
                    break
            else:
                break
            entry = heap[2][size]
            if settled[indices[entry]]:
                break
            via, node = origin[entry], indices[entry]
            settled[node] = True
            if trees:
                before[i, node] = via
            hops[node] = hops[via] + 1
            hop[node] = node if via == source else hop[via]
            by_depth[hops[node]] += 1
            deepest = max(deepest, hops[node])
        known = 0
        for depth in range(1, deepest + 1):
            known += by_depth[depth]
            fetched += known
    return cost, next_hop, before, fetched
