"""Compiled loops over what is two hops away, by lists of neighbours.

Lists are those of neighbours by node id, ``values[starts[node]:ends[node]]``; rows, with `indptr` and
`indices`, are those of a cluster, and `nodes` has the node id of each.
"""

from __future__ import annotations

import numpy as np

from dgsuite.base.compiling import compiled


@compiled
def two_hops(indptr, indices, nodes, starts, ends, values, joint, squares):
    """Count the neighbours that nodes have in common.

    Parameters
    ----------
    joint
        By entry of the adjacency, filled with how many both ends have in common.
    squares
        By row, filled with the cycles of four nodes that the node is in, each a pair of ways to another node.
    """
    ways = np.zeros(len(starts), np.int32)
    far = np.empty(len(starts), np.int32)
    for row in range(len(nodes)):
        ways[nodes[row]] = 1  # so that the node itself is not among those far away
        count = 0
        for e in range(indptr[row], indptr[row + 1]):
            for k in range(starts[indices[e]], ends[indices[e]]):
                if ways[values[k]] == 0:
                    far[count] = values[k]
                    count += 1
                ways[values[k]] += 1
        for e in range(indptr[row], indptr[row + 1]):
            joint[e] = ways[indices[e]]
        total = np.int64(0)
        for i in range(count):
            many = np.int64(ways[far[i]])
            total += many * (many - 1) // 2
            ways[far[i]] = 0
        ways[nodes[row]] = 0
        squares[row] = total


@compiled
def opposite(indptr, indices, starts, ends, values, joint, found):
    """Add up for each entry of the adjacency, over the triangles that its edge is in, how many other
    triangles the row's second edge of each is in: the edge opposite to the node that the entry leads to.

    Parameters
    ----------
    joint
        By entry of the adjacency, triangles that the edge is in.
    found
        By entry of the adjacency, filled.
    """
    # of the row's edge to a node; -1 where there is none
    others = np.full(len(starts), -1, np.int64)
    for row in range(len(indptr) - 1):
        for e in range(indptr[row], indptr[row + 1]):
            others[indices[e]] = joint[e] - 1 if joint[e] else 0
        for e in range(indptr[row], indptr[row + 1]):
            total = np.int64(0)
            for k in range(starts[indices[e]], ends[indices[e]]):
                total += max(others[values[k]], 0)
            found[e] = total
        for e in range(indptr[row], indptr[row + 1]):
            others[indices[e]] = -1
