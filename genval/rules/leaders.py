"""Leaders, committees of at most K nodes, and Byzantine agreement."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import Job, Outputs, ends, exactly, marked, says
from dgsuite.genval.rules.registry import judges
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.checks import components


@judges("dp", "hs", "lcr", outputs={"leader": 1}, identifiers="leader")
def leader(job: Job) -> list[Found]:
    """All nodes agree on one leader; it is the identifier of a node, and no identifier is larger."""
    names, uid = job.outputs["leader"], job.identifiers
    agreed = names[0]
    highest = f"no identifier above the leader's, {agreed}"
    told = f"a node with the leader's identifier, {agreed}"
    found = job.found(
        ("agreement", names != agreed, f"leader {agreed}, as node 0 says", names),
        ("largest", uid > agreed, highest, says("identifier {}", uid)),
    )
    return [found, job.whole("existence", agreed not in uid, told, "none")]


@judges("floodmax", outputs={"leader": 1}, identifiers="leader")
def floodmax(job: Job) -> list[Found]:
    """Of each component, the leader is the node with the largest identifier, as all nodes say. Where nodes
    have crashed, those that are left and have a way to each other through such nodes say the same: the
    identifier of a node of the component, which may have crashed, and none smaller than their own.
    """
    said, alive, uid = job.outputs["leader"], job.alive, job.identifiers
    part = components(job.graph)
    largest, mine = _largest(part, uid), part
    if not alive.all():
        from scipy.sparse.csgraph import connected_components

        left = job.graph.to_scipy()[alive][:, alive]
        mine = np.full(job.n, -1)
        mine[alive] = connected_components(left, directed=False)[1]
    group = np.where(alive, mine, 0)
    least = _largest(group, np.where(alive, uid, np.iinfo(np.int64).min))
    most = _largest(group, np.where(alive, said, np.iinfo(np.int64).min))
    unhurt = np.bincount(part[~alive], minlength=job.n)[part] == 0
    order = np.argsort(uid, kind="stable")
    owner = order[np.minimum(np.searchsorted(uid, said, sorter=order), job.n - 1)]
    strange = (uid[owner] != said) | (part[owner] != part)
    wrong = np.where(unhurt, said != largest, strange | (said < least) | (said != most))
    the_largest = says("{}, the largest identifier", largest)
    a_larger = says("an identifier from {} on, as the others say", least)
    told = (lambda i: the_largest(i) if unhurt[i] else a_larger(i)), said
    return [job.found(("leader", alive & wrong, *told))]


def _largest(part: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each node the largest value in its part."""
    found = np.full(int(part.max(initial=0)) + 1, np.iinfo(np.int64).min)
    np.maximum.at(found, part, values)
    return found[part]


@judges("by", outputs={"decision": 1, "vote": 1, "traitor": 1})
def by(job: Job) -> list[Found]:
    """All loyal nodes make the same decision. If they all cast the same vote, it is their decision. Votes and
    traitors are those that the run was given.
    """
    decision, votes, traitor = (job.outputs[name] for name in ("decision", "vote", "traitor"))
    loyal = traitor == 0
    agreed, first = (next(iter(values[loyal]), 0) for values in (decision, votes))
    unanimous = (votes[loyal] == first).all()
    named = job.nodes("traitors")
    given_traitors = ~loyal if named is None else marked(job.n, named)
    many = marked(job.n, np.flatnonzero(~loyal)[max(-(-job.n // 8) - 1, 0) :])
    no_flag = ~np.isin([decision, votes, traitor], (0, 1)).all(axis=0)
    flags = says("decision {}, vote {}, traitor {}", decision, votes, traitor)
    kind = np.where(given_traitors, "a traitor", "no traitor")
    alike = f"decision {agreed}, as the first loyal node's"
    voted = f"decision {first}, for which all loyal nodes voted"
    found = job.found(
        ("flags", no_flag, "0 or 1", flags),
        exactly("vote", votes, job.by_node("votes", votes)),
        ("traitor", loyal == given_traitors, kind, "the opposite"),
        ("traitors", many, "fewer than n / 8", f"{np.count_nonzero(~loyal)}"),
        ("agreement", loyal & (decision != agreed), alike, decision),
        ("validity", loyal & unanimous & (decision != first), voted, decision),
    )
    return [found]


@judges("kc", outputs={"committee": 1})
def kc(job: Job) -> Iterator[list[Found]]:
    """A committee has at most K members, each within K - 1 hops of its leader, which is a member. A node with
    the smallest identifier within K - 1 hops is a leader. The node with the smallest identifier of all, from
    which no other leader can take members, has a full committee unless no node around it is alone.
    """
    k, (committee,) = job.integer("k", 3, 1, np.iinfo(np.int64).max), job.integers("committee")
    nodes = np.arange(job.n)
    valid = (committee >= 0) & (committee < job.n)
    leader = np.where(valid, committee, nodes)
    size = np.bincount(leader, minlength=job.n)
    above = committee[leader]
    there = says("its leader, node {}, in the same committee", leader)
    wrong = job.found(
        ("committee", ~valid, "a node id", committee),
        ("leader", valid & (above != leader), there, says("it is in committee {}", above)),
        ("size", (leader == nodes) & (size > k), f"at most {k} members", size),
    )
    yield [wrong]
    uid = job.identifiers
    hops = min(k - 1, job.n)
    far = _far_members(job, leader, size, hops)
    smallest = _smallest_around(job, uid, hops)
    first = int(np.argmin(uid))
    room = size[first] < k and leader[first] == first and not job.fact("faithful", False)
    around = (smallest == uid[first]) & (smallest != uid)
    lonely = room & around & (size[leader] == 1)
    near, farther = f"at most {k - 1} hops to its leader", says("node {} is farther away", leader)
    own = f"a committee of its own: no identifier within {k - 1} hops is smaller"
    led = (smallest == uid) & (leader != nodes)
    rest = job.found(
        ("distance", far, near, farther),
        ("leader", led, own, says("committee {}", leader)),
        ("alone", lonely, f"a member of committee {first}, which has room", "alone"),
    )
    yield [rest]


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
    found, (row, other) = c.full(np.iinfo(np.int64).max), ends(c)
    np.minimum.at(found, row, least[other])
    return c.ids, found


def _far_members(job: Job, leader: NDArray, size: NDArray, hops: int) -> NDArray[np.bool_]:
    """Mask of the members that are more than `hops` hops from their leader."""
    far = leader != np.arange(job.n)
    source = node = np.flatnonzero((size > 1) & ~far)
    seen = source * job.n + node
    for _ in range(hops):
        missing = np.bincount(leader[far], minlength=job.n) > 0
        going = missing[source]
        source, node = source[going], node[going]
        if not len(source):
            break
        pairs = np.setdiff1d(_step(job, source, node), seen, assume_unique=True)
        seen = np.union1d(seen, pairs)
        source, node = np.divmod(pairs, job.n)
        far[node[leader[node] == source]] = False
    return far


def _step(job: Job, source: NDArray, node: NDArray) -> NDArray:
    """Pairs (source, neighbour of node) of pairs (source, node), as ``source * n + neighbour``, ascending."""
    order = np.argsort(node, kind="stable")
    found = job.each(_neighbours, source=source[order], node=node[order])
    return np.unique(np.concatenate(found))


def _neighbours(c: Cluster, outputs: Outputs, source: NDArray, node: NDArray) -> NDArray:
    mine = np.isin(node, c.ids)
    which, others = c.edges(np.searchsorted(c.ids, node[mine]))
    return np.unique(source[mine][which] * c.n + others)
