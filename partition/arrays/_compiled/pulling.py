"""Compiled loops that pull: the receivers read the slots of their neighbours.

`rows` are nodes of a cluster whose first row is `first`, and `sent` is a bitmap. Loops that reduce values
take an empty one where everyone sent, and then test no bits.
"""

import numpy as np

from dgsuite.base.compiling import compiled, takes
from dgsuite.partition.arrays._compiled.bits import bit

HEADS = 4
"""First entries of each row that `heads` stores together. It is constant, so loops over them unroll;
`pull_first` requires four."""

ONE = np.uint64(1)


def _pulling(combined):
    """A loop: for each row, its senders' values, combined in the order of the row, and their number.

    `zero` is the identity of the reduction, in the dtype of the result. It replaces the values of nodes that
    did not send, without a branch that the processor would mispredict.
    """

    @compiled
    def pull(indptr, indices, first, rows, sent, values, zero):
        total = np.full(len(rows), zero)
        hits = np.zeros(len(rows), np.int32)
        for i in range(len(rows)):
            t = zero
            r = first + rows[i]
            low, high = indptr[r], indptr[r + 1]
            k = high - low
            if not len(sent):
                for e in range(low, high):
                    t = combined(t, values[np.uint32(indices[np.uint64(e)])])
            else:
                k = 0
                for e in range(low, high):
                    j = indices[e]
                    t = combined(t, values[j] if bit(sent, j) else zero)
                    k += bit(sent, j)
            total[i] = t
            hits[i] = k
        return total, hits

    return pull


_ALONG = "indptr", "indices", 0, "nodes", "bitmap"
pull_min = takes(*_ALONG, "read", "largest")(_pulling(min))
pull_max = takes(*_ALONG, "read", "largest")(_pulling(max))
pull_sum = takes(*_ALONG, "reals", "zero")(_pulling(np.add))
pull_or = takes(*_ALONG, "words", "zero")(_pulling(np.bitwise_or))


@takes("indptr", "indices", 0, "nodes", "bitmap")
@compiled
def pull_any(indptr, indices, first, rows, sent):
    """For each row, whether it has a sender."""
    hit = np.zeros(len(rows), np.bool_)
    for i in range(len(rows)):
        r = first + rows[i]
        for e in range(indptr[r], indptr[r + 1]):
            if bit(sent, indices[e]):
                hit[i] = True
                break
    return hit


@compiled
def heads(indptr, indices, none):
    """The first `HEADS` entries of each row; shorter rows are padded with `none`."""
    out = np.full((len(indptr) - 1, HEADS), none, indices.dtype)
    for r in range(len(out)):
        for k in range(min(HEADS, indptr[r + 1] - indptr[r])):
            out[r, k] = indices[indptr[r] + k]
    return out


@takes("indptr", "indices", "heads", 0, "nodes", "bitmap", "names", "nodes", "names")
@compiled
def pull_first(indptr, indices, heads, first, rows, sent, ids, nodes, source):
    """Put the rows that have a sender into `nodes`, and the id of each row's first sender into `source`.

    Returns the number of such rows, and the total number of entries tested. `heads` are contiguous, and
    decide most rows without access to their other entries. All bits of a row's heads are tested at once,
    without a branch that the processor would mispredict.
    """
    found = np.uint64(0)
    looked = np.int64(0)
    for i in range(len(rows)):
        r = np.uint64(first + rows[i])
        spoke = bit(sent, heads[r, 0]) | bit(sent, heads[r, 1]) << 1
        spoke |= bit(sent, heads[r, 2]) << 2 | bit(sent, heads[r, 3]) << 3
        hit = spoke != 0
        lowest = spoke & -spoke
        k = np.uint64((lowest >> 1) - (lowest >> 3))  # 1, 2, 4, 8: 0, 1, 2, 3
        slot = heads[r, k]
        looked += np.int64(k) + 1
        if not hit:
            low, high = indptr[r], indptr[r + ONE]
            looked += high - low - 1
            for e in range(low + HEADS, high):
                if bit(sent, indices[np.uint64(e)]):
                    slot = indices[np.uint64(e)]
                    looked += e + 1 - high
                    hit = True
                    break
        nodes[found] = rows[i]
        source[found] = slot
        found += np.uint64(hit)
    if len(ids):
        for i in range(found):
            source[i] = ids[source[i]]
    return np.int64(found), looked


@takes("indptr", "indices", 0, "nodes", "bitmap", "read", "values")
@compiled
def pull_minima(indptr, indices, first, rows, sent, values, own):
    """For each row, whether all its senders' values exceed its own."""
    least = np.ones(len(rows), np.bool_)
    for i in range(len(rows)):
        mine = own[rows[i]]
        r = first + rows[i]
        for e in range(indptr[r], indptr[r + 1]):
            j = indices[e]
            if values[j] <= mine and bit(sent, j):
                least[i] = False
                break
    return least


@takes("indptr", "indices", 0, "nodes", "bitmap", 0, 0)
@compiled
def pull_count(indptr, indices, first, rows, sent, lo, hi):
    """For each row, the number of its senders, and of those outside ``lo <= slot < hi``."""
    hits = np.zeros(len(rows), np.int32)
    away = np.zeros(len(rows), np.int32)
    for i in range(len(rows)):
        h = 0
        a = 0
        r = first + rows[i]
        for e in range(indptr[r], indptr[r + 1]):
            j = indices[e]
            spoke = bit(sent, j)
            h += spoke
            a += spoke & np.int32((j < lo) | (j >= hi))
        hits[i] = h
        away[i] = a
    return hits, away
