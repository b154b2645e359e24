"""Compiled counting of what clusters send each other; adjacency rows ascend, clusters are blocks."""

import numpy as np

from dgsuite.base.compiling import compiled


@compiled
def broadcast_pairs(indptr, indices, nodes, owner, pairs, work):
    """Count, for each two clusters, the nodes of the first that send and have a neighbour in the second;
    and for each cluster the messages that its nodes get.
    """
    for u in nodes:
        k = owner[u]
        last = -1
        begin = indptr[u]
        for e in range(indptr[u], indptr[u + 1]):
            to = np.int64(owner[indices[e]])
            if to != last:
                if last >= 0:
                    work[last] += e - begin
                begin = e
                last = to
                if to != k:
                    pairs[k, to] += 1
        if last >= 0:
            work[last] += indptr[u + 1] - begin


@compiled
def fold_pairs(indptr, indices, nodes, owner, columns, seen, pairs, work):
    """Count what the blocks of a grid find: once a block and target, for the target's owner; and for each
    block the entries looked at.

    Parameters
    ----------
    seen
        Shape (n, columns): which targets a block of the target's row has found before.
    """
    for u in nodes:
        j = owner[u] % columns
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            to = owner[v]
            block = to // columns * columns + j
            work[block] += 1
            if not seen[v, j]:
                seen[v, j] = True
                if block != to:
                    pairs[block, to] += 1
