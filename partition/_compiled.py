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
def pull(indptr, indices, rows, sent, values, largest):
    """For each row, the smallest (or largest) of its senders' values, and how many they are."""
    best = np.zeros(len(rows), values.dtype)
    hits = np.zeros(len(rows), np.int32)
    for i in range(len(rows)):
        k = 0
        b = best[i]
        for e in range(indptr[rows[i]], indptr[rows[i] + 1]):
            j = indices[e]
            if sent[j]:
                v = values[j]
                if k == 0 or (v > b if largest else v < b):
                    b = v
                k += 1
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
def pull_count(indptr, indices, rows, sent, lo, hi):
    """For each row, how many senders it has, and how many of them outside ``lo <= slot < hi``."""
    hits = np.zeros(len(rows), np.int32)
    away = np.zeros(len(rows), np.int32)
    for i in range(len(rows)):
        for e in range(indptr[rows[i]], indptr[rows[i] + 1]):
            j = indices[e]
            if sent[j]:
                hits[i] += 1
                if j < lo or j >= hi:
                    away[i] += 1
    return hits, away


@compiled
def pull_any(indptr, indices, rows, sent):
    """For each row, whether it has a sender."""
    hit = np.zeros(len(rows), np.bool_)
    for i in range(len(rows)):
        for e in range(indptr[rows[i]], indptr[rows[i] + 1]):
            if sent[indices[e]]:
                hit[i] = True
                break
    return hit
