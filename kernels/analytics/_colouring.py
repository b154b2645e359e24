"""Compiled loops of colouring."""

from __future__ import annotations

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
