"""Compiled loops of union and find: sets of a cluster's nodes, each named by its first node (Tarjan 1975)."""

import numpy as np

from dgsuite.base.compiling import compiled


@compiled
def find(root, node):
    """The first node of a node's set, as far as sets have been joined."""
    node = np.uint64(node)
    up = np.uint64(root[node])
    while up != node:
        top = np.uint64(root[up])
        if top == up:
            return up
        root[node] = top
        node, up = top, np.uint64(root[top])
    return node


@compiled
def join(root, node, other):
    """Join the sets of two nodes; returns whether they were two."""
    one, two = np.uint64(root[node]), np.uint64(root[other])
    if one == two:
        return False
    one, two = find(root, one), find(root, two)
    root[max(one, two)] = min(one, two)
    return one != two


@compiled
def settle(root):
    """Give every node the first node of its set."""
    for node in range(len(root)):  # a node's root comes before it
        root[node] = root[np.uint64(root[node])]


@compiled
def join_all(root, nodes, others):
    """Join the sets of pairs of nodes, and give every node the first node of its set.

    Returns
    -------
    Of each pair, whether it joined two sets.
    """
    new = np.empty(len(nodes), np.bool_)
    for k in range(len(nodes)):
        new[k] = join(root, nodes[k], others[k])
    settle(root)
    return new


@compiled
def join_apart(root, after, source, nodes, others):
    """Join the sets of pairs of nodes, but for those that have nodes of the same source, and give every node
    the first node of its set.

    Parameters
    ----------
    after
        The next node of each node's set; the last one leads back to the first.
    """
    seen = np.full(len(root), -1, np.int64)
    for k in range(len(nodes)):
        one, two = np.int64(find(root, nodes[k])), np.int64(find(root, others[k]))
        if one == two:
            continue
        node = one
        while seen[source[node]] != k:
            seen[source[node]] = k
            node = after[node]
        node, left = two, True
        while seen[source[node]] != k and left:
            node = after[node]
            left = node != two
        if not left:
            root[max(one, two)] = min(one, two)
            after[one], after[two] = after[two], after[one]
    settle(root)
