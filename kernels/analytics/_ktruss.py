"""Compiled loop of trusses."""

import numpy as np

from dgsuite.base.compiling import compiled


@compiled
def find(values, first, last, node):
    """Where a node is among ``values[first:last]``, which ascend; -1 where it is not."""
    stop = last
    while first < last:
        middle = (first + last) >> 1
        if values[middle] < node:
            first = middle + 1
        else:
            last = middle
    return first if first < stop and values[first] == node else -1


@compiled
def sink(indptr, indices, nodes, starts, ends, values, theirs, bound, low, high, changed):
    """Lower the bounds of edges to what triangles allow: the largest b such that b triangles of the edge have
    bounds of b or more at both other edges.

    Parameters
    ----------
    nodes
        Node id of each row.
    starts, ends, values, theirs
        By node id: its neighbours, ascending, are ``values[starts[node]:ends[node]]``, and the bounds of its
        edges the same of `theirs`.
    bound
        By entry of the adjacency; it is changed.
    low, high
        By node id: bounds of its edges that have changed were `high` at most, and are `low` at least. They
        matter to edges of bounds above `low`, up to `high`.
    changed
        By row, filled with whether a bound has changed.
    """
    place = np.full(len(low), -1, np.int64)
    most = 0
    for row in range(len(nodes)):
        most = max(most, indptr[row + 1] - indptr[row])
    times = np.zeros(most + 1, np.int64)
    new = np.empty(most, bound.dtype)
    for row in range(len(nodes)):
        begin, end = indptr[row], indptr[row + 1]
        for e in range(begin, end):
            place[indices[e]] = e
        changed[row] = False
        for e in range(begin, end):
            other = indices[e]
            new[e - begin] = bound[e]
            first, last = starts[other], ends[other]
            top = min(bound[e], end - begin, last - first)
            if not (
                low[nodes[row]] < bound[e] <= high[nodes[row]]
                or low[other] < bound[e] <= high[other]
            ):
                continue
            if last - first <= end - begin:
                for k in range(first, last):
                    f = place[values[k]]
                    if f >= 0:
                        times[min(bound[f], theirs[k], top)] += 1
                        if times[top] == top:  # the bound stays
                            break
            else:
                for f in range(begin, end):
                    k = find(values, first, last, indices[f])
                    if k >= 0:
                        times[min(bound[f], theirs[k], top)] += 1
                        if times[top] == top:
                            break
            best, held = top, times[top]
            while held < best:
                best -= 1
                held += times[best]
            times[: top + 1] = 0
            new[e - begin] = best
            changed[row] |= best != bound[e]
        for e in range(begin, end):
            bound[e] = new[e - begin]
            place[indices[e]] = -1
