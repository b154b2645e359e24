"""Compiled loops of the block form: fragments within a cluster, and walks along their trees."""

from __future__ import annotations

import numpy as np

from dgsuite.base.compiling import compiled
from dgsuite.kernels.tools._unions import find, join, settle


@compiled
def lighter(e, node, other_e, other, ids, indices, keys):
    """Whether entry e of a node is lighter than another: by key, then its smaller node, then its larger."""
    if keys[e] != keys[other_e]:
        return keys[e] < keys[other_e]
    a, b, c, d = ids[node], indices[e], ids[other], indices[other_e]
    if min(a, b) != min(c, d):
        return min(a, b) < min(c, d)
    return max(a, b) < max(c, d)


@compiled
def contract(indptr, indices, positions, first, ids, keys, root, chosen):
    """Join fragments along their lightest edges for as long as some lightest edge is within the cluster.

    Parameters
    ----------
    keys
        By entry: weights in their order.
    root
        By node, itself; afterwards the first node of its fragment.
    chosen
        By entry, False; afterwards whether it is in the tree of a fragment, at one end of an edge.

    Returns
    -------
    Nodes and entries of the edges that lead to other fragments; of those within the cluster, at one end.
    """
    size, count = len(root), 0
    rows, entries = np.empty(len(indices), np.int64), np.empty(len(indices), np.int64)
    for node in range(size):
        for e in range(indptr[node], indptr[node + 1]):
            other = positions[e] - first
            if other < 0 or other >= size or other < node:
                rows[count], entries[count] = node, e
                count += 1
    best = np.empty(size, np.int64)
    joined = True
    while joined:
        joined = False
        best[:] = -1
        left = 0
        for k in range(count):
            node, e = rows[k], entries[k]
            other = positions[e] - first
            inside = 0 <= other < size
            one = find(root, node)
            two = find(root, other) if inside else one
            if inside and one == two:
                continue
            rows[left], entries[left] = node, e
            for at in (one, two):
                if best[at] < 0 or lighter(
                    e, node, entries[best[at]], rows[best[at]], ids, indices, keys
                ):
                    best[at] = left
            left += 1
        count = left
        for at in range(size):
            if best[at] < 0:
                continue
            e = entries[best[at]]
            other = positions[e] - first
            if other < 0 or other >= size:  # across the border: not for this cluster to decide
                continue
            if join(root, rows[best[at]], other):
                chosen[e] = True
                joined = True
    settle(root)
    return rows[:count], entries[:count]


@compiled
def lightest(group, key, low, high, best):
    """The lightest edge of each group, by key, then its smaller node, then its larger; -1 if it has none."""
    best[:] = -1
    for k in range(len(group)):
        g = group[k]
        b = best[g]
        if (
            b < 0
            or key[k] < key[b]
            or (key[k] == key[b] and (low[k] < low[b] or (low[k] == low[b] and high[k] < high[b])))
        ):
            best[g] = k


@compiled
def walk(indptr, ends, seeds, seen, parent, ids, reached):
    """Walk along tree edges from nodes that have just been reached; returns how many nodes that are."""
    count = 0
    for node in seeds:
        seen[node] = True
        reached[count] = node
        count += 1
    head = 0
    while head < count:
        node = reached[head]
        head += 1
        for e in range(indptr[node], indptr[node + 1]):
            other = ends[e]
            if not seen[other]:
                seen[other] = True
                parent[other] = ids[node]
                reached[count] = other
                count += 1
    return count
