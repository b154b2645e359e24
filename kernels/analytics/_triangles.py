"""Compiled loops over triangles.

A node's *rank* is its degree, then its id; its *list* holds its neighbours of higher rank. The *core* of a
cluster's neighbourhood are the nodes of highest rank; a node's *place* counts from the highest rank down.
"""

import numpy as np

from dgsuite.base.compiling import compiled
from dgsuite.kernels.analytics._bits import ones
from dgsuite.partition.arrays._compiled.bits import bit
from dgsuite.partition.arrays._compiled.fetching import prefetch

MAX_TESTED = 20
"""Neighbours in the core up to which testing pairs of them takes less time than reading rows of bits; nodes
with fewer neighbours are in no core.
"""

AHEAD = 12
"""Lists that are fetched from memory before they are read; where they begin, four times as many before."""

ONE, WORD, LOW = np.uint64(1), np.uint64(6), np.uint64(63)


@compiled
def above(indptr, indices, slots, degrees, ids, least, hubs, nodes, lengths, items, higher):
    """Find the neighbours of higher rank, without a branch for them: it would be hard to predict.

    Parameters
    ----------
    slots, degrees
        By entry, the slot of the neighbour; by slot, its degree.
    ids
        By row, its node id.
    hubs
        Filled, by node id, with the degrees of neighbours where they are `least` or more.
    nodes, lengths, items
        Filled with the rows that have such neighbours, how many each has, and these.
    higher
        Filled by entry of the adjacency: whether it leads to one of them.

    Returns
    -------
    Rows and neighbours that were found.
    """
    rows = count = np.uint64(0)
    for row in range(len(ids)):
        before, mine = count, indptr[row + 1] - indptr[row]
        for e in range(np.uint64(indptr[row]), np.uint64(indptr[row + 1])):
            theirs, node = degrees[np.uint32(slots[e])], indices[e]
            if theirs >= least:
                hubs[node] = theirs
            higher[e] = (theirs > mine) | ((theirs == mine) & (node > ids[row]))
            items[count] = node
            count += np.uint64(higher[e])
        nodes[rows], lengths[rows] = row, count - before
        rows += np.uint64(count > before)
    return rows, count


