"""Compiled loops of the block form: fragments within a cluster, and walks along their trees."""

import numpy as np

from dgsuite.base.compiling import compiled
from dgsuite.kernels.tools._unions import join, settle

ONE = np.uint64(1)


@compiled
def lighter(k, b, key, rows, entries, ids, indices):
    """Whether edge k of a list is lighter than edge b: by key, then its smaller node, then its larger."""
    if key[k] != key[b]:
        return key[k] < key[b]
    one, two = ids[rows[k]], indices[entries[k]]
    three, four = ids[rows[b]], indices[entries[b]]
    if min(one, two) != min(three, four):
        return min(one, two) < min(three, four)
    return max(one, two) < max(three, four)


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
    own, other = np.empty(len(indices), np.int64), np.empty(len(indices), np.int64)  # fragments
    key = np.empty(len(indices), np.int64)
    for node in range(size):
        for e in range(indptr[node], indptr[node + 1]):
            end = positions[e] - first
            inside = 0 <= end < size
            if inside and end >= node:
                continue
            rows[count], entries[count], key[count] = node, e, keys[e]
            own[count], other[count] = node, end if inside else -1
            count += 1
    best, live, lives = np.empty(size, np.int64), np.arange(size), size  # fragments, by first node
    joined = True
    while joined:
        joined = False
        for i in range(lives):
            best[live[i]] = -1
        left = 0
        for k in range(count):
            one = root[own[k]]
            two = root[other[k]] if other[k] >= 0 else -1
            if one == two:
                continue
            rows[left], entries[left], key[left] = rows[k], entries[k], key[k]
            own[left], other[left] = one, two
            if best[one] < 0 or lighter(left, best[one], key, rows, entries, ids, indices):
                best[one] = left
            if two >= 0 and (
                best[two] < 0 or lighter(left, best[two], key, rows, entries, ids, indices)
            ):
                best[two] = left
            left += 1
        count = left
        for i in range(lives):
            k = best[live[i]]
            if k >= 0 and other[k] >= 0 and join(root, own[k], other[k]):  # not across the border
                chosen[entries[k]] = True
                joined = True
        before, lives = lives, 0
        for i in range(before):
            at = live[i]
            root[at] = root[root[at]]  # a fragment's root comes before it
            if root[at] == at:
                live[lives] = at
                lives += 1
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
def rows(at, ends, size):
    """Row pointers and ends of edges, by the index of the node that each is at."""
    indptr = np.zeros(size + 1, np.int64)
    for node in at:
        indptr[node + 1] += 1
    for node in range(size):
        indptr[node + 1] += indptr[node]
    place, found = indptr[:-1].copy(), np.empty(len(at), np.int64)
    for k in range(len(at)):
        found[place[at[k]]] = ends[k]
        place[at[k]] += 1
    return indptr, found


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
        node = np.uint64(reached[head])
        head += 1
        for e in range(indptr[node], indptr[node + ONE]):
            other = np.uint64(ends[np.uint64(e)])
            if not seen[other]:
                seen[other] = True
                parent[other] = ids[node]
                reached[count] = other
                count += 1
    return count
