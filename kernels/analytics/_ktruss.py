"""Compiled loop of trusses."""

from __future__ import annotations

import numpy as np

from partition.compiling import compiled


@compiled
def find(values, first, last, node):
    """Where a node is among ``values[first:last]``, which ascend; -1 where it is not."""
    end = last
    while first < last:
        middle = (first + last) >> 1
        if values[middle] < node:
            first = middle + 1
        else:
            last = middle
    return first if first < end and values[first] == node else -1


@compiled
def sink(indptr, indices, nodes, starts, ends, values, theirs, bound, fresh, changed):
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
    fresh
        By node id, whether bounds of its edges have changed. Edges between two others keep theirs.
    changed
        By row, filled with whether a bound has changed.
    """
    place = np.full(len(fresh), -1, np.int64)
    most = 0
    for row in range(len(nodes)):
        most = max(most, indptr[row + 1] - indptr[row])
    times = np.zeros(most + 1, np.int64)
    new = np.empty(most, bound.dtype)
    for row in range(len(nodes)):
        low, high = indptr[row], indptr[row + 1]
        for e in range(low, high):
            place[indices[e]] = e
        changed[row] = False
        for e in range(low, high):
            other = indices[e]
            new[e - low] = bound[e]
            first, last = starts[other], ends[other]
            top = min(bound[e], high - low, last - first)
            if bound[e] == 0 or not (fresh[nodes[row]] or fresh[other]):
                continue
            if last - first <= high - low:
                for k in range(first, last):
                    f = place[values[k]]
                    if f >= 0:
                        times[min(bound[f], theirs[k], top)] += 1
                        if times[top] == top:  # the bound stays
                            break
            else:
                for f in range(low, high):
                    k = find(values, first, last, indices[f])
                    if k >= 0:
                        times[min(bound[f], theirs[k], top)] += 1
                        if times[top] == top:
                            break
            best, held = top, times[top]
            while held < best:
                best -= 1
                held += times[best]
            for b in range(top + 1):
                times[b] = 0
            new[e - low] = best
            changed[row] |= best != bound[e]
        for e in range(low, high):
            bound[e] = new[e - low]
            place[indices[e]] = -1
