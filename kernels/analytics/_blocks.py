"""Compiled loops that work within a cluster until nothing changes there.

Positions are those of the graph's layout: a neighbour is in the cluster if its position less that of the
cluster's first node is an index of the cluster.
"""

import numpy as np

from dgsuite.base.compiling import compiled
from dgsuite.kernels.tools._unions import join, settle

ONE = np.uint64(1)

FAR = 2.0**62
"""Buckets from here on are one."""

SAMPLE = 2
"""Edges of each node that show which component has the most nodes."""


@compiled
def search(indptr, positions, first, ids, level, parent, seeds, seed_level, queue, reached):
    """Search from nodes whose levels have fallen, as far as levels fall.

    Parameters
    ----------
    positions
        Of the neighbours, as `indptr` has them.
    first
        Position of the cluster's first node.
    level, parent
        By node, -1 where unreached; those of the seeds have fallen.
    seeds, seed_level
        By ascending level.
    queue, reached
        Room for all nodes of the cluster.

    Returns
    -------
    How many nodes have a new level: the first in `reached`, each once, by ascending level.
    """
    size, head, tail, s, count = np.uint64(len(level)), 0, 0, 0, 0
    while True:
        if s < len(seeds) and level[seeds[s]] != seed_level[s]:  # reached sooner meanwhile
            s += 1
            continue
        if head < tail and (s == len(seeds) or level[queue[head]] <= seed_level[s]):
            node = np.uint64(queue[head])
            head += 1
        elif s < len(seeds):
            node = np.uint64(seeds[s])
            s += 1
        else:
            return count
        reached[count] = node
        count += 1
        offer, sender = level[node] + 1, ids[node]
        for e in range(indptr[node], indptr[node + ONE]):
            other = np.uint64(positions[np.uint64(e)] - first)  # of a node before the first: large
            if other >= size:
                continue
            known = level[other]
            if known < 0 or known > offer:
                level[other] = offer
                parent[other] = sender
                queue[tail] = other
                tail += 1
            elif known == offer and sender < parent[other]:
                parent[other] = sender


