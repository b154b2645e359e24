"""Compiled loops of a search on a process grid."""

import numpy as np

from dgsuite.base.compiling import compiled


@compiled
def scan(indptr, indices, sources, names, sent):
    """Targets that some sources reach and that were not found before.

    Parameters
    ----------
    names
        Node id of each source, ascending: so the first to reach a target has the smallest.
    sent
        Which targets were found before; the new ones are marked.

    Returns
    -------
    found, parent
        The new targets, and the id of the source that reached each first.
    examined
        Entries looked at.
    """
    left = len(sent) - np.count_nonzero(sent)
    found = np.empty(left, np.int32)
    parent = np.empty(left, np.int32)
    count = 0
    examined = np.int64(0)
    for i, s in enumerate(sources):
        examined += indptr[s + 1] - indptr[s]
        for e in range(indptr[s], indptr[s + 1]):
            t = indices[e]
            if not sent[t]:
                sent[t] = True
                found[count] = t
                parent[count] = names[i]
                count += 1
    return found[:count], parent[:count], examined


@compiled
def adopt(nodes, parents, first, depth, level, parent):
    """Put nodes that have no level yet on a level, each with the smallest parent it was offered."""
    new = np.zeros(len(level), np.bool_)
    for i in range(len(nodes)):
        v = nodes[i] - first
        if level[v] < 0:
            level[v] = depth
            parent[v] = parents[i]
            new[v] = True
        elif new[v] and parents[i] < parent[v]:
            parent[v] = parents[i]
    return np.flatnonzero(new)
