"""Leader election and Byzantine agreement."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import Job, Outputs, collect, exactly, marked
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.checks import components


def leader(job: Job) -> list[Found]:
    """All nodes agree on one leader; it is the identifier of a node, and no identifier is larger."""
    checked = job.each(_follows)
    agreed = job.outputs["leader"][0]
    exists = any(here for _, here in checked)
    told = f"a node with the leader's identifier, {agreed}"
    missing = job.whole("existence", not exists, told, "none")
    return [*(found for found, _ in checked), missing]


def _follows(c: Cluster, outputs: Outputs) -> tuple[Found, bool]:
    names = outputs["leader"]
    mine, agreed = names[c.ids], names[0]
    found = collect(
        c.ids,
        ("agreement", mine != agreed, f"leader {agreed}, as node 0 says", mine),
        (
            "largest",
            c.uid > agreed,
            f"no identifier above the leader's, {agreed}",
            lambda i: f"identifier {c.uid[i]}",
        ),
    )
    return found, bool((c.uid == agreed).any())


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
    return [
        job.found(
            (
                "leader",
                alive & wrong,
                lambda i: (
                    f"{largest[i]}, the largest identifier"
                    if unhurt[i]
                    else f"an identifier from {least[i]} on, as the others say"
                ),
                said,
            )
        )
    ]


def _largest(part: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each node the largest value in its part."""
    found = np.full(int(part.max(initial=0)) + 1, np.iinfo(np.int64).min)
    np.maximum.at(found, part, values)
    return found[part]


def by(job: Job) -> list[Found]:
    """All loyal nodes make the same decision. If they all cast the same vote, it is their decision. Votes and
    traitors are those that the run was given.
    """
    decision, votes, traitor = (job.outputs[name] for name in ("decision", "vote", "traitor"))
    loyal = traitor == 0
    agreed = decision[loyal][0] if loyal.any() else 0
    first = votes[loyal][0] if loyal.any() else 0
    unanimous = (votes[loyal] == first).all()
    named = job.nodes("traitors")
    given_traitors = ~loyal if named is None else marked(job.n, named)
    many = marked(job.n, np.flatnonzero(~loyal)[max(-(-job.n // 8) - 1, 0) :])
    found = job.found(
        (
            "flags",
            ~np.isin([decision, votes, traitor], (0, 1)).all(axis=0),
            "0 or 1",
            lambda i: f"decision {decision[i]}, vote {votes[i]}, traitor {traitor[i]}",
        ),
        exactly("vote", votes, job.by_node("votes", votes)),
        (
            "traitor",
            loyal == given_traitors,
            np.where(given_traitors, "a traitor", "no traitor"),
            "the opposite",
        ),
        ("traitors", many, "fewer than n / 8", f"{np.count_nonzero(~loyal)}"),
        (
            "agreement",
            loyal & (decision != agreed),
            f"decision {agreed}, as the first loyal node's",
            decision,
        ),
        (
            "validity",
            loyal & unanimous & (decision != first),
            f"decision {first}, for which all loyal nodes voted",
            decision,
        ),
    )
    return [found]
