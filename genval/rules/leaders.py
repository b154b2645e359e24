"""Leader election and Byzantine agreement."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import Job, Outputs, collect
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.checks import components


def leader(job: Job) -> list[Found]:
    """All nodes agree on one leader; it is the identifier of a node, and no identifier is larger."""
    checked = job.each(_follows)
    agreed = job.outputs["leader"][0]
    exists = any(here for _, here in checked)
    missing = collect(
        np.zeros(1, np.int64),
        (
            "existence",
            np.array([not exists]),
            lambda i: f"a node with the leader's identifier, {agreed}",
            lambda i: "none",
        ),
    )
    return [*(found for found, _ in checked), missing]


def _follows(c: Cluster, outputs: Outputs) -> tuple[Found, bool]:
    names = outputs["leader"]
    mine, agreed = names[c.ids], names[0]
    found = collect(
        c.ids,
        (
            "agreement",
            mine != agreed,
            lambda i: f"leader {agreed}, as node 0 says",
            lambda i: str(mine[i]),
        ),
        (
            "largest",
            c.uid > agreed,
            lambda i: f"no identifier above the leader's, {agreed}",
            lambda i: f"identifier {c.uid[i]}",
        ),
    )
    return found, bool((c.uid == agreed).any())


def floodmax(job: Job) -> list[Found]:
    """Of each component, the leader is the node with the largest identifier, as all nodes say. Where nodes
    have crashed, those that are left and have a way to each other through such nodes say the same: the
    identifier of a node of the component, which may have crashed, and none smaller than their own.
    """
    said, crashed = job.outputs["leader"], job.given("crashed")
    alive = np.ones(job.n, bool) if crashed is None else crashed < 0
    uid = np.zeros(job.n, np.int64)
    for ids, own in job.each(_identifiers):
        uid[ids] = own
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
    return [
        collect(
            np.arange(job.n),
            (
                "leader",
                alive & wrong,
                lambda i: (
                    f"{largest[i]}, the largest identifier"
                    if unhurt[i]
                    else f"an identifier from {least[i]} on, as the others say"
                ),
                lambda i: str(said[i]),
            ),
        )
    ]


def _largest(part: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each node the largest value in its part."""
    found = np.full(int(part.max(initial=0)) + 1, np.iinfo(np.int64).min)
    np.maximum.at(found, part, values)
    return found[part]


def _identifiers(c: Cluster, outputs: Outputs) -> tuple[NDArray, NDArray]:
    return c.ids, c.uid


def by(job: Job) -> list[Found]:
    """All loyal nodes make the same decision. If they all cast the same vote, it is their decision. Votes and
    traitors are those that the run was given.
    """
    decision, votes, traitor = (job.outputs[name] for name in ("decision", "vote", "traitor"))
    loyal = traitor == 0
    agreed = decision[loyal][0] if loyal.any() else 0
    first = votes[loyal][0] if loyal.any() else 0
    unanimous = (votes[loyal] == first).all()
    given_votes = job.by_node("votes", votes)
    given_traitors = np.zeros(job.n, bool)
    named = job.nodes("traitors")
    given_traitors[:] = traitor != 0
    if named is not None:
        given_traitors[:] = False
        given_traitors[named] = True
    many = np.zeros(job.n, bool)
    many[np.flatnonzero(~loyal)[max(-(-job.n // 8) - 1, 0) :]] = True
    found = collect(
        np.arange(job.n),
        (
            "flags",
            _no_flag(decision) | _no_flag(votes) | _no_flag(traitor),
            lambda i: "0 or 1",
            lambda i: f"decision {decision[i]}, vote {votes[i]}, traitor {traitor[i]}",
        ),
        ("vote", votes != given_votes, lambda i: str(given_votes[i]), lambda i: str(votes[i])),
        (
            "traitor",
            (traitor != 0) != given_traitors,
            lambda i: "a traitor" if given_traitors[i] else "no traitor",
            lambda i: "the opposite",
        ),
        ("traitors", many, lambda i: "fewer than n / 8", lambda i: f"{np.count_nonzero(~loyal)}"),
        (
            "agreement",
            loyal & (decision != agreed),
            lambda i: f"decision {agreed}, as the first loyal node's",
            lambda i: str(decision[i]),
        ),
        (
            "validity",
            loyal & unanimous & (decision != first),
            lambda i: f"decision {first}, for which all loyal nodes voted",
            lambda i: str(decision[i]),
        ),
    )
    return [found]


def _no_flag(values: NDArray) -> NDArray[np.bool_]:
    flags: NDArray[np.bool_] = (values != 0) & (values != 1)
    return flags
