"""Compiled loops for strong components within a cluster.

Positions are those of the graph's layout, as in `dgsuite.kernels.analytics._blocks`.
"""

import numpy as np

from dgsuite.base.compiling import compiled


@compiled
def take_off(edges, node, live, seen, left, count):
    """Take an edge off a node, which leaves if it was its last; returns how many nodes have left."""
    edges[node] -= 1
    if edges[node] == 0 and live[node] and not seen[node]:
        seen[node] = True
        left[count] = node
        count += 1
    return count


@compiled
def trim(
    indptr, positions, in_indptr, in_positions, first, coming, going, live,
    seeds, nodes, backwards, seen,
):  # fmt: skip
    """Take edges off, and nodes that no edge enters, or that none leaves, with their edges.

    Parameters
    ----------
    coming, going
        By node: edges from and to nodes that are live.
    live
        By node; it does not change.
    seeds
        Nodes that leave.
    nodes, backwards
        Ends of edges to take off, and whether each is one that leaves the node.
    seen
        By node, False, and so it is afterwards.

    Returns
    -------
    The nodes that have left, seeds included.
    """
    size, count = len(live), len(seeds)
    left = np.empty(size, np.int64)
    seen[seeds] = True
    left[:count] = seeds
    for k in range(len(nodes)):
        edges = going if backwards[k] else coming
        count = take_off(edges, nodes[k], live, seen, left, count)
    head = 0
    while head < count:
        node = left[head]
        head += 1
        for e in range(indptr[node], indptr[node + 1]):
            other = positions[e] - first
            if 0 <= other < size:
                count = take_off(coming, other, live, seen, left, count)
        for e in range(in_indptr[node], in_indptr[node + 1]):
            other = in_positions[e] - first
            if 0 <= other < size:
                count = take_off(going, other, live, seen, left, count)
    seen[left[:count]] = False
    return left[:count]


@compiled
def reach(indptr, positions, first, ahead, part, seeds, seen):
    """Search from some nodes, in those that are ahead and in the same part.

    Parameters
    ----------
    part
        By node; empty where all nodes are in one.
    seen
        By node, False, and so it is afterwards.

    Returns
    -------
    The nodes that were reached, seeds included.
    """
    size, count, head = len(ahead), len(seeds), 0
    found = np.empty(size, np.int64)
    seen[seeds] = True
    found[:count] = seeds
    while head < count:
        node = found[head]
        head += 1
        for e in range(indptr[node], indptr[node + 1]):
            other = positions[e] - first
            if other < 0 or other >= size or seen[other] or not ahead[other]:
                continue
            if len(part) and part[other] != part[node]:
                continue
            seen[other] = True
            found[count] = other
            count += 1
    seen[found[:count]] = False
    return found[:count]


@compiled
def colour(indptr, positions, first, live, part, number, name, seeds, seen):
    """Give nodes the colour of those that reach them, if it comes earlier: by number, then name.

    Parameters
    ----------
    number, name
        Of each node's colour.
    seeds
        Nodes with a new colour, in the order of their colours.
    seen
        By node, False, and so it is afterwards.

    Returns
    -------
    The nodes that have a new colour, seeds included.
    """
    size, count, head = len(live), 0, 0
    found = np.empty(size, np.int64)
    for seed in seeds:
        if seen[seed]:  # it has got an earlier colour meanwhile
            continue
        seen[seed] = True
        found[count] = seed
        count += 1
        while head < count:
            node = found[head]
            head += 1
            for e in range(indptr[node], indptr[node + 1]):
                other = positions[e] - first
                if other < 0 or other >= size or seen[other] or not live[other]:
                    continue
                if part[other] != part[node] or number[other] < number[node]:
                    continue
                if number[other] == number[node] and name[other] <= name[node]:
                    continue
                number[other], name[other] = number[node], name[node]
                seen[other] = True
                found[count] = other
                count += 1
    seen[found[:count]] = False
    return found[:count]
