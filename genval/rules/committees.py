"""Committees of at most K nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import Job, Outputs, collect, marked
from dgsuite.partition.clusters.cluster import Cluster


def kc(job: Job) -> list[Found]:
    """A committee has at most K members, each within K - 1 hops of its leader, which is a member. A node with
    the smallest identifier within K - 1 hops is a leader. The node with the smallest identifier of all, from
    which no other leader can take members, has a full committee unless no node around it is alone.
    """
    k = job.integer("k", 3, 1, np.iinfo(np.int64).max)
    committee = job.outputs["committee"].astype(np.int64)
    nodes = np.arange(job.n)
    valid = (committee >= 0) & (committee < job.n)
    leader = np.where(valid, committee, nodes)
    size = np.bincount(leader, minlength=job.n)
    stray = valid & (committee[leader] != leader)
    found = collect(
        nodes,
        ("committee", ~valid, "a node id", committee),
        (
            "leader",
            stray,
            lambda i: f"its leader, node {leader[i]}, in the same committee",
            lambda i: f"it is in committee {committee[leader[i]]}",
        ),
        ("size", (leader == nodes) & (size > k), f"at most {k} members", size),
    )
    if found.total:
        return [found]
    uid = job.identifiers
    hops = min(k - 1, job.n)
    far = _far_members(job, leader, size, hops)
    smallest = _smallest_around(job, uid, hops)
    first = int(np.argmin(uid))
    lonely = np.zeros(job.n, bool)
    if size[first] < k and leader[first] == first and not job.fact("faithful", False):
        around = _ball(job, first, hops)
        lonely[around] = (size[leader[around]] == 1) & (smallest[around] != uid[around])
    rest = collect(
        nodes,
        (
            "distance",
            far,
            f"at most {k - 1} hops to its leader",
            lambda i: f"node {leader[i]} is farther away",
        ),
        (
            "leader",
            (smallest == uid) & (leader != nodes),
            f"a committee of its own: no identifier within {k - 1} hops is smaller",
            lambda i: f"committee {leader[i]}",
        ),
        ("alone", lonely, f"a member of committee {first}, which has room", "alone"),
    )
    return [found, rest]


def _smallest_around(job: Job, uid: NDArray, hops: int) -> NDArray:
    """Smallest identifier within `hops` hops of each node."""
    least = uid
    for _ in range(hops):
        before = least
        least = np.minimum(least, job.values(_least_neighbour, least=least))
        if (least == before).all():
            break
    return least


def _least_neighbour(c: Cluster, outputs: Outputs, least: NDArray) -> tuple[NDArray, NDArray]:
    found = c.full(np.iinfo(np.int64).max)
    some = np.flatnonzero(c.degree)
    if len(some):
        found[some] = np.minimum.reduceat(least[c.indices], c.indptr[some])
    return c.ids, found


def _far_members(job: Job, leader: NDArray, size: NDArray, hops: int) -> NDArray[np.bool_]:
    """Mask of the members that are more than `hops` hops from their leader."""
    far = leader != np.arange(job.n)
    source = np.flatnonzero((size > 1) & ~far)
    node = source
    seen = source * job.n + node
    for _ in range(hops):
        missing = np.bincount(leader[far], minlength=job.n) > 0
        going = missing[source]
        source, node = source[going], node[going]
        if not len(source):
            break
        pairs = _step(job, source, node)
        pairs = np.setdiff1d(pairs, seen, assume_unique=True)
        seen = np.union1d(seen, pairs)
        source, node = np.divmod(pairs, job.n)
        far[node[leader[node] == source]] = False
    return far


def _ball(job: Job, node: int, hops: int) -> NDArray:
    """Other nodes within `hops` hops of a node."""
    inside = marked(job.n, node)
    front = np.array([node])
    for _ in range(hops):
        front = _step(job, np.zeros(len(front), np.int64), front) % job.n
        front = front[~inside[front]]
        if not len(front):
            break
        inside[front] = True
    inside[node] = False
    return np.flatnonzero(inside)


def _step(job: Job, source: NDArray, node: NDArray) -> NDArray:
    """Pairs (source, neighbour of node) of pairs (source, node), as ``source * n + neighbour``, ascending."""
    order = np.argsort(node, kind="stable")
    found = job.each(_neighbours, source=source[order], node=node[order])
    return np.unique(np.concatenate(found))


def _neighbours(c: Cluster, outputs: Outputs, source: NDArray, node: NDArray) -> NDArray:
    at = np.searchsorted(c.ids, node) if c.size else np.zeros(len(node), np.int64)
    at = np.minimum(at, max(c.size - 1, 0))
    mine = c.ids[at] == node if c.size else np.zeros(len(node), bool)
    which, ends = c.edges(at[mine])
    return np.unique(source[mine][which] * c.n + ends)
