"""Compiled loops of motifs: cliques, and what is two hops away, by lists of neighbours.

Lists are those of neighbours by node id, ``values[starts[node]:ends[node]]``; rows, with `indptr` and
`indices`, are those of a cluster, and `nodes` has the node id of each.
"""

import numpy as np

from dgsuite.base.compiling import compiled
from dgsuite.kernels.analytics._bits import ones
from dgsuite.kernels.analytics._triangles import LOW, ONE, WORD

NONE = np.uint64(0)


@compiled
def pairs(chosen, words, count, rows, found):
    """Edges between the nodes of a set; `found` has, by node, how many it has been in.

    Parameters
    ----------
    chosen
        The set.
    words, count
        Which of its words have bits: the first in `words`.
    rows
        By node, its neighbours as a set.
    """
    total = 0
    for i in range(count):
        left = chosen[words[i]]
        while left != NONE:
            lowest = left & (~left + ONE)
            left ^= lowest
            node = (np.int64(words[i]) << 6) + np.int64(ones(lowest - ONE))
            near = 0
            for j in range(count):
                near += np.int64(ones(chosen[words[j]] & rows[node, words[j]]))
            found[node] += near
            total += near
    return total >> 1


@compiled
def cliques(heads, above, starts, ends, values, k, mine, theirs):
    """Count the cliques of k nodes at their nodes of lowest rank.

    A level of the search has the nodes that all chosen ones have as neighbours, and that come after the last
    of these.

    Parameters
    ----------
    heads, above
        Neighbours of higher rank: those of a row are ``above[heads[row]:heads[row + 1]]``.
    starts, ends, values
        By node id: lists of neighbours.
    mine, theirs
        By row, and by item of `above`: filled with the cliques of a row that the node is in.
    """
    most = 0
    for row in range(len(mine)):
        most = max(most, heads[row + 1] - heads[row])
    width, last = (most + 63) // 64, k - 3
    place = np.full(len(starts), -1, np.int32)
    rows = np.zeros((most, width), np.uint64)
    sets, words = np.zeros((last + 1, width), np.uint64), np.zeros((last + 1, width), np.int64)
    counts, at = np.zeros(last + 1, np.int64), np.zeros(last + 1, np.int64)
    rest, picked = np.zeros(last + 1, np.uint64), np.zeros(last + 1, np.int64)
    totals = np.zeros(last + 1, np.int64)
    for row in range(len(mine)):
        first, size = heads[row], heads[row + 1] - heads[row]
        if size < k - 1:
            continue
        found = theirs[first : first + size]
        for i in range(size):
            place[above[first + i]] = i
            rows[i, : (size + 63) // 64] = 0
        for i in range(size):
            p = np.uint64(i)
            for e in range(starts[above[first + i]], ends[above[first + i]]):
                j = place[values[e]]
                if j >= 0:
                    q = np.uint64(j)
                    rows[i, q >> WORD] |= ONE << (q & LOW)
                    rows[j, p >> WORD] |= ONE << (p & LOW)
        counts[0] = (size + 63) // 64
        for w in range(counts[0]):
            words[0, w], sets[0, w] = w, ~NONE
        if size % 64:
            sets[0, counts[0] - 1] = (ONE << np.uint64(size % 64)) - ONE
        level, at[0], rest[0], totals[0] = 0, 0, sets[0, 0], 0
        while level >= 0:
            if level == last:
                totals[level] = pairs(sets[level], words[level], counts[level], rows, found)
            elif rest[level] != NONE:
                lowest = rest[level] & (~rest[level] + ONE)
                rest[level] ^= lowest
                node = (words[level, at[level]] << 6) + np.int64(ones(lowest - ONE))
                number = nodes = 0
                for i in range(at[level], counts[level]):
                    w = words[level, i]
                    bits = rows[node, w] & (rest[level] if i == at[level] else sets[level, w])
                    if bits != NONE:
                        sets[level + 1, w], words[level + 1, number] = bits, w
                        number += 1
                        nodes += np.int64(ones(bits))
                if nodes >= k - 2 - level:
                    picked[level] = node
                    level += 1
                    counts[level], at[level], totals[level] = number, 0, 0
                    rest[level] = sets[level, words[level, 0]]
                continue
            elif at[level] + 1 < counts[level]:
                at[level] += 1
                rest[level] = sets[level, words[level, at[level]]]
                continue
            level -= 1
            if level >= 0:
                found[picked[level]] += totals[level + 1]
                totals[level] += totals[level + 1]
        mine[row] = totals[0]
        for i in range(size):
            place[above[first + i]] = -1


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