@compiled
def rows_of(core, starts, ends, values, place, both):
    """Lists of the core as rows of bits, by place.

    Parameters
    ----------
    core
        Node id at each place.
    place
        By node id, its place, or -1 outside the core.
    both
        Whether the row of each end of an edge has the other.
    """
    rows = np.zeros((len(core), (len(core) + 63) // 64), np.uint64)
    for p in range(len(core)):
        for k in range(starts[core[p]], ends[core[p]]):
            if place[values[k]] >= 0:
                q = np.uint64(place[values[k]])
                rows[p, q >> WORD] |= ONE << (q & LOW)
                if both:
                    rows[q, np.uint64(p) >> WORD] |= ONE << (np.uint64(p) & LOW)
    return rows


@compiled
def closed(indptr, indices, starts, ends, values, place, rows):
    """For each row, how many items of its neighbours' lists are its neighbours, too.

    The list of a neighbour in the core is a row of bits, since all of it is in the core. The others are read
    item by item.

    Parameters
    ----------
    starts, ends, values
        The lists, by node id.
    place, rows
        See `rows_of`.
    """
    count = np.zeros(len(indptr) - 1, np.int64)
    near = np.zeros(len(place) // 8 + 1, np.uint8)
    bits = np.zeros(rows.shape[1], np.uint64)
    inner = np.empty(len(rows), np.int64)
    most = 0
    for row in range(len(count)):
        most = max(most, indptr[row + 1] - indptr[row])
    outer = np.empty(most, np.int64)
    for row in range(len(count)):
        low, high = indptr[row], indptr[row + 1]
        total, k, others = np.uint64(0), 0, 0
        for e in range(low, high):
            u = np.int64(indices[e])
            if place[u] >= 0:
                inner[k] = place[u]
                k += 1
            else:
                prefetch(starts, u)
                prefetch(ends, u)
                outer[others] = u
                others += 1
        if k < MAX_TESTED:
            for i in range(k):
                for j in range(k):
                    q = np.uint64(inner[j])
                    total += rows[inner[i], q >> WORD] >> (q & LOW) & ONE
        else:
            for i in range(k):
                q = np.uint64(inner[i])
                bits[q >> WORD] |= ONE << (q & LOW)
            for i in range(k):
                row_of_bits = rows[inner[i]]
                for j in range((inner[i] >> 6) + 1):  # places of higher rank are lower
                    total += ones(row_of_bits[j] & bits[j])
            for i in range(k):
                bits[inner[i] >> 6] = 0
        if others:
            for e in range(low, high):
                v = np.uint32(indices[e])
                near[v >> 3] |= np.uint8(1 << (v & 7))
            for i in range(others):
                if i + AHEAD < others:
                    first = starts[outer[i + AHEAD]]
                    prefetch(values, first)
                    prefetch(values, first + 16)  # the next cache line
                for j in range(starts[outer[i]], ends[outer[i]]):
                    total += np.uint64(bit(near, values[j]))
            for e in range(low, high):
                near[np.uint32(indices[e]) >> 3] = 0
        count[row] = total
    return count


@compiled
def merged(nodes, lengths, mine, starts, ends, values, times, count):
    """`counted` where there is no core, so lists are short: two at a time are read side by side, as all
    ascend.
    """
    high = np.uint64(0)
    for k in range(len(nodes)):
        low, high = high, high + np.uint64(lengths[k])
        if high - low < 2:
            continue
        for e in range(low, high):
            v, i = np.uint32(mine[e]), low
            for j in range(np.uint64(starts[v]), np.uint64(ends[v])):
                while i < high and mine[i] < values[j]:
                    i += np.uint64(1)
                if i == high:
                    break
                if mine[i] == values[j]:
                    times[e] += 1
                    times[i] += 1
                    count[nodes[k]] += 1


@compiled
def counted(nodes, lengths, mine, starts, ends, values, times, count, place, rows):
    """Triangles of which each row has the lowest rank, and in how many of them each item of its list is.

    An edge joins two nodes of a list if one is in the other's list. Where both are in the core, rows of bits
    say so; other lists are read item by item.

    Parameters
    ----------
    nodes, lengths, mine
        Rows that have a list, its length, and its items.
    starts, ends, values
        The lists, by node id.
    times, count
        Filled by item of these lists, and by row.
    place, rows
        See `rows_of`.
    """
    near = np.zeros(len(place) // 8 + 1, np.uint8)
    hits = np.zeros(len(place), np.int32)  # of the items of a list, by node id
    bits = np.zeros(rows.shape[1], np.uint64)
    most, high = 0, 0
    for length in lengths:
        most = max(most, length)
    inner, outer = np.empty(most, np.int64), np.empty(most, np.int64)  # items of a list
    for which in range(len(nodes)):
        low, high, row = high, high + lengths[which], nodes[which]
        k, others = 0, 0
        for e in range(low, high):
            if e + 4 * AHEAD < len(mine):
                later = np.int64(mine[e + 4 * AHEAD])
                prefetch(starts, later)
                prefetch(ends, later)
                prefetch(place, later)
                first = starts[mine[e + AHEAD]]
                prefetch(values, first)
                prefetch(values, first + 16)  # the next cache line
            if place[mine[e]] >= 0:
                inner[k] = e
                k += 1
            else:
                outer[others] = e
                others += 1
        if high - low < 2:
            continue
        count[row] = within_core(mine, place, rows, inner[:k], bits, times)
        if others:
            for e in range(low, high):
                v = np.uint32(mine[e])
                near[v >> 3] |= np.uint8(1 << (v & 7))
            total = 0
            for i in range(others):
                before = total
                v = mine[outer[i]]
                for j in range(starts[v], ends[v]):
                    if bit(near, values[j]):
                        hits[values[j]] += 1
                        total += 1
                times[outer[i]] += total - before
            count[row] += total
            for e in range(low, high):
                near[np.uint32(mine[e]) >> 3] = 0
                times[e] += hits[mine[e]]
                hits[mine[e]] = 0


@compiled
def added(starts, ends, values, begins, stops, times):
    """By node id, the sum of what lists say of the nodes of other lists.

    Parameters
    ----------
    starts, ends, values
        Lists of nodes, by node id.
    begins, stops, times
        Lists of numbers, by node id: as long as those of nodes, or empty.
    """
    total = np.zeros(len(starts), np.int64)
    for u in range(len(begins)):
        for i in range(stops[u] - begins[u]):
            total[values[starts[u] + i]] += times[begins[u] + i]
    return total


@compiled
def within_core(mine, place, rows, inner, bits, times):
    """Pairs of some items in the core that an edge joins; how many each is in is added to `times`.

    Parameters
    ----------
    inner
        Which items, in the core.
    bits
        A row of bits, all of them 0.
    """
    total = 0
    if len(inner) < MAX_TESTED:
        for i in range(len(inner)):
            row_of_bits = rows[place[mine[inner[i]]]]
            for j in range(i):
                q = np.uint64(place[mine[inner[j]]])
                if row_of_bits[q >> WORD] >> (q & LOW) & ONE:
                    times[inner[i]] += 1
                    times[inner[j]] += 1
                    total += 1
        return total
    words = 0
    for e in inner:
        q = np.uint64(place[mine[e]])
        bits[q >> WORD] |= ONE << (q & LOW)
        words = max(words, (place[mine[e]] >> 6) + 1)
    for e in inner:
        row_of_bits, joined = rows[place[mine[e]]], np.uint64(0)
        for j in range(words):
            joined += ones(row_of_bits[j] & bits[j])
        times[e] += joined
        total += joined
    for e in inner:
        bits[place[mine[e]] >> 6] = 0
    return total // 2


@compiled
def ahead(positions, first, indptr, starts, items):
    """Neighbours of each row that are later rows of the same cluster.

    Parameters
    ----------
    positions, first, indptr
        Of the cluster.
    starts, items
        Filled: where the list of each row begins, and where the last one ends; the lists. There is room for
        half of the entries and one more.
    """
    count, size = np.uint64(0), np.uint64(len(starts) - 1)
    for row in range(size):
        starts[row] = count
        after, rows = np.int64(first + row + ONE), size - row - ONE
        for e in range(np.uint64(indptr[row]), np.uint64(indptr[row + ONE])):
            further = np.uint64(positions[e] - after)  # of a node before: large
            items[count] = row + ONE + further
            count += np.uint64(further < rows)
    starts[size] = count


@compiled
def past(values, low, high, least):
    """The first place from `low` to `high` with a value of `least` or more, or `high`."""
    while low < high:
        middle = (low + high) >> ONE
        if values[middle] < least:
            low = middle + ONE
        else:
            high = middle
    return low


@compiled
def meet(mine, i, high, theirs, starts, ends, node, times, at=None):
    """How many items of a list are in that of a node, too; each has its count in `times` raised by one.

    Both lists ascend. The time grows with the length of the shorter one, and the logarithm of the other's.

    Parameters
    ----------
    mine, i, high
        The list: items from `i` to `high`.
    theirs, starts, ends, node
        The other list: items from ``starts[node]`` to ``ends[node]``.
    times, at
        Counts, by item or by what `at` says of the item.
    """
    j, end, found = np.uint64(starts[node]), np.uint64(ends[node]), 0
    while i < high and j < end:
        if mine[i] < theirs[j]:
            i = past(mine, i + ONE, high, theirs[j])
        elif theirs[j] < mine[i]:
            j = past(theirs, j + ONE, end, mine[i])
        else:
            if at is None:
                times[i] += 1
            else:
                times[at[i]] += 1
            found, i, j = found + 1, i + ONE, j + ONE
    return found


@compiled
def within(starts, items, count):
    """Triangles of a cluster's own nodes: the first of its rows finds each.

    Parameters
    ----------
    starts, items
        See `ahead`.
    count
        By row; is added to.
    """
    high, ends = np.uint64(0), starts[1:]
    for u in range(np.uint64(len(count))):
        low, high = high, np.uint64(ends[u])
        for e in range(low + ONE, high):
            v = np.uint64(items[e - ONE])
            found = meet(items, e, high, items, starts, ends, v, count, items)
            count[u] += found
            count[v] += found


@compiled
def across(starts, items, border, begins, stops, ends, count, times):
    """Triangles of two own nodes and one of another cluster.

    Parameters
    ----------
    starts, items
        See `ahead`.
    border, begins, stops, ends
        Rows with neighbours in other clusters, where the list of each begins and ends, and these lists.
    count, times
        By row and by item of `ends`; are added to.
    """
    for k in range(len(border)):
        low, high = np.uint64(begins[k]), np.uint64(stops[k])
        for v in items[starts[border[k]] : starts[border[k] + 1]]:
            other = np.searchsorted(border, v)
            if other < len(border) and border[other] == v:
                found = meet(ends, low, high, ends, begins, stops, np.uint64(other), times)
                count[border[k]] += found
                count[v] += found
