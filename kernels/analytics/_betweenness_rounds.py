"""Compiled loops of betweenness centrality in rounds.

A *cell* is a slot (a node of the cluster or a ghost) and a source of the batch: slot * width + source.
"""

import numpy as np

from dgsuite.base.compiling import compiled
from dgsuite.kernels.analytics._betweenness import add
from dgsuite.kernels.analytics.trouble import FAR, LOST


@compiled
def take_offers(keys, reach, counts, distance, paths, fresh, front, size):
    """Offers of other clusters: cells that come nearer join the front. Returns its size."""
    for i, key in enumerate(keys):
        if reach[i] < distance[key]:
            distance[key] = reach[i]
            paths[key] = counts[i]
            if not fresh[key]:
                fresh[key] = True
                front[size] = key
                size += 1
        elif reach[i] == distance[key]:
            paths[key] += counts[i]
    return size


@compiled
def offer(indptr, slots, weights, width, front, distance, paths, fresh, found):
    """Cells of the front offer their successors a path. Returns how many came nearer, and edges seen.

    Cells that come nearer while others make offers offer that in the next round, for every cut.
    """
    count = scanned = 0
    reaches = distance[front]
    for i, key in enumerate(front):
        v, column = divmod(key, width)
        reach = reaches[i]
        scanned += indptr[v + 1] - indptr[v]
        for e in range(indptr[v], indptr[v + 1]):
            to = slots[e] * width + column
            there = reach + weights[e]
            if there < distance[to]:
                distance[to] = there
                paths[to] = paths[key]
                if not fresh[to]:
                    fresh[to] = True
                    found[count] = to
                    count += 1
            elif there == distance[to]:
                paths[to] += paths[key]
    return count, scanned


@compiled
def tally(indptr, slots, weights, limit, width, reached, distance, need):
    """How many shortest paths' last edges lead to each cell from this cluster's nodes. Returns `FAR` and
    a cell from which one leads to the limit of distances or beyond, or `LOST` and one from which it makes
    a path no longer, or 0 and -1.
    """
    wrong, where = 0, -1
    for key in reached:
        v, column = divmod(key, width)
        for e in range(indptr[v], indptr[v + 1]):
            to = slots[e] * width + column
            there = distance[key] + weights[e]
            last = there == distance[to]
            need[to] += last
            if last and there >= limit:
                return FAR, key
            if last and there == distance[key]:
                wrong, where = LOST, key
    return wrong, where


@compiled
def take_paths(keys, counts, arrived, paths, need, front, size):
    """Paths from other clusters: cells that miss none any more join the front. Returns its size."""
    for i, key in enumerate(keys):
        paths[key] += counts[i]
        need[key] -= arrived[i]
        if need[key] == 0:
            front[size] = key
            size += 1
    return size


@compiled
def advance(indptr, slots, weights, width, own, front, distance, paths, need, found):
    """Cells of the front hand their paths on. Returns how many others are ready, or ghosts, which
    are `found`; the `need` of a ghost is what it got, negated.
    """
    count = 0
    for key in front:
        v, column = divmod(key, width)
        for e in range(indptr[v], indptr[v + 1]):
            to = slots[e] * width + column
            if distance[key] + weights[e] == distance[to]:
                paths[to] += paths[key]
                need[to] -= 1
                if need[to] == (0 if slots[e] < own else -1):
                    found[count] = to
                    count += 1
    return count


@compiled
def depend(indptr, slots, weights, width, level, distance, paths, share, by_edge, whole, part):
    """Dependencies of the cells of a level, from their successors' shares; summed by node, or by edge."""
    for key in level:
        v, column = divmod(key, width)
        below = 0.0
        for e in range(indptr[v], indptr[v + 1]):
            to = slots[e] * width + column
            if distance[to] == distance[key] + weights[e]:
                below += share[to]
                if by_edge:
                    add(whole, part, e, paths[key] * share[to])
        depends = paths[key] * below
        share[key] = (1.0 + depends) / paths[key]
        if not by_edge:
            add(whole, part, v, depends)


@compiled
def publish(keys, width, indptr, peers, slots):
    """Clusters that have some cells as ghosts: per pair the cluster, its cell, and the index of the key."""
    count = 0
    for key in keys:
        count += indptr[key // width + 1] - indptr[key // width]
    to = np.empty(count, np.int32)
    there = np.empty(count, np.int64)
    which = np.empty(count, np.int64)
    at = 0
    for i in range(len(keys)):
        v = keys[i] // width
        for e in range(indptr[v], indptr[v + 1]):
            to[at] = peers[e]
            there[at] = slots[e] * width + keys[i] - v * width
            which[at] = i
            at += 1
    return to, there, which
