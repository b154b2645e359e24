"""Compiled loops over edges. Import only where the input is large: Numba takes half a second.

All release the GIL and are cached on disk. No ``parallel=True``: its default threading layer
aborts the process when two Dask threads enter it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

compiled = njit(nogil=True, cache=True)


@compiled
def expand(first, counts, total):
    at = np.empty(total, np.int64)
    entry = np.empty(total, np.int64)
    k = 0
    for i in range(len(first)):
        for e in range(first[i], first[i] + counts[i]):
            at[k] = i
            entry[k] = e
            k += 1
    return at, entry


@compiled
def group(keys, size):
    place = np.zeros(size + 1, np.int64)
    for k in keys:
        place[k + 1] += 1
    used = 0
    for k in range(size):
        if place[k + 1]:
            used += 1
        place[k + 1] += place[k]
    unique = np.empty(used, np.int64)
    starts = np.empty(used + 1, np.int64)
    starts[used] = len(keys)
    j = 0
    for k in range(size):
        if place[k + 1] > place[k]:
            unique[j] = k
            starts[j] = place[k]
            j += 1
    order = np.empty(len(keys), np.int64)
    for i in range(len(keys)):
        k = keys[i]
        order[place[k]] = i
        place[k] += 1
    return unique, starts, order


@compiled
def outside(indptr, indices, lo, hi):
    out = np.zeros(len(indptr) - 1, np.int32)
    for i in range(len(out)):
        for e in range(indptr[i], indptr[i + 1]):
            if indices[e] < lo or indices[e] >= hi:
                out[i] += 1
    return out


@compiled
def pull(indptr, indices, rows, sent, values, worst, largest):
    """For each row, the smallest (or largest) of its senders' values, and how many they are.

    `worst` is what any value beats: it stands in for those who did not send, without a branch that
    the processor would guess wrong.
    """
    best = np.full(len(rows), worst, values.dtype)
    hits = np.zeros(len(rows), np.int32)
    for i in range(len(rows)):
        k = 0
        b = worst
        for e in range(indptr[rows[i]], indptr[rows[i] + 1]):
            j = indices[e]
            v = values[j] if sent[j] else worst
            b = max(b, v) if largest else min(b, v)
            k += sent[j]
        best[i] = b
        hits[i] = k
    return best, hits


@compiled
def pull_sum(indptr, indices, rows, sent, values):
    """For each row, the sum of its senders' values, and how many they are."""
    total = np.zeros(len(rows), values.dtype)
    hits = np.zeros(len(rows), np.int32)
    for i in range(len(rows)):
        for e in range(indptr[rows[i]], indptr[rows[i] + 1]):
            j = indices[e]
            if sent[j]:
                total[i] += values[j]
                hits[i] += 1
    return total, hits


@compiled
def pull_count(indptr, indices, rows, sent):
    """For each row, how many senders it has."""
    hits = np.zeros(len(rows), np.int32)
    for i in range(len(rows)):
        k = 0
        for e in range(indptr[rows[i]], indptr[rows[i] + 1]):
            k += sent[indices[e]]
        hits[i] = k
    return hits


@compiled
def pull_remote(indptr, indices, rows, sent, lo, hi):
    """For each row, how many senders it has outside ``lo <= slot < hi``."""
    away = np.zeros(len(rows), np.int32)
    for i in range(len(rows)):
        k = 0
        for e in range(indptr[rows[i]], indptr[rows[i] + 1]):
            j = indices[e]
            k += np.int64(sent[j]) & ((j < lo) | (j >= hi))
        away[i] = k
    return away


@compiled
def push(indptr, indices, senders, values, hits, op):
    """Reduce the senders' values at whom they reach.

    Parameters
    ----------
    hits
        int32 scratch, all zero; on return, how many reached each slot.
    op
        0 for the smallest, 1 for the largest, 2 for the sum.

    Returns
    -------
    The slots reached, in no order, and the reduced value of every slot (garbage elsewhere).
    """
    out = np.empty(len(hits), values.dtype)
    touched = np.empty(len(hits), indices.dtype)
    k = 0
    for s in senders:
        v = values[s]
        for e in range(indptr[s], indptr[s + 1]):
            r = indices[e]
            if hits[r] == 0:
                touched[k] = r
                k += 1
                out[r] = v
            elif op == 0:
                out[r] = min(out[r], v)
            elif op == 1:
                out[r] = max(out[r], v)
            else:
                out[r] += v
            hits[r] += 1
    return touched[:k], out


@compiled
def push_count(indptr, indices, senders, hits):
    """Count by how many senders each slot is reached (`hits`: int32, all zero before).

    Returns
    -------
    The slots reached, in no order.
    """
    touched = np.empty(len(hits), indices.dtype)
    k = 0
    for s in senders:
        for e in range(indptr[s], indptr[s + 1]):
            r = indices[e]
            if hits[r] == 0:
                touched[k] = r
                k += 1
            hits[r] += 1
    return touched[:k]


@compiled
def push_remote(indptr, indices, senders, home, away):
    """Add to `away` by how many senders of other clusters each slot is reached.

    Parameters
    ----------
    home
        Cluster of each slot; -1 for ghosts.
    """
    for s in senders:
        h = home[s]
        for e in range(indptr[s], indptr[s + 1]):
            r = indices[e]
            if h != home[r]:
                away[r] += 1
