"""Compiled loops of kernels: they release the interpreter's lock, and are compiled once a machine."""

from __future__ import annotations

import numpy as np

from partition.compiling import compiled


@compiled
def _push(heap, size, cost, tie, edge):
    """Put an entry on a binary heap of (cost, tie, edge) columns."""
    costs, ties, edges = heap
    at = size
    while at > 0:
        up = (at - 1) // 2
        if costs[up] < cost or (costs[up] == cost and ties[up] <= tie):
            break
        costs[at], ties[at], edges[at] = costs[up], ties[up], edges[up]
        at = up
    costs[at], ties[at], edges[at] = cost, tie, edge


@compiled
def _pop(heap, size):
    """Take the least entry off a heap of `size` entries; it is then in the first free place."""
    costs, ties, edges = heap
    first = costs[0], ties[0], edges[0]
    last = size - 1
    cost, tie, edge = costs[last], ties[last], edges[last]
    at = 0
    while True:
        down = 2 * at + 1
        if down >= last:
            break
        other = down + 1
        if other < last and (
            costs[other] < costs[down] or (costs[other] == costs[down] and ties[other] < ties[down])
        ):
            down = other
        if cost < costs[down] or (cost == costs[down] and tie <= ties[down]):
            break
        costs[at], ties[at], edges[at] = costs[down], ties[down], edges[down]
        at = down
    costs[at], ties[at], edges[at] = cost, tie, edge
    costs[last], ties[last], edges[last] = first


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
    heap = (
        np.empty(len(indices) + 1, weights.dtype),
        np.empty(len(indices) + 1, np.int64),
        np.empty(len(indices) + 1, np.int64),
    )
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
                    _push(heap, size, length, tie, entry)
                    size += 1
            while size > 0:
                _pop(heap, size)
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


@compiled
def scan(indptr, indices, sources, names, sent):
    """Targets that some sources reach and that were not found before.

    Parameters
    ----------
    names
        Node id of each source, ascending: so the first to reach a target has the smallest.
    sent
        Which targets were found before; the new ones are marked.

    Returns
    -------
    found, parent
        The new targets, and the id of the source that reached each first.
    examined
        Entries looked at.
    """
    left = 0
    for t in range(len(sent)):
        left += not sent[t]
    found = np.empty(left, np.int32)
    parent = np.empty(left, np.int32)
    count = 0
    examined = np.int64(0)
    for i in range(len(sources)):
        s = sources[i]
        examined += indptr[s + 1] - indptr[s]
        for e in range(indptr[s], indptr[s + 1]):
            t = indices[e]
            if not sent[t]:
                sent[t] = True
                found[count] = t
                parent[count] = names[i]
                count += 1
    return found[:count], parent[:count], examined


@compiled
def adopt(nodes, parents, first, depth, level, parent):
    """Put nodes that have no level yet on a level, each with the smallest parent it was offered."""
    new = np.zeros(len(level), np.bool_)
    count = 0
    for i in range(len(nodes)):
        v = nodes[i] - first
        if level[v] < 0:
            level[v] = depth
            parent[v] = parents[i]
            new[v] = True
            count += 1
        elif new[v] and parents[i] < parent[v]:
            parent[v] = parents[i]
    front = np.empty(count, np.int64)
    k = 0
    for v in range(len(new)):
        if new[v]:
            front[k] = v
            k += 1
    return front


@compiled
def by_exponent(bits, low):
    """Sums of the integers that finite floats, given as their bits, are multiples of: by biased
    exponent, of the `low` last bits and of those above them, shape (2, 2047).
    """
    sums = np.zeros((2, 2047), np.int64)
    some = np.zeros(2047, np.int64)
    fraction, last = (np.int64(1) << 52) - 1, (np.int64(1) << low) - 1
    for start in range(0, len(bits), 1024):  # of so many, the sum of integers of 53 bits has 63
        least, most = 2047, 0
        for b in bits[start : start + 1024]:
            exponent = max((b >> 52) & 2047, 1)
            # a float below the least normal one has no leading bit
            whole = (b & fraction) | (np.int64((b >> 52) & 2047 != 0) << 52)
            some[np.uint64(exponent)] += -whole if b < 0 else whole
            least, most = min(least, exponent), max(most, exponent)
        for e in range(least, most + 1):
            sums[0, e] += some[e] >> low
            sums[1, e] += some[e] & last
            some[e] = 0
    return sums
