"""Compiled loops that draw edges of nodes."""

from math import log1p

import numpy as np

from dgsuite.base.compiling import compiled
from dgsuite.kernels.tools._draws import keyed, picked, running, uniform
from dgsuite.partition.arrays._compiled.fetching import prefetch

AHEAD = 8
"""Rows that are fetched from memory before they are read."""


@compiled
def draw(indptr, indices, weights, rows, ids, key, fanout, replace):
    """Draw `fanout` edges of each of some rows, or all where it is negative.

    Parameters
    ----------
    weights
        By entry, none negative; empty where they do not count.
    ids
        Node of each row: its random numbers depend on that and on `key`.

    Returns
    -------
    counts
        Number of edges drawn of each row.
    places, targets
        Of each edge drawn, its place in the row, and its other end.
    """
    widest = wanted = 0
    for row in rows:
        degree = indptr[row + 1] - indptr[row]
        widest = max(widest, degree)
        wanted += degree if fanout < 0 else fanout if replace and degree else min(degree, fanout)
    counts = np.empty(len(rows), np.int64)
    places, targets = np.empty(wanted, np.int32), np.empty(wanted, np.int32)
    order, moves = np.arange(widest).astype(np.int32), np.empty(max(fanout, 0), np.int64)
    sums, times = np.empty(widest if len(weights) else 0), np.empty(max(fanout, 0))
    full = 0
    for i in range(len(rows)):
        if i + AHEAD < len(rows):
            ahead = indptr[rows[i + AHEAD]]
            prefetch(indices, ahead)
            prefetch(indices, ahead + 16)  # the next cache line
        a, b = indptr[rows[i]], indptr[rows[i] + 1]
        mine = keyed(key, ids[rows[i]])
        out = places[full : full + (b - a if fanout < 0 else fanout)]
        if len(weights) and fanout < 0:
            counts[i] = positive(weights[a:b], out)
        elif len(weights) and replace:
            counts[i] = any_weighted(weights[a:b], out, mine, sums)
        elif len(weights):
            counts[i] = some_weighted(weights[a:b], out, mine, times)
        elif fanout < 0 or (b - a <= fanout and not replace):
            out[: b - a] = order[: b - a]
            counts[i] = b - a
        elif replace:
            counts[i] = any_of(b - a, out, mine)
        else:
            counts[i] = some_of(b - a, out, mine, order, moves)
        for _ in range(counts[i]):
            targets[full] = indices[a + places[full]]
            full += 1
    return counts, places[:full], targets[:full]


@compiled
def any_of(size, out, key):
    """Places of `size`, drawn with replacement."""
    if size == 0:
        return 0
    for k in range(len(out)):
        out[k] = int(uniform(key, k) * size)
    return len(out)


@compiled
def some_of(size, out, key, order, moves):
    """Different places of more, by the first steps of a shuffle, which is then undone."""
    many = len(out)
    for k in range(many):
        moves[k] = k + int(uniform(key, k) * (size - k))
        order[k], order[moves[k]] = order[moves[k]], order[k]
        out[k] = order[k]
    for k in range(many - 1, -1, -1):
        order[k], order[moves[k]] = order[moves[k]], order[k]
    return many


@compiled
def positive(weights, out):
    """The places of all weights above 0."""
    many = 0
    for i in range(len(weights)):
        if weights[i] > 0:
            out[many] = i
            many += 1
    return many


@compiled
def any_weighted(weights, out, key, sums):
    """Places in proportion to their weights, drawn with replacement."""
    size = len(weights)
    running(weights, sums)
    if size == 0 or sums[size - 1] == 0:
        return 0
    for k in range(len(out)):
        out[k] = picked(sums[:size], uniform(key, k))
    return len(out)


@compiled
def some_weighted(weights, out, key, times):
    """Different places, each next one in proportion to the weights of those left.

    Place i rings at a time that is exponential with rate `weights[i]`; the first to ring are drawn.
    """
    many = 0
    for i in range(len(weights)):
        if weights[i] == 0:
            continue
        time = -log1p(-uniform(key, i)) / weights[i]
        if many == len(out):
            if not (many and time < times[many - 1]):
                continue
            many -= 1
        at = many
        while at > 0 and time < times[at - 1]:
            times[at], out[at] = times[at - 1], out[at - 1]
            at -= 1
        times[at], out[at] = time, i
        many += 1
    return many
