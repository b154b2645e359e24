"""Compiled loops over edges. Import this module only for large inputs: Numba takes half a second.

All loops release the GIL and are cached on disk. None has ``parallel=True``, since its default threading
layer aborts the process when two Dask threads enter it. Indices are unsigned where that saves time: a
signed index is tested for being negative. Some loops fill arrays that are passed to them, which need room
for one entry more than the result: returning a new array takes a microsecond.
"""

from __future__ import annotations

import sys

import numpy as np

from partition.compiling import compiled

HEADS = 4
"""First entries of each row that `heads` stores together. It is constant, so loops over them unroll;
`pull_first` requires four."""

ONE = np.uint64(1)
LITTLE = sys.byteorder == "little"


@compiled
def bit(bits, slot):
    """Bit of a slot in a little-endian bitmap. A bitmap takes an eighth of a mask, so it stays in cache.

    Slots are counted within a site, so they fit 32 bits.
    """
    i = np.uint32(slot)
    return np.int32((bits[i >> np.uint32(3)] >> (i & np.uint32(7))) & np.uint32(1))


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
def transpose_outside(indptr, indices, lo, hi, start):
    """Row numbers of the entries whose column is outside ``lo <= column < hi``, sorted by column.

    `start`, all 0, becomes the pointer of the columns.
    """
    for j in indices:
        if j < lo:
            start[j + 1] += 1
        elif j >= hi:
            start[j - hi + lo + 1] += 1
    for g in range(len(start) - 1):
        start[g + 1] += start[g]
    rows = np.empty(start[-1], indices.dtype)
    for r in range(len(indptr) - 1):
        for e in range(indptr[r], indptr[r + 1]):
            j = indices[e]
            if lo <= j < hi:
                continue
            g = j if j < lo else j - hi + lo
            rows[start[g]] = r
            start[g] += 1
    # each pointer has moved to the start of the next column
    for g in range(len(start) - 1, 0, -1):
        start[g] = start[g - 1]
    start[0] = 0
    return rows


@compiled
def outside(indptr, indices, lo, hi):
    out = np.zeros(len(indptr) - 1, np.int32)
    for i in range(len(out)):
        for e in range(indptr[i], indptr[i + 1]):
            if indices[e] < lo or indices[e] >= hi:
                out[i] += 1
    return out


# In loops that pull, `rows` are nodes of a cluster whose first row is `first`, and `sent` is a bitmap. Those
# that reduce values take an empty one where everyone sent, and then test no bits.
# Loops that push take the four parts of a `partition.halo.Out`, and skip receivers of other sites.


@compiled
def pull(indptr, indices, first, rows, sent, values, worst, largest):
    """For each row, the smallest (or largest) value of its senders, and the number of senders.

    `worst` is the identity of the reduction. It replaces the values of nodes that did not send, without a
    branch that the processor would mispredict.
    """
    best = np.full(len(rows), worst, values.dtype)
    hits = np.zeros(len(rows), np.int32)
    for i in range(len(rows)):
        b = worst
        r = first + rows[i]
        low, high = indptr[r], indptr[r + 1]
        k = high - low
        if not len(sent):
            for e in range(low, high):
                v = values[np.uint32(indices[np.uint64(e)])]
                b = max(b, v) if largest else min(b, v)
        else:
            k = 0
            for e in range(low, high):
                j = indices[e]
                v = values[j] if bit(sent, j) else worst
                b = max(b, v) if largest else min(b, v)
                k += bit(sent, j)
        best[i] = b
        hits[i] = k
    return best, hits


@compiled
def pull_sum(indptr, indices, first, rows, sent, values, zero):
    """For each row, the sum of its senders' values, added in the order of the row, and their number.

    `zero` has the dtype of the sum. It replaces the values of nodes that did not send.
    """
    total = np.full(len(rows), zero)
    hits = np.zeros(len(rows), np.int32)
    for i in range(len(rows)):
        t = zero
        r = first + rows[i]
        low, high = indptr[r], indptr[r + 1]
        k = high - low
        if not len(sent):
            for e in range(low, high):
                t += values[np.uint32(indices[np.uint64(e)])]
        else:
            k = 0
            for e in range(low, high):
                j = indices[e]
                t += values[j] if bit(sent, j) else zero
                k += bit(sent, j)
        total[i] = t
        hits[i] = k
    return total, hits


@compiled
def pull_or(indptr, indices, first, rows, sent, values, zero):
    """For each row, the bitwise or of its senders' values, and their number."""
    union = np.full(len(rows), zero)
    hits = np.zeros(len(rows), np.int32)
    for i in range(len(rows)):
        u = zero
        r = first + rows[i]
        low, high = indptr[r], indptr[r + 1]
        k = high - low
        if not len(sent):
            for e in range(low, high):
                u |= values[np.uint32(indices[np.uint64(e)])]
        else:
            k = 0
            for e in range(low, high):
                j = indices[e]
                u |= values[j] if bit(sent, j) else zero
                k += bit(sent, j)
        union[i] = u
        hits[i] = k
    return union, hits


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


