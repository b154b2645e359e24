"""Compiled loops that push: the senders write to the slots of their neighbours.

They take the four parts of a `dgsuite.partition.clusters.halo.Out`, and skip receivers of other sites.
"""

import numpy as np

from dgsuite.base.compiling import compiled, takes
from dgsuite.partition.arrays._compiled.fetching import fetch_row

ONE = np.uint64(1)

_OUT = "out_indptr", "out_indices", 0, 0
"""What all loops take first: edges by sender, and how slots become rows."""

_OFFERS = "weights", "heaviest", "senders", "offered", "names"


def _pushing(combined):
    """A loop: combine the values that reach each row in `out`, initially the identity."""

    @compiled
    def push(indptr, indices, shift, base, senders, values, out, hit):
        for s in senders:
            v = values[s]
            for e in range(indptr[s - shift], indptr[s - shift + 1]):
                r = indices[e] - base
                if 0 <= r < len(hit):
                    out[r] = combined(out[r], v)
                    hit[r] = True

    return push


push_min = takes(*_OUT, "senders", "read", "values", "mask")(_pushing(min))
push_max = takes(*_OUT, "senders", "read", "values", "mask")(_pushing(max))
push_or = takes(*_OUT, "senders", "words", "values", "mask")(_pushing(np.bitwise_or))


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


@takes(*_OUT, "senders", "mask")
@compiled
def push_any(indptr, indices, shift, base, senders, hit):
    """Mark the rows that are reached."""
    for s in senders:
        for e in range(indptr[s - shift], indptr[s - shift + 1]):
            r = indices[e] - base
            if 0 <= r < len(hit):
                hit[r] = True


@takes(*_OUT, "senders", "names", "mask", "names")
@compiled
def push_first(indptr, indices, shift, base, senders, ids, hit, least):
    """Mark the rows that are reached, each with its smallest sender; returns how many are new."""
    own, base = np.uint64(len(hit)), np.uint64(base)
    count = 0
    for i, s in enumerate(senders):
        fetch_row(senders, i, shift, indptr, indices)
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


@takes(*_OUT, "senders", 0, "starts", "counts", "counts", "nodes", 0)
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
def push_down(indptr, indices, shift, base, senders, lo, floor, left, found, count):
    """Take one from a row's number for each message that reaches it, as long as that is above the floor.

    Parameters
    ----------
    lo
        First of the rows that have numbers; they are counted from it.
    left
        By row, the number.
    found
        Rows whose number reaches the floor are put here, from `count` on.

    Returns
    -------
    How many rows `found` then has.
    """
    rows, base = np.uint64(len(left)), np.uint64(base + lo)
    for i, s in enumerate(senders):
        fetch_row(senders, i, shift, indptr, indices)
        at = np.uint64(s - shift)
        for e in range(np.uint64(indptr[at]), np.uint64(indptr[at + ONE])):
            r = np.uint64(indices[e]) - base  # past all where it would be negative
            if r < rows:
                number = left[r] - (left[r] > floor)
                found[count] = r
                count += (number == floor) & (left[r] != number)  # no branch to mispredict
                left[r] = number
    return count


@takes(*_OUT, *_OFFERS, "most", "least", "names", "mask", "nodes", 0)
@compiled
def push_nearer(
    indptr, indices, shift, base, weights, heaviest, senders, values, ids, most, least, source, fresh, found,
    count,
):  # fmt: skip
    """Offer the rows that are reached a value plus the weight of the edge, 1 without weights, `most` at most.

    Parameters
    ----------
    heaviest
        No edge weighs more.
    least, source
        By row: the least offer so far, and the smallest of its senders in this phase. Values and weights are
        converted to the type of `least`.
    fresh
        By row: whether the least offer is of this phase.
    found
        Rows whose least offer falls for the first time in this phase are put here, from `count` on.

    Returns
    -------
    How many rows `found` then has.
    """
    own, base, kind = np.uint64(len(least)), np.uint64(base), least.dtype.type
    plain = len(weights) == 0
    for i, s in enumerate(senders):
        fetch_row(senders, i, shift, indptr, indices)
        if not plain:
            fetch_row(senders, i, shift, indptr, weights)
        v = kind(values[s])
        large = v > most - heaviest
        name = ids[s] if len(ids) else s
        at = np.uint64(s - shift)
        for e in range(np.uint64(indptr[at]), np.uint64(indptr[at + ONE])):
            r = np.uint64(indices[e]) - base  # past all where it would be negative
            if r < own:
                offer = kind(v + (kind(1) if plain else kind(weights[e])))
                if large:
                    offer = min(offer, most)
                known = least[r]
                if offer <= known:
                    if offer < known:
                        least[r], source[r] = offer, name
                        found[count] = r
                        count += not fresh[r]
                        fresh[r] = True
                    elif fresh[r] and name < source[r]:
                        source[r] = name
    return count
