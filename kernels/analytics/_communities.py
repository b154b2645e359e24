"""Compiled loops over the edges of a level: which communities are next to a row, and how near.

Each takes a level's rows (`indptr`, `ends`, `weight`), and the number of the community of each slot.
Sums are of whole numbers, so they are exact, and the order of the edges in a row does not matter.

Room is passed: a loop that makes arrays takes three times as long to compile. It is `shared`, with a 0 for
each community, which loops leave so, and `near`, for as many communities as a row has edges.
"""

from math import log

import numpy as np

from dgsuite.base.compiling import compiled
from dgsuite.kernels.tools._draws import keyed

NONE = -1


@compiled
def choose(
    indptr, ends, weight, mass, number, names, total, rows, free, factor, shared, near, best
):
    """For each of some rows, the community with the largest gain: of equal ones its own, else the first name.

    Parameters
    ----------
    mass
        Of each row.
    names, total
        Of each community: its name, and the mass of its nodes.
    free
        Of each of the rows: whether it may also be alone, which gains nothing.
    factor
        What a product of two masses costs.
    shared, near
        Room for the weight of a row's edges to each community, and for the numbers of those next to it.
    best
        Room for the numbers of communities; `NONE` to be alone.
    """
    for i, row in enumerate(rows):
        own, cost = number[row], factor * mass[row]
        count = 0
        for e in range(indptr[row], indptr[row + 1]):
            at = number[ends[e]]
            if shared[at] == 0:  # those with edges of weight 0 alone may be named again
                near[count] = at
                count += 1
            shared[at] += weight[e]
        most = shared[own] - cost * (total[own] - mass[row])
        chosen = own
        if free[i] and most < 0:
            most, chosen = 0.0, NONE
        for k in range(count):
            at = near[k]
            if at == own:
                continue
            gain = shared[at] - cost * total[at]
            if gain > most or (
                gain == most and chosen != own and (chosen == NONE or names[at] < names[chosen])
            ):
                most, chosen = gain, at
        for k in range(count):
            shared[near[k]] = 0
        best[i] = chosen


@compiled
def wake(indptr, ends, coming, slots, number, size, active):
    """Mark the rows next to slots that have moved, where these are not in one community with them.

    Parameters
    ----------
    coming
        Row pointer and rows next to each slot from `size` on.
    """
    for slot in slots:
        if slot < size:
            for e in range(indptr[slot], indptr[slot + 1]):
                end = ends[e]
                if end < size and number[end] != number[slot]:
                    active[end] = True
        else:
            ghost = slot - size
            for e in range(coming[0][ghost], coming[0][ghost + 1]):
                row = coming[1][e]
                if number[row] != number[slot]:
                    active[row] = True


@compiled
def within(indptr, ends, weight, number, rows, out):
    """For each of some rows, the weight of the edges to nodes of its own community."""
    for i, row in enumerate(rows):
        total = 0.0
        for e in range(indptr[row], indptr[row + 1]):
            if number[ends[e]] == number[row]:
                total += weight[e]
        out[i] = total


@compiled
def chance(key, node, other):
    """A number above 0 and below 1, of two nodes: SplitMix64's finaliser, twice (see `tools.rng`)."""
    word = keyed(keyed(key, node + 1), other + 1)
    return (np.float64(word >> np.uint64(11)) + 0.5) * 2.0**-53


@compiled
def propose(
    level, group, whole, number, names, total, outer, closed, rows, ids, key, factor, warmth,
    shared, near, best, gains, shares,
):  # fmt: skip
    """For each of some rows, which of the small communities next to it, within its own group, it would join.

    One that gains g is chosen with a probability that grows as exp(g / warmth): the row adds to each gain a
    number of Gumbel's distribution times the warmth, and takes the largest sum.

    Parameters
    ----------
    level
        Rows of the level, and their mass.
    group, whole
        Of each slot the number of its group, and the mass of each group.
    number
        Of each slot, the number of its small community.
    names, total, outer
        Of each small community: its name, mass, and the weight of its edges to the rest of its group.
    closed
        Of each small community: whether nobody may join.
    ids
        Node ids of the level's rows.
    best, gains, shares
        Room for the numbers of the communities, `NONE` to stay alone, what joining gains, and the weight of
        the edges to it.
    """
    indptr, ends, weight, mass = level
    for i, row in enumerate(rows):
        own, cost, all_mass = number[row], factor * mass[row], whole[group[row]]
        count = 0
        for e in range(indptr[row], indptr[row + 1]):
            if group[ends[e]] == group[row]:
                at = number[ends[e]]
                if shared[at] == 0:
                    near[count] = at
                    count += 1
                shared[at] += weight[e]
        best[i] = NONE
        most = -log(-log(chance(key, ids[row], ids[row])))
        for k in range(count):
            at = near[k]
            gain = shared[at] - cost * total[at]
            least = factor * total[at] * (all_mass - total[at])
            if at == own or closed[at] or shared[at] == 0 or gain < 0 or outer[at] < least:
                continue
            score = gain / warmth - log(-log(chance(key, ids[row], names[at])))
            if score > most:
                most, best[i], gains[i], shares[i] = score, at, gain, shared[at]
        for k in range(count):
            shared[near[k]] = 0


@compiled
def accept(node, gain, mass, factor, taken):
    """Mark those who may join a community, one after the other, so that each still gains.

    Parameters
    ----------
    node
        The community, ascending.
    gain, mass
        Of each who would join it, if nobody else did: at best those before share no edges with it.
    """
    joined = 0.0
    for i in range(len(node)):
        if i == 0 or node[i] != node[i - 1]:
            joined = 0.0
        taken[i] = gain[i] >= factor * mass[i] * joined
        if taken[i]:
            joined += mass[i]


@compiled
def between(indptr, ends, weight, number, order, shared, one, other, sums):
    """Add up the edges between communities: of each pair of different ones, their numbers and the weight.

    Parameters
    ----------
    order
        Rows by their community.
    one, other, sums
        Room for as many as there are edges.

    Returns
    -------
    How many pairs there are.
    """
    count = begin = 0
    for i in range(len(order)):
        own = number[order[i]]
        for e in range(indptr[order[i]], indptr[order[i] + 1]):
            at = number[ends[e]]
            if at == own or weight[e] == 0:
                continue
            if shared[at] == 0:
                one[count], other[count] = own, at
                count += 1
            shared[at] += weight[e]
        if i + 1 == len(order) or number[order[i + 1]] != own:
            for k in range(begin, count):
                sums[k] = shared[other[k]]
                shared[other[k]] = 0
            begin = count
    return count


@compiled
def merge(rows, starts, order, end, weight, place, counts, ends, sums):
    """Make edges of one row to one slot one.

    Parameters
    ----------
    rows, starts, order
        Edges grouped by row: see `segments.group`.
    place
        By slot: -1.
    counts, ends, sums
        Room, all 0, for the edges of each row, and for the slot and the weight of each edge.

    Returns
    -------
    How many edges there are.
    """
    count = 0
    for k in range(len(rows)):
        begin = count
        for j in range(starts[k], starts[k + 1]):
            i = order[j]
            if place[end[i]] < begin:
                place[end[i]] = count
                ends[count] = end[i]
                count += 1
            sums[place[end[i]]] += weight[i]
        counts[rows[k]] = count - begin
    return count
