"""Compiled loops over common neighbours.

Lists of neighbours come by node id: those of a node, ascending, are ``values[starts[node]:ends[node]]``, and
`heavy` has the weights of the edges to them. What a common neighbour adds to a sum is its `term`; terms are
added by ascending common neighbour, so a sum has the same bits wherever it is made.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from dgsuite.base.compiling import compiled
from dgsuite.kernels.analytics._ktruss import find
from dgsuite.kernels.analytics._triangles import prefetch
from dgsuite.partition.arrays._compiled import bit

AHEAD = 4
"""Lists that are fetched from memory before they are read."""

ONES, GAINS, LEAST, PRODUCTS = range(4)
"""Terms: 1, what the common neighbour is worth, the smaller one of two weights, or their product."""

SUM, JACCARD, OVERLAP, COSINE, ATTACHMENT = range(5)
"""Ways to make a similarity of the sum and the sizes of both ends."""


@compiled
def term(kind, gains, middle, weights, e, heavy, j):
    """What a common neighbour adds: by itself, or by the weights of its edges ``weights[e]`` and ``heavy[j]``."""
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
def score(way, totals, sizes, others):
    """Turn sums into similarities, in place."""
    for i in range(len(totals)):
        totals[i] = scored(way, totals[i], sizes[i], others[i])


@compiled
def by_longer(source, target, starts, ends):
    """Pairs in the order of the end with the longer list.

    Returns
    -------
    heads, order
        Those of a node are ``order[heads[node]:heads[node + 1]]``.
    shorter
        The other end of each pair of `order`.
    """
    heads = np.zeros(len(starts) + 1, np.int64)
    order = np.empty(len(source), np.int64)
    shorter = np.empty(len(source), source.dtype)
    for turn in range(2):
        for i in range(len(source)):
            long, short = source[i], target[i]
            if ends[long] - starts[long] < ends[short] - starts[short]:
                long, short = short, long
            if turn == 0:
                heads[long + 1] += 1
            else:
                order[heads[long]] = i
                shorter[heads[long]] = short
                heads[long] += 1
        if turn == 0:
            for node in range(len(starts)):
                heads[node + 1] += heads[node]
    heads[1:] = heads[:-1].copy()
    heads[0] = 0
    return heads, order, shorter


@compiled
def count_common(heads, order, shorter, starts, ends, values, totals):
    """How many neighbours the ends of each pair have in common: items of the shorter list that are in the
    longer one, which is kept as bits.

    Parameters
    ----------
    heads, order, shorter
        See `by_longer`.
    totals
        Filled by pair.
    """
    near = np.zeros(len(starts) // 8 + 1, np.uint8)
    for node in range(len(starts)):
        if heads[node] == heads[node + 1]:
            continue
        for j in range(starts[node], ends[node]):
            v = np.uint32(values[j])
            near[v >> 3] |= np.uint8(1 << (v & 7))
        for i in range(heads[node], heads[node + 1]):
            if i + AHEAD < heads[node + 1]:
                prefetch(values, starts[shorter[i + AHEAD]])
                prefetch(values, starts[shorter[i + AHEAD]] + 16)  # the next cache line
            count = 0
            for j in range(starts[shorter[i]], ends[shorter[i]]):
                count += bit(near, values[j])
            totals[order[i]] = count
        for j in range(starts[node], ends[node]):
            near[np.uint32(values[j]) >> 3] = 0


@compiled
def add_common(kind, gains, heads, order, shorter, starts, ends, values, heavy, totals):
    """As `count_common`, with a sum of terms."""
    place = np.full(len(starts), -1, np.int64)
    for node in range(len(starts)):
        if heads[node] == heads[node + 1]:
            continue
        for j in range(starts[node], ends[node]):
            place[values[j]] = j
        for i in range(heads[node], heads[node + 1]):
            total = 0.0
            for j in range(starts[shorter[i]], ends[shorter[i]]):
                at = place[values[j]]
                if at >= 0:
                    total += term(kind, gains, values[j], heavy, at, heavy, j)
            totals[order[i]] = total
        for j in range(starts[node], ends[node]):
            place[values[j]] = -1


@compiled
def add_apart(
    kind, gains, rows, targets, indptr, indices, weights, starts, ends, values, heavy, totals
):
    """The sum of each pair of a row and a target, which need not be near: the target is looked up in the
    lists of the row's neighbours.
    """
    for i in range(len(rows)):
        total = 0.0
        for e in range(indptr[rows[i]], indptr[rows[i] + 1]):
            middle = indices[e]
            j = find(values, starts[middle], ends[middle], targets[i])
            if j >= 0:
                total += term(kind, gains, middle, weights, e, heavy, j)
        totals[i] = total


@compiled
def best(
    kind, way, k, gains, nodes, own, indptr, indices, weights, starts, ends, values, heavy, sizes
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
    total, size = np.zeros(n), np.zeros(n)
    seen = np.full(n, -1, np.int32)  # the last row that has met the node
    near = np.full(n, -1, np.int32)  # the last row that has it as a neighbour, or is the node
    met = np.empty(n, indices.dtype)
    counts = np.zeros(len(nodes), np.int64)
    targets, found = np.empty(1024, indices.dtype), np.empty(1024)
    for row in range(len(nodes)):
        near[nodes[row]] = row
        for e in range(indptr[row], indptr[row + 1]):
            near[indices[e]] = row
        many = 0
        for e in range(indptr[row], indptr[row + 1]):
            middle = indices[e]
            for j in range(starts[middle], ends[middle]):
                v = values[j]
                if near[v] == row:
                    continue
                if seen[v] != row:
                    seen[v], total[v], size[v] = row, 0.0, sizes[j]
                    met[many] = v
                    many += 1
                total[v] += term(kind, gains, middle, weights, e, heavy, j)
        some = min(k, many)
        if full + some > len(targets):
            more = max(2 * len(targets), full + some)
            targets = np.append(targets, np.empty(more - len(targets), targets.dtype))
            found = np.append(found, np.empty(more - len(found)))
        held = 0
        for i in range(many):
            v = met[i]
            value = scored(way, total[v], own[row], size[v])
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
        counts[row] = some
        full += some
    return counts, targets[:full].copy(), found[:full].copy()
