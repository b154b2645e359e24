"""A compiled loop that spreads labels along edges."""

from __future__ import annotations

from dgsuite.base.compiling import compiled


@compiled
def propagate(indptr, indices, weights, mass, first, labels, room, tally, touched):
    """Move each of some nodes to the label that most of its edges lead to, where there is room for it.

    Parameters
    ----------
    indptr, indices
        Rows of these nodes, with neighbours as indices of `labels`.
    weights
        By entry; empty where all count 1.
    mass
        By node: the room that it takes.
    first
        Index in `labels` of the first of these nodes.
    labels
        Of all nodes; those of these nodes change.
    room
        By label: what it can still take. Nodes leave a label where it is below 0.
    tally
        By label, 0, and so it is afterwards.
    touched
        Room for the neighbours of a node.

    Returns
    -------
    How many nodes moved.
    """
    moved = 0
    for node in range(len(mass)):
        own, count = labels[first + node], 0
        for e in range(indptr[node], indptr[node + 1]):
            label = labels[indices[e]]
            if tally[label] == 0:
                touched[count] = label
                count += 1
            tally[label] += weights[e] if len(weights) else 1
        best, most = own, tally[own] if room[own] >= 0 else -1
        for k in range(count):
            label = touched[k]
            if label == own or room[label] < mass[node]:
                continue
            if tally[label] > most or (tally[label] == most and best != own and label < best):
                best, most = label, tally[label]
        for k in range(count):
            tally[touched[k]] = 0
        if best != own:
            room[own] += mass[node]
            room[best] -= mass[node]
            labels[first + node] = best
            moved += 1
    return moved