@compiled
def slice_rows(indptr, indices, rows, starts, place, entries):
    """Put the places of the entries of some rows into `entries`, slice by slice: see `partition.slices`."""
    for i in range(len(rows)):
        r = rows[i]
        if r < len(indptr) - 1:
            k = starts[i // 8] + i % 8
            for e in range(indptr[r], indptr[r + 1]):
                entries[k] = place[indices[e]]
                k += 8


@compiled
def sum_slices(starts, entries, rows, values, zero, out):
    """For each row of slices, the sum of its values, added in the order of the row."""
    for s in range(len(starts) - 1):
        a = b = c = d = e = f = g = h = zero
        for k in range(np.uint64(starts[s]), np.uint64(starts[s + 1]), 8):
            a += values[np.uint32(entries[k])]
            b += values[np.uint32(entries[k + ONE])]
            c += values[np.uint32(entries[k + np.uint64(2)])]
            d += values[np.uint32(entries[k + np.uint64(3)])]
            e += values[np.uint32(entries[k + np.uint64(4)])]
            f += values[np.uint32(entries[k + np.uint64(5)])]
            g += values[np.uint32(entries[k + np.uint64(6)])]
            h += values[np.uint32(entries[k + np.uint64(7)])]
        i = 8 * s
        out[rows[i]], out[rows[i + 1]], out[rows[i + 2]], out[rows[i + 3]] = a, b, c, d
        out[rows[i + 4]], out[rows[i + 5]], out[rows[i + 6]], out[rows[i + 7]] = e, f, g, h


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
def heads(indptr, indices, nobody):
    """The first `HEADS` entries of each row; shorter rows are padded with `nobody`."""
    out = np.full((len(indptr) - 1, HEADS), nobody, indices.dtype)
    for r in range(len(out)):
        for k in range(min(HEADS, indptr[r + 1] - indptr[r])):
            out[r, k] = indices[indptr[r] + k]
    return out


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


@compiled
def fill(out, at, value):
    """``out[at] = value``"""
    for p in at:
        out[np.uint64(p)] = value


@compiled
def scatter(out, at, values):
    """``out[at] = values``"""
    for i in range(len(at)):
        out[np.uint64(at[i])] = values[i]


@compiled
def land(mask, at, first, out):
    """``out[:] = first + at; mask[at] = True``"""
    for i in range(len(at)):
        out[i] = first + at[i]
        mask[np.uint64(at[i])] = True


@compiled
def remove(mask, nodes):
    """Remove nodes from a mask; returns how many were in it."""
    count = 0
    for v in nodes:
        count += mask[np.uint64(v)]
        mask[np.uint64(v)] = False
    return count


@compiled
def keep(mask, nodes, out):
    """Put the nodes that are in a mask into `out`."""
    k = np.uint64(0)
    for v in nodes:
        out[k] = v
        k += np.uint64(mask[np.uint64(v)])


@compiled
def push_first(indptr, indices, shift, base, senders, ids, hit, least):
    """Mark the rows that are reached, each with its smallest sender; returns how many are new."""
    own, base = np.uint64(len(hit)), np.uint64(base)
    count = 0
    for s in senders:
        v = ids[s] if len(ids) else s
        at = np.uint64(s - shift)
        for e in range(indptr[at], indptr[at + ONE]):
            r = np.uint64(indices[np.uint64(e)]) - base  # past all where it would be negative
            if r < own:
                if not hit[r]:
                    hit[r] = True
                    least[r] = v
                    count += 1
                elif v < least[r]:
                    least[r] = v
    return count


@compiled
def both(one, other, out):
    """Put the indices where both masks hold into `out`; returns their number. Eight are tested at a time."""
    k = np.uint64(0)
    eights = len(one) // 8
    ones, others = one[: 8 * eights].view(np.uint64), other[: 8 * eights].view(np.uint64)
    for i in range(eights):
        hold = ones[i] & others[i]
        if hold:
            for j in range(8):
                out[k] = 8 * i + j
                k += (hold >> np.uint64(8 * j if LITTLE else 56 - 8 * j)) & ONE
    for i in range(8 * eights, len(one)):
        out[k] = i
        k += np.uint64(one[np.uint64(i)] & other[np.uint64(i)])
    return np.int64(k)


@compiled
def collect(one, other, values, out, found):
    """As `both`; also puts the values at these indices into `found`."""
    k = both(one, other, out)
    for i in range(k):
        found[i] = values[np.uint64(out[i])]
    return k


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


@compiled
def single(indptr, rows):
    """Whether no row has more than one entry."""
    for r in rows:
        at = np.uint64(r)
        if indptr[at + ONE] > indptr[at] + 1:
            return False
    return True


@compiled
def mark_rows(indptr, away, nodes, start, size, mask, first, slots):
    """Total number of entries in the rows of some nodes, and total of `away` over these rows.

    It puts the nodes' slots into `slots` and marks them in `mask`. It returns -1, -1 if a node is not below
    `size` or not above the one before. Node 0 has row `start`, and row 0 has slot `first`.
    """
    entries = np.int64(0)
    outside = np.int64(0)
    last = np.int64(-1)
    for i in range(len(nodes)):
        node = nodes[i]
        if node <= last or node >= size:
            return np.int64(-1), np.int64(-1)
        last = node
        at = np.uint64(start + node)
        entries += indptr[at + ONE] - indptr[at]
        outside += away[at]
        slots[i] = first + np.int64(at)
        mask[np.uint64(slots[i])] = True
    return entries, outside


# What pushes values takes the edges of a `partition.halo.Halo`, on both sides of the site.


@compiled
def push(indptr, indices, back_indptr, back_indices, first, senders, values, out, hit, largest):
    """Put the smallest (or largest) value that reaches each row into `out`, initially the identity."""
    own = len(hit)
    for s in senders:
        v = values[s]
        row = s - first
        if 0 <= row < own:
            for e in range(indptr[row], indptr[row + 1]):
                r = indices[e] - first
                if 0 <= r < own:
                    out[r] = max(out[r], v) if largest else min(out[r], v)
                    hit[r] = True
        else:
            at = s if row < 0 else s - own
            for e in range(back_indptr[at], back_indptr[at + 1]):
                r = back_indices[e]
                out[r] = max(out[r], v) if largest else min(out[r], v)
                hit[r] = True


@compiled
def push_sum(indptr, indices, back_indptr, back_indices, first, senders, values, out, hit):
    """Add the values that reach a row to `out`, in the order of the senders, of this site and of others."""
    own = len(hit)
    for s in senders:
        v = values[s]
        row = s - first
        if 0 <= row < own:
            for e in range(indptr[row], indptr[row + 1]):
                r = indices[e] - first
                if 0 <= r < own:
                    out[r] += v
                    hit[r] = True
        else:
            at = s if row < 0 else s - own
            for e in range(back_indptr[at], back_indptr[at + 1]):
                r = back_indices[e]
                out[r] += v
                hit[r] = True


@compiled
def push_or(indptr, indices, back_indptr, back_indices, first, senders, values, out, hit):
    """Put the bitwise or of the values that reach each row into `out`, initially 0."""
    own = len(hit)
    for s in senders:
        v = values[s]
        row = s - first
        if 0 <= row < own:
            for e in range(indptr[row], indptr[row + 1]):
                r = indices[e] - first
                if 0 <= r < own:
                    out[r] |= v
                    hit[r] = True
        else:
            at = s if row < 0 else s - own
            for e in range(back_indptr[at], back_indptr[at + 1]):
                r = back_indices[e]
                out[r] |= v
                hit[r] = True


@compiled
def push_any(indptr, indices, shift, base, senders, hit):
    """Mark the rows that are reached."""
    for s in senders:
        for e in range(indptr[s - shift], indptr[s - shift + 1]):
            r = indices[e] - base
            if 0 <= r < len(hit):
                hit[r] = True


@compiled
def push_count(indptr, indices, shift, base, senders, first, starts, hits, away, found, count):
    """Count the messages that reach a row, and those of them that come from other clusters.

    Parameters
    ----------
    first
        Slot of row 0.
    starts
        First row of each cluster.
    hits, away
        By row; the counts are added.
    found
        Rows that are reached for the first time are put here, from `count` on.

    Returns
    -------
    How many rows `found` then has.
    """
    for s in senders:
        lo = hi = 0
        if first <= s < first + len(hits):
            k = np.searchsorted(starts, s - first, side="right")
            lo, hi = starts[k - 1], starts[k]
        for e in range(indptr[s - shift], indptr[s - shift + 1]):
            r = indices[e] - base
            if 0 <= r < len(hits):
                found[count] = r
                count += hits[r] == 0
                hits[r] += 1
                away[r] += r < lo or r >= hi
    return count


@compiled
def tally(values, nodes):
    """``values[nodes].sum()`` as int64."""
    total = np.int64(0)
    for v in nodes:
        total += values[np.uint64(v)]
    return total


@compiled
def pick(values, at, among, count):
    """``values[at[among[at]]]``, which has `count` entries."""
    out = np.empty(count, values.dtype)
    k = 0
    for p in at:
        if among[p]:
            out[k] = values[p]
            k += 1
    return out


@compiled
def lay(values, where, out):
    """``out[where] = values``"""
    k = 0
    for i in range(len(where)):
        if where[i]:
            out[i] = values[k]
            k += 1