@compiled
def unite(indptr, positions, first, root):
    """The components of a cluster's own edges: gives each node the first node of its component.

    A few edges of each node show which component has the most nodes; that of the node in the middle is tried
    first. The nodes of the largest are then passed over: an edge that leads to them is also one of the other
    node's (Sutton, Ben-Nun and Barak 2018, Afforest).

    Parameters
    ----------
    root
        By node, itself.

    Returns
    -------
    The first node of the component that has the most nodes, as far as those edges show; -1 of no nodes.
    """
    if len(root) == 0:
        return -1
    size = np.uint64(len(root))
    for node in range(len(root)):
        joined, row = 0, np.uint64(node)
        for e in range(indptr[row], indptr[row + ONE]):
            other = np.uint64(positions[np.uint64(e)] - first)  # of a node before the first: large
            if other < size:
                join(root, row, other)
                joined += 1
                if joined == SAMPLE:
                    break
    settle(root)
    most = np.int64(root[len(root) // 2])
    if 2 * np.count_nonzero(root == most) <= len(root):  # others may have more
        count = np.zeros(len(root), root.dtype)
        for node in range(len(root)):
            count[np.uint64(root[node])] += 1
        most = count.argmax()
    for node in range(len(root)):
        if root[node] == most:
            continue
        row = np.uint64(node)
        for e in range(indptr[row], indptr[row + ONE]):
            other = np.uint64(positions[np.uint64(e)] - first)
            if other < size:
                join(root, row, other)
    settle(root)
    return root[most]


@compiled
def first_of(sets, clusters):
    """By cluster, the first node here in the set of that cluster's largest component, or -1.

    Parameters
    ----------
    sets
        See `spread`.
    """
    first = np.full(clusters, -1)
    for node in range(len(sets) - clusters):
        member = np.uint64(sets[clusters + node])
        if member < np.uint64(clusters) and first[member] < 0:
            first[member] = node
    return first


@compiled
def spread(sets, large, component):
    """Give the nodes of a cluster the names of their sets.

    Parameters
    ----------
    sets
        The first member of each member's set: first of the largest components of all clusters, then of nodes.
    large
        Names of the largest components.
    component
        By node: the name of its set, which is given for the first node of each set.
    """
    for node in range(len(component)):  # the first of its set comes before it
        first = np.int64(sets[len(large) + node])
        if first < len(large):
            component[node] = large[first]
        else:
            component[node] = component[first - len(large)]


@compiled
def take(nodes, senders, distances, hops, distance, hop, parent, due):
    """Give nodes the least offers that they have got: by distance, then hops, then sender.

    Parameters
    ----------
    nodes, senders, distances, hops
        By offer.
    distance, hop, parent
        By node.
    due
        By node: those that come nearer, or as near by fewer hops, are marked.
    """
    for k, node in enumerate(nodes):
        if distances[k] < distance[node] or (
            distances[k] == distance[node] and hops[k] < hop[node]
        ):
            distance[node], hop[node], parent[node] = distances[k], hops[k], senders[k]
            due[node] = True
        elif distances[k] == distance[node] and hops[k] == hop[node] and senders[k] < parent[node]:
            parent[node] = senders[k]


@compiled(error_model="numpy")
def bucket_of(distance, width):
    """The bucket of a distance."""
    return np.int64(min(distance / width, FAR))


@compiled(error_model="numpy")
def shortest(
    indptr, positions, first, ids, weights, width, ring, distance, hop, parent, seeds, due, most
):
    """Shortest paths from nodes that have come nearer, as far as others do, too.

    Nodes wait in buckets by their distance, in a ring that is as long as the longest edge (Dial 1969). A node
    that comes nearer while its bucket is emptied is looked at once more.

    Parameters
    ----------
    weights
        By entry; empty where all edges are 1 long.
    width
        Of a bucket.
    ring
        Room for the lists of buckets, filled with -1. Its length is a power of two, and at least two more
        than the longest edge divided by `width`.
    distance, hop, parent
        By node; those of the seeds are new.
    seeds
        By ascending distance.
    due
        By node: the seeds, and afterwards those that have come nearer and were not looked at.
    most
        When so many nodes have been looked at, no other bucket is emptied.

    Returns
    -------
    The nodes that were looked at and have edges to other clusters, each once.
    """
    size, last = np.uint64(len(distance)), len(ring) - 1
    border, told = np.empty(len(distance), np.int64), 0
    seen = np.zeros(len(distance), np.bool_)
    # lists of the ring, with room for a node from each edge; arrays that grow would make the loop slower
    nodes, after = np.empty_like(positions), np.empty_like(positions)
    free, used, waiting, count, s, bucket = -1, 0, 0, 0, 0, 0
    while count < most and (waiting > 0 or s < len(seeds)):
        if waiting == 0:
            bucket = bucket_of(distance[seeds[s]], width)
        place = np.uint64(bucket & last)
        while True:
            if s < len(seeds) and bucket_of(distance[seeds[s]], width) <= bucket:
                node = np.uint64(seeds[s])
                s += 1
            elif ring[place] >= 0:
                entry = np.uint64(ring[place])
                node, ring[place] = np.uint64(nodes[entry]), after[entry]
                after[entry], free = free, entry
                waiting -= 1
            else:
                break
            if not due[node]:  # it came nearer, and was looked at before
                continue
            due[node] = False
            fresh, seen[node] = not seen[node], True
            count += fresh
            near, hops, sender, leaves = distance[node], hop[node] + 1, ids[node], False
            for e in range(np.uint64(indptr[node]), np.uint64(indptr[node + ONE])):
                other = np.uint64(positions[e] - first)  # of a node before the first: large
                if other >= size:
                    leaves = True
                    continue
                offer = near + weights[e] if len(weights) else near + 1
                known = distance[other]
                if offer > known:
                    continue
                if offer == known and hops >= hop[other]:
                    if hops == hop[other] and sender < parent[other]:
                        parent[other] = sender
                    continue
                distance[other], hop[other], parent[other] = offer, hops, sender
                due[other] = True
                if free >= 0:
                    entry = np.uint64(free)
                    free = after[entry]
                elif used < len(nodes):
                    entry = np.uint64(used)
                    used += 1
                else:  # it stays due
                    most = 0
                    continue
                there = np.uint64(min(bucket_of(offer, width), bucket + last) & last)
                nodes[entry], after[entry], ring[there] = other, ring[there], entry
                waiting += 1
            if leaves and fresh:
                border[told] = node
                told += 1
        bucket += 1
    return border[:told]


@compiled
def leave(indptr, positions, first, edges, generation, nodes, before, left):
    """Take edges off, and nodes that no edge enters any more, with their edges.

    Parameters
    ----------
    edges
        By node, those that come in from nodes that have not left.
    generation
        By node, one more than the latest of the nodes before it that have left.
    nodes, before
        Ends of edges to take off, and the generations that these come from.
    left
        Room for all nodes.

    Returns
    -------
    How many nodes have left: the first in `left`.
    """
    size, count, head = len(edges), 0, 0
    for k, node in enumerate(nodes):
        count = lose(edges, generation, node, before[k], left, count)
    while head < count:
        node = left[head]
        head += 1
        for e in range(indptr[node], indptr[node + 1]):
            other = positions[e] - first
            if 0 <= other < size:
                count = lose(edges, generation, other, generation[node], left, count)
    return count


@compiled
def lose(edges, generation, node, before, left, count):
    """Take an edge off a node, which leaves if it was its last; returns how many nodes have left."""
    generation[node] = max(generation[node], before + 1)
    edges[node] -= 1
    if edges[node] == 0:
        left[count] = node
        count += 1
    return count
