"""Compiled loops over rows of an adjacency, and over keys."""

import numpy as np

from dgsuite.base.compiling import compiled, takes

ONE = np.uint64(1)


@takes("counts", "counts", 0)
@takes("nodes", "nodes", 0)
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


@takes("names", 0)
@takes("nodes", 0)
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
def rewind(ends):
    """Make a pointer of one whose entries, as a counting sort placed items, have moved to the next start."""
    for k in range(len(ends) - 1, 0, -1):
        ends[k] = ends[k - 1]
    ends[0] = 0


@compiled
def count_outside(indices, lo, hi, start):
    """Add to `start`, behind each column outside ``lo <= column < hi``, how many entries it has."""
    for j in indices:
        if j < lo:
            start[j + 1] += 1
        elif j >= hi:
            start[j - hi + lo + 1] += 1


@compiled
def transpose_outside(indptr, indices, lo, hi, begin, end, start, rows):
    """Put the rows of the entries whose column is outside ``lo <= column < hi`` by column.

    Of the columns outside, those from `begin` to `end` are taken. `start`,
    where each begins, becomes where it ends.
    """
    for r in range(len(indptr) - 1):
        for e in range(indptr[r], indptr[r + 1]):
            j = indices[e]
            if lo <= j < hi:
                continue
            g = j if j < lo else j - hi + lo
            if begin <= g < end:
                rows[start[g]] = r
                start[g] += 1


@compiled
def outside(indptr, indices, lo, hi):
    out = np.zeros(len(indptr) - 1, np.int32)
    for i in range(len(out)):
        for e in range(indptr[i], indptr[i + 1]):
            if indices[e] < lo or indices[e] >= hi:
                out[i] += 1
    return out


@takes("out_indptr", "nodes")
@compiled
def single(indptr, rows):
    """Whether no row has more than one entry."""
    for r in rows:
        at = np.uint64(r)
        if indptr[at + ONE] > indptr[at] + 1:
            return False
    return True


@takes("away", "nodes")
@compiled
def tally(values, nodes):
    """``values[nodes].sum()`` as int64."""
    total = np.int64(0)
    for v in nodes:
        total += values[np.uint64(v)]
    return total


@compiled
def weigh(indptr, indices, weights, values, out):
    """For each row, the sum of values times weights of its entries, added in the order of the row."""
    first = indptr[0]
    for r in range(len(out)):
        t = 0.0
        for e in range(indptr[r], indptr[r + 1]):
            t += values[np.uint32(indices[np.uint64(e)])] * weights[np.uint64(e - first)]
        out[r] = t
    return out
