"""Compiled loops of union and find: sets of a cluster's nodes, each named by its first node (Tarjan 1975)."""

from __future__ import annotations

from dgsuite.base.compiling import compiled


@compiled
def find(root, node):
    """The first node of a node's set, as far as sets have been joined."""
    while root[node] != node:
        root[node] = root[root[node]]
        node = root[node]
    return node


@compiled
def join(root, node, other):
    """Join the sets of two nodes; returns whether they were two."""
    one, two = find(root, node), find(root, other)
    root[max(one, two)] = min(one, two)
    return one != two


@compiled
def settle(root):
    """Give every node the first node of its set."""
    for node in range(len(root)):  # a node's root comes before it
        root[node] = root[root[node]]


@compiled
def join_all(root, nodes, others):
    """Join the sets of pairs of nodes, and give every node the first node of its set."""
    for k in range(len(nodes)):
        join(root, nodes[k], others[k])
    settle(root)
