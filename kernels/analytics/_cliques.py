"""Compiled loop of cliques, on sets of nodes as bits."""

from __future__ import annotations

import numpy as np

from dgsuite.base.compiling import compiled
from dgsuite.kernels.analytics._triangles import LOW, ONE, WORD, ones

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
def count(heads, above, starts, ends, values, k, mine, theirs):
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
