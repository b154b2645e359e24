"""Compiled loop of matching."""

from __future__ import annotations

from dgsuite.base.compiling import compiled


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
