"""Compiled loops over common neighbours.

Lists of neighbours come by node id: those of a node, ascending, are ``values[starts[node]:ends[node]]``, and
`heavy` has the weights of the edges to them. What a common neighbour adds to a sum is its `term`; terms are
added by ascending common neighbour, so a sum has the same bits wherever it is made.
"""

from math import sqrt

import numpy as np

from dgsuite.base.compiling import compiled
from dgsuite.kernels.analytics._ktruss import find
from dgsuite.partition.arrays._compiled.bits import bit
from dgsuite.partition.arrays._compiled.fetching import prefetch

AHEAD = 4
"""Lists that are fetched from memory before they are read."""

ROOM = 1 << 10
"""Rows of a table for which there is room at first."""

ONES, GAINS, LEAST, PRODUCTS = range(4)
"""Terms: 1, what the common neighbour is worth, the smaller one of two weights, or their product."""

SUM, JACCARD, OVERLAP, COSINE, ATTACHMENT = range(5)
"""Ways to make a similarity of the sum and the sizes of both ends."""


@compiled
def term(kind, gains, middle, weights, e, heavy, j):
    """What a common neighbour adds: by itself, or by the weights `weights[e]` and `heavy[j]` of its edges."""
    if kind == ONES:
        return 1.0
    if kind == GAINS:
        return gains[middle]
    if kind == LEAST:
        return min(weights[e], heavy[j])
    return weights[e] * heavy[j]


@compiled
def scored(way, total, size, other):
    """The similarity of two nodes by the sum over their common neighbours, and their sizes."""
    if way == SUM:
        return total
    if way == ATTACHMENT:
        return size * other
    if way == JACCARD:
        whole = size + other - total
    elif way == OVERLAP:
        whole = min(size, other)
    else:
        whole = sqrt(size * other)
    return total / whole if whole > 0 else 0.0


@compiled
def scores(way, totals, sizes, others):
    """Similarities of sums."""
    found = np.empty(len(totals))
    for i in range(len(totals)):
        found[i] = scored(way, totals[i], sizes[i], others[i])
    return found


@compiled
def owned(indptr, indices, nodes, degrees, starts):
    """The edges of each row whose other end has fewer neighbours, or as many if the row's node is the smaller
    one of an even pair or the larger one of an odd pair. One end of each edge has it.

    Parameters
    ----------
    nodes
        Node id of each row.
    degrees
        Of the other end, by entry.
    starts
        Where the list of each node begins.

    Returns
    -------
    heads
        Those of a row are ``heads[row]`` to ``heads[row + 1]``.
    entries, first, last
        Entry of each, and where the list of its other end begins and ends.
    """
    heads = np.zeros(len(nodes) + 1, np.int64)
    entries = np.empty(len(indices) + 1, np.int64)
    count = 0
    for row in range(len(nodes)):
        node, degree = nodes[row], indptr[row + 1] - indptr[row]
        for e in range(indptr[row], indptr[row + 1]):
            v = np.int64(indices[e])
            drawn = (node < v) == ((node + v) & 1 == 0)
            entries[count] = e  # without a branch, which nobody could foresee
            count += (degrees[e] < degree) | ((degrees[e] == degree) & drawn)
        heads[row + 1] = count
    entries = entries[:count].copy()
    first, last = np.empty(count, np.int64), np.empty(count, np.int64)
    for i in range(count):
        first[i] = starts[indices[entries[i]]]
        last[i] = first[i] + degrees[entries[i]]
    return heads, entries, first, last


