"""Compiled loops of bridges and biconnected components, on a depth-first search (Hopcroft and Tarjan 1973).

A search leaves, by node, `parent`, -1 at roots; `number`, when it came to the node; and `high`, the smallest
number among the node and those that edges besides the one to its parent lead to. `order` lists the nodes by
number.
"""

import numpy as np

from dgsuite.base.compiling import compiled


@compiled
def owned(indptr, indices, ids):
    """Edges of a cluster that lead from their smaller ends: rows of these, and the other ends."""
    row, other = np.empty(len(indices), np.int32), np.empty(len(indices), np.int32)
    count = 0
    for k in range(len(ids)):
        for e in range(indptr[k], indptr[k + 1]):
            row[count], other[count] = k, indices[e]
            count += ids[k] < indices[e]
    return row[:count], other[:count]


@compiled
def adjacency(one, other, size):
    """Row pointer and neighbours of the graph of some edges, each given once."""
    head = np.zeros(size + 2, np.int64)
    for k in range(len(one)):
        head[one[k] + 2] += 1
        head[other[k] + 2] += 1
    head = np.cumsum(head)
    near = np.empty(2 * len(one), np.int32)
    for k in range(len(one)):  # then head[node + 1] is where the node's neighbours end
        u, v = one[k], other[k]
        near[head[u + 1]], near[head[v + 1]] = v, u
        head[u + 1] += 1
        head[v + 1] += 1
    return head[:-1], near


@compiled
def search(head, near):
    """Search a graph of a row pointer and neighbours.

    Returns
    -------
    ``order``, ``parent``, ``number`` and ``high``.
    """
    size = len(head) - 1
    order, parent = np.empty(size, np.int32), np.full(size, -1, np.int32)
    number = np.full(size, -1, np.int32)
    high, ahead = number.copy(), head[:size].copy()
    count = 0
    for root in range(size):
        if number[root] >= 0:
            continue
        number[root] = high[root] = count
        order[count] = node = root
        count += 1
        while node >= 0:
            if ahead[node] == head[node + 1]:
                node = parent[node]
                continue
            v = near[ahead[node]]
            ahead[node] += 1
            if number[v] < 0:
                parent[v], number[v], high[v] = node, count, count
                order[count] = node = v
                count += 1
            elif v != parent[node]:
                high[node] = min(high[node], number[v])
    return order, parent, number, high


@compiled
def parts(order, parent, number, high):
    """Biconnected components, and what is left of the graph without bridges.

    Returns
    -------
    nodes, block
        A row for each node of each biconnected component.
    least
        Shape (count, 2): the two smallest nodes of each.
    component
        By node, the smallest node that it is joined to without bridges.
    """
    size = len(order)
    low = high.copy()  # then the least of the subtree's
    for k in range(size - 1, -1, -1):
        up = parent[order[k]]
        if up >= 0:
            low[up] = min(low[up], low[order[k]])
    of = np.full(size, -1, np.int32)  # the block of the edge to the parent
    nodes, block = np.empty(2 * size, np.int32), np.empty(2 * size, np.int32)
    least = np.empty((size, 2), np.int32)
    component = np.arange(size, dtype=np.int32)
    smallest = component.copy()  # by the component's first node in the order
    rows = count = 0
    for node in order:
        up = parent[node]
        if up < 0:
            continue
        if low[node] < number[node]:
            first = component[node] = component[up]
            smallest[first] = min(smallest[first], node)
        b = of[up]
        if low[node] >= number[up]:
            nodes[rows], block[rows] = up, count
            rows += 1
            b, least[count, 0], least[count, 1] = count, up, size
            count += 1
        of[node], nodes[rows], block[rows] = b, node, b
        rows += 1
        one, other = least[b]
        least[b, 0], least[b, 1] = min(one, node), max(one, min(other, node))
    return nodes[:rows].copy(), block[:rows].copy(), least[:count].copy(), smallest[component]
