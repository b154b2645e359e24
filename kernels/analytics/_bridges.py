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
def search(one, other, size):
    """Search the graph of some edges, each given once.

    Returns
    -------
    ``order``, ``parent``, ``number`` and ``high``.
    """
    head = np.zeros(size + 2, np.int64)
    for k in range(len(one)):
        head[one[k] + 2] += 1
        head[other[k] + 2] += 1
    for node in range(size):
        head[node + 2] += head[node + 1]
    near = np.empty(2 * len(one), np.int32)
    for k in range(len(one)):  # then head[node + 1] is where the node's neighbours end
        u, v = one[k], other[k]
        near[head[u + 1]], near[head[v + 1]] = v, u
        head[u + 1] += 1
        head[v + 1] += 1
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
def certificate(one, other, size):
    """Edges that fall into the same parts as all edges, whatever node or edge is taken away.

    Returns
    -------
    Their ends, shape (2, count).
    """
    order, parent, number, high = search(one, other, size)
    found = np.empty((2, 2 * size), np.int64)
    count = 0
    for node in range(size):
        if parent[node] >= 0:
            found[0, count], found[1, count] = node, parent[node]
            count += 1
        if high[node] < number[node]:
            found[0, count], found[1, count] = node, order[high[node]]
            count += 1
    return found[:, :count].copy()


@compiled
def lows(order, parent, number, high):
    """By node, the smallest number that its subtree's edges besides the one to its parent lead to."""
    low = high.copy()
    for k in range(len(order) - 1, -1, -1):
        up = parent[order[k]]
        if up >= 0:
            low[up] = min(low[up], low[order[k]])
    return low


@compiled
def parts(order, parent, number, high):
    """Parts that bridges join, and where the graph can be cut.

    Returns
    -------
    component
        By node, the smallest node of its part.
    cut
        By node, whether it is a cut node.
    child
        Of each bridge the lower node.
    """
    size = len(order)
    low = lows(order, parent, number, high)
    component, cut = np.empty(size, np.int32), np.zeros(size, np.bool_)
    child, bridges = np.empty(size, np.int32), 0
    least = np.arange(size, dtype=np.int32)  # by the part's first node in the order
    single = np.zeros(size, np.bool_)  # roots with one child
    for node in order:
        up = parent[node]
        if up >= 0 and low[node] < number[node]:
            component[node] = component[up]
            least[component[up]] = min(least[component[up]], node)
        else:
            component[node] = node
            if up >= 0:
                child[bridges] = node
                bridges += 1
        if up >= 0 and low[node] >= number[up]:
            if parent[up] >= 0 or single[up]:
                cut[up] = True
            single[up] = True
    return least[component], cut, child[:bridges].copy()


@compiled
def blocks(order, parent, number, high):
    """Biconnected components.

    Returns
    -------
    nodes, block
        A row for each node of each component.
    least
        Shape (count, 2): the two smallest nodes of each component.
    """
    size = len(order)
    low = lows(order, parent, number, high)
    of = np.full(size, -1, np.int32)  # the component of the edge to the parent
    nodes, block = np.empty(2 * size, np.int32), np.empty(2 * size, np.int32)
    least = np.empty((size, 2), np.int32)
    rows = count = 0
    for node in order:
        up = parent[node]
        if up < 0:
            continue
        if low[node] >= number[up]:
            nodes[rows], block[rows] = up, count
            rows += 1
            of[node] = count
            least[count] = min(node, up), max(node, up)
            count += 1
        else:
            of[node] = b = of[up]
            if node < least[b, 0]:
                least[b, 0], least[b, 1] = node, least[b, 0]
            elif node < least[b, 1]:
                least[b, 1] = node
        nodes[rows], block[rows] = node, of[node]
        rows += 1
    return nodes[:rows].copy(), block[:rows].copy(), least[:count].copy()