@compiled
def count_common(indptr, indices, n, heads, first, last, values):
    """How many items of some lists each row has as neighbours, which are kept as bits.

    Parameters
    ----------
    n
        Number of nodes.
    heads, first, last
        See `owned`.
    """
    totals = np.empty(len(first))
    near = np.zeros(n // 8 + 1, np.uint8)
    for row in range(len(heads) - 1):
        if heads[row] == heads[row + 1]:
            continue
        for e in range(indptr[row], indptr[row + 1]):
            v = np.uint32(indices[e])
            near[v >> 3] |= np.uint8(1 << (v & 7))
        for i in range(heads[row], heads[row + 1]):
            if i + AHEAD < len(first):
                prefetch(values, first[i + AHEAD])
                prefetch(values, first[i + AHEAD] + 16)  # the next cache line
            count = np.uint64(0)
            for j in range(first[i], last[i]):
                count += np.uint64(bit(near, values[j]))
            totals[i] = count
        for e in range(indptr[row], indptr[row + 1]):
            near[np.uint32(indices[e]) >> 3] = 0
    return totals


@compiled
def add_common(kind, gains, indptr, indices, weights, n, heads, first, last, values, heavy):
    """As `count_common`, with a sum of terms."""
    totals = np.empty(len(first))
    place = np.full(n, -1, np.int64)
    for row in range(len(heads) - 1):
        if heads[row] == heads[row + 1]:
            continue
        for e in range(indptr[row], indptr[row + 1]):
            place[indices[e]] = e
        for i in range(heads[row], heads[row + 1]):
            total = 0.0
            for j in range(first[i], last[i]):
                at = place[values[j]]
                if at >= 0:
                    total += term(kind, gains, values[j], weights, at, heavy, j)
            totals[i] = total
        for e in range(indptr[row], indptr[row + 1]):
            place[indices[e]] = -1
    return totals


@compiled
def add_apart(kind, gains, indptr, indices, weights, starts, ends, values, heavy, rows, targets):
    """The sum of each pair of a row and a target, which need not be near: the target is looked up in the
    lists of the row's neighbours.
    """
    totals = np.empty(len(rows))
    for i in range(len(rows)):
        total = 0.0
        for e in range(indptr[rows[i]], indptr[rows[i] + 1]):
            middle = indices[e]
            j = find(values, starts[middle], ends[middle], targets[i])
            if j >= 0:
                total += term(kind, gains, middle, weights, e, heavy, j)
        totals[i] = total
    return totals


@compiled
def best(
    kind, gains, indptr, indices, weights, starts, ends, values, heavy, way, k, nodes, own, sizes
):
    """The `k` most similar of the nodes two hops from each row, the best first, of equals the smaller node.

    Parameters
    ----------
    nodes, own
        Node id of each row, and its size.
    sizes
        Of the items of the lists.

    Returns
    -------
    counts, targets, similarities
        How many each row has, and they themselves, row by row.
    """
    n, full = len(starts), 0
    # nodes that the row has met, from place 1 on; 0 is for the row's own node and its neighbours
    met, total, size = np.empty(n + 1, indices.dtype), np.zeros(n + 1), np.empty(n + 1)
    place = np.full(n, -1, np.int32)
    counts = np.zeros(len(nodes), np.int64)
    targets, found = np.empty(ROOM, indices.dtype), np.empty(ROOM)
    for row in range(len(nodes)):
        place[nodes[row]] = 0
        for e in range(indptr[row], indptr[row + 1]):
            place[indices[e]] = 0
        end = 1
        for e in range(indptr[row], indptr[row + 1]):
            if e + AHEAD < len(indices):
                ahead = starts[indices[e + AHEAD]]
                for j in range(ahead, ahead + 32, 16):  # two cache lines
                    prefetch(values, j)
                    prefetch(sizes, j)
            middle = indices[e]
            for j in range(starts[middle], ends[middle]):
                v = values[j]
                at = place[v]
                new = at < 0
                at = end if new else at  # without a branch, which nobody could foresee
                place[v], met[at], size[at] = at, v, sizes[j]
                total[at] += term(kind, gains, middle, weights, e, heavy, j)
                end += new
        some = min(k, end - 1)
        if full + some > len(targets):
            more = max(2 * len(targets), full + some)
            targets = np.append(targets, np.empty(more - len(targets), targets.dtype))
            found = np.append(found, np.empty(more - len(found)))
        held = 0
        for i in range(1, end):
            v, value = met[i], scored(way, total[i], own[row], size[i])
            place[v], total[i] = -1, 0.0
            at = full + held
            while at > full and (
                value > found[at - 1] or (value == found[at - 1] and v < targets[at - 1])
            ):
                at -= 1
            if at == full + some:
                continue
            held = min(held + 1, some)
            for last in range(full + held - 1, at, -1):
                targets[last], found[last] = targets[last - 1], found[last - 1]
            targets[at], found[at] = v, value
        place[nodes[row]] = -1
        for e in range(indptr[row], indptr[row + 1]):
            place[indices[e]] = -1
        counts[row] = some
        full += some
    return counts, targets[:full].copy(), found[:full].copy()
