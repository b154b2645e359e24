"""Consensus of nodes of which some crash."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.genval import counters
from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import Job, Outputs, Rule, at_edges, collect, ends, exactly, says
from dgsuite.genval.rules.registry import judges
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.checks import components


@judges("phase_king", outputs={"decision": 1, "input": 1})
def phase_king(job: Job) -> list[Found]:
    """Nodes that have not crashed decide alike; if all nodes have the same input, on that. Inputs are those
    that the run was given.
    """
    return [job.found(*_agreement(job))]


@judges("benor", outputs={"decision": 1, "input": 1, "decided": 1})
def benor(job: Job) -> list[Found]:
    """As `phase_king`, and each at most one round after the first, or in the first round if all nodes have
    the same input.
    """
    given, decided, live = job.outputs["input"], job.outputs["decided"], job.right
    first = int(min(decided[live & (decided >= 0)], default=0))
    latest = 0 if (given == given[:1]).all() else first + 1
    late, told = live & ((decided < 0) | (decided > latest)), says("in round {}", decided)
    delay = "delay", late, f"decided in round {latest} at the latest", told
    return [job.found(*_agreement(job), delay)]


def _agreement(job: Job) -> list[Rule]:
    decision, given, live = job.outputs["decision"], job.outputs["input"], job.right
    agreed = next(iter(decision[live & (decision >= 0)]), 0)
    return [
        exactly("input", given, job.by_node("inputs", given)),
        ("flag", (given != 0) & (given != 1), "0 or 1", given),
        ("agreement", live & (decision != agreed), f"decision {agreed}, as of the first", decision),
        ("validity", live & ~np.isin(decision, given), "the input of a node", decision),
    ]


@judges("floodset", outputs={"decision": 1, "input": 1})
def floodset(job: Job) -> list[Found]:
    """Nodes that have not crashed decide on their own value or on the default, and as their neighbours do. If
    all inputs of a component are the same, they are its decision. Inputs are those that the run was given, or
    drawn.
    """
    decision, own, alive = job.outputs["decision"], job.outputs["input"], job.right
    default, inputs = job.integer("default", 0, 0, 63), job.fact("inputs", job.given("inputs"))
    drawn = own  # of so many inputs that a dataset does not list them
    if np.shape(inputs) == (job.n,):
        drawn = np.asarray(inputs)
    elif not isinstance(inputs, str):
        luck = counters.of_nodes(int(job.fact("seed", 101)), np.arange(job.n), 0)
        drawn = (luck * job.integer("inputs", 2, 1, 64)).astype(np.int64)
    part = components(job.graph)
    least, most = own.copy(), own.copy()
    np.minimum.at(least, part, own)
    np.maximum.at(most, part, own)
    same = (least == most)[part]
    other = alive & (decision != own)
    either = says(f"the node's value, {{}}, or the default, {default}", own)
    theirs = says("{}, the input of all nodes that it is connected with", own)
    found = job.found(
        exactly("input", own, drawn),
        ("decision", other & (decision != default), either, decision),
        ("validity", other & same, theirs, decision),
    )
    return [found, *job.each(_agree, alive=alive)]


def _agree(c: Cluster, outputs: Outputs, alive: NDArray[np.bool_]) -> Found:
    decision = outputs["decision"]
    mine = decision[c.ids]
    row, other = ends(c)
    theirs = decision[other]
    apart = (mine[row] != theirs) & alive[c.ids][row] & alive[other]
    found = "the decision of node {}, {}"
    what, broken, own, others = at_edges(c, "agreement", apart, mine, found, other, theirs)
    return collect(c.ids, (what, broken, others, own))
