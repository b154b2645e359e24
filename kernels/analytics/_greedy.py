"""Compiled loops of colouring and matching."""

import numpy as np

from dgsuite.base.compiling import compiled


@compiled
def ahead(indptr, indices, theirs, nodes, mine):
    """For each row, how many neighbours drew a larger number, or the same and have a larger id.

    Parameters
    ----------
    theirs
        By entry, what the neighbour drew.
    nodes, mine
        By row, its node id and what it drew.
    """
    count = np.zeros(len(nodes), np.int64)
    for row in range(len(nodes)):
        for e in range(indptr[row], indptr[row + 1]):
            later = theirs[e] == mine[row] and indices[e] > nodes[row]
            count[row] += theirs[e] > mine[row] or later
    return count


@compiled
def smallest(indptr, slots, taken, rows, colour):
    """Give each of some rows the smallest colour, from 0 on, that none of its neighbours has.

    Parameters
    ----------
    taken
        By slot, one more than the colour of its node; 0 for none.
    colour
        By row.
    """
    most = 0
    for row in rows:
        most = max(most, indptr[row + 1] - indptr[row])
    last = np.full(most + 2, -1, np.int64)  # by what is taken, the row that last met it
    for row in rows:
        low, high = indptr[row], indptr[row + 1]
        for e in range(low, high):
            if taken[slots[e]] <= high - low:
                last[taken[slots[e]]] = row
        colour[row] = 0
        while last[colour[row] + 1] == row:
            colour[row] += 1


@compiled
def choose(indptr, slots, theirs, indices, nodes, mine, rows, entry):
    """Let each of some rows, whose choice has left, choose its best edge to a live neighbour.

    An edge's number is the sum of its ends', less 1 from 1 on: random, and the same from both ends. The least
    is best; of equal ones that with the smaller end, then that with the smaller other end.

    Parameters
    ----------
    theirs
        By slot, what its node drew; negative once it has left.
    indices
        Node id of each neighbour, by entry from 0 on.
    nodes, mine
        By row, its node id and what it drew.
    entry
        By row, the entry of its choice; -1 for none.
    """
    first = indptr[0]
    for row in rows:
        if entry[row] >= 0 and theirs[slots[first + entry[row]]] >= 0:
            continue
        best, least, node = -1, 2.0, nodes[row]
        for e in range(indptr[row], indptr[row + 1]):
            drawn = theirs[slots[e]]
            if drawn < 0:
                continue
            number = drawn + mine[row]
            if number >= 1:
                number -= 1
            if number > least:
                continue
            if number == least:
                other, held = indices[e - first], indices[best]
                ends = min(node, other), max(node, other)
                if ends > (min(node, held), max(node, held)):
                    continue
            best, least = e - first, number
        entry[row] = best
