"""Rumours that spread by calls to random neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.genval import counters
from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import Job, Outputs, Rule, collect
from dgsuite.partition.clusters.cluster import Cluster

LONGEST = 1 << 20
"""Most rounds of a run that are looked at."""


def gossip(job: Job) -> list[Found]:
    """The root knows the rumour first. Any other node hears of it in the first round in which a call joins it
    to a node that knew before: which neighbour a node calls follows from seed, node and round. Where messages
    were lost or nodes crashed, it may hear of it in a later round with such a call. All nodes that have not
    crashed hear of it.
    """
    informed = job.outputs["informed"].astype(np.int64)
    nodes, root = np.arange(job.n), job.root()
    mode, seed = str(job.fact("mode", "push-pull")), int(job.fact("seed", 101))
    crashed = job.given("crashed")
    faults = crashed is not None or job.given("lost") is not None
    alive = np.ones(job.n, bool) if crashed is None else crashed < 0
    strange = np.where(nodes == root, informed != 0, (informed < 1) & (informed != -1))
    rules: list[Rule] = [
        (
            "start",
            strange | (informed > LONGEST),
            lambda i: "0 rounds" if i == root else f"1 to {LONGEST} rounds, or -1",
            lambda i: str(informed[i]),
        ),
        (
            "end",
            (informed == -1) & alive,
            lambda i: "a node that knows the rumour",
            lambda i: "one that does not",
        ),
    ]
    if rules[0][1].any():
        return [collect(nodes, *rules)]
    for number in range(1, int(informed.max(initial=0)) + 1):
        called = np.full(job.n, -1)
        for ids, ends in job.each(_called, seed=seed, number=number - 1):
            called[ids] = ends
        knew = (informed >= 0) & (informed < number)
        hears = np.zeros(job.n, bool)
        if mode != "pull":
            hears[called[knew & (called >= 0)]] = True
        if mode != "push":
            hears |= (called >= 0) & knew[called]
        missed = hears & ~knew & (informed != number) & (not faults)
        unheard = ~hears & (informed == number)
        rules.append(_heard(informed, missed, f"{number} rounds, by the calls"))
        rules.append(_heard(informed, unheard, f"not {number} rounds, in which no call tells it"))
        if missed.any():
            break
    return [collect(nodes, *rules)]


def _heard(informed: NDArray, broken: NDArray, expected: str) -> Rule:
    return ("call", broken, lambda i: expected, lambda i: str(informed[i]))


def _called(c: Cluster, outputs: Outputs, seed: int, number: int) -> tuple[NDArray, NDArray]:
    """The neighbour that each node of a cluster calls in a round; -1 for none."""
    luck = counters.of_nodes(seed, c.ids, number)
    called = np.full(c.size, -1)
    some = c.degree > 0
    at = c.indptr[:-1] + (luck * c.degree).astype(np.int64)
    called[some] = c.indices[at[some]]
    return c.ids, called
