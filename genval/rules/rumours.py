"""Rumours, averages and snapshots of money: what nodes send to random neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum

import numpy as np
from numpy.typing import NDArray

from dgsuite.genval import counters
from dgsuite.genval.report import Found
from dgsuite.genval.rules import search
from dgsuite.genval.rules.base import Job, Outputs, Rule, exactly
from dgsuite.genval.rules.registry import judges
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.checks import components

LONGEST = 1 << 20
"""Most rounds of a run that are looked at."""

ROUNDING = 1e-9
"""By which share of the sum of absolute values masses may differ from the sum."""


@judges("gossip", outputs={"informed": 1})
def gossip(job: Job) -> list[Found]:
    """The root knows the rumour first. Any other node hears of it in the first round in which a call joins it
    to a node that knew before: which neighbour a node calls follows from seed, node and round. Where messages
    were lost or nodes crashed, it may hear of it in a later round with such a call. All nodes that have not
    crashed hear of it.
    """
    (informed,) = job.integers("informed")
    nodes, root = np.arange(job.n), job.root()
    mode, seed = str(job.fact("mode", "push-pull")), int(job.fact("seed", 101))
    faults = job.given("crashed") is not None or job.given("lost") is not None
    strange = np.where(nodes == root, informed != 0, (informed < 1) & (informed != -1))
    wrong = strange | (informed > LONGEST)
    told = (lambda i: "0 rounds" if i == root else f"1 to {LONGEST} rounds, or -1"), informed
    rules: list[Rule] = [
        ("start", wrong, *told),
        ("end", (informed == -1) & job.alive, "a node that knows the rumour", "one that does not"),
    ]
    if wrong.any():
        return [job.found(*rules)]
    for number in range(1, int(informed.max(initial=0)) + 1):
        called = calls(job, seed, number - 1)
        knew = (informed >= 0) & (informed < number)
        hears = np.zeros(job.n, bool)
        if mode != "pull":
            hears[called[knew & (called >= 0)]] = True
        if mode != "push":
            hears |= (called >= 0) & knew[called]
        missed = hears & ~knew & (informed != number) & (not faults)
        unheard = ~hears & (informed == number)
        rules += [
            ("call", missed, f"{number} rounds, by the calls", informed),
            ("call", unheard, f"not {number} rounds, in which no call tells it", informed),
        ]
        if missed.any():
            break
    return [job.found(*rules)]


def calls(job: Job, seed: int, number: int) -> NDArray[np.int64]:
    """The neighbour that each node calls in a round; -1 for none."""
    return job.values(_called, seed=seed, number=number)


def _called(c: Cluster, outputs: Outputs, seed: int, number: int) -> tuple[NDArray, NDArray]:
    """The neighbour that each node of a cluster calls in a round; -1 for none."""
    luck = counters.of_nodes(seed, c.ids, number)
    called = np.full(c.size, -1)
    some = c.degree > 0
    at = c.indptr[:-1] + (luck * c.degree).astype(np.int64)
    called[some] = c.indices[at[some]]
    return c.ids, called


@judges(
    "push_sum",
    outputs={"average": 1, "mass": 1, "weight": 1, "input": 1},
    real=("average", "mass", "weight", "input"),
)
def push_sum(job: Job) -> list[Found]:
    """Masses add up to the sum of the inputs, and weights to the number of nodes, to within rounding; an
    average is mass by weight. If the run ended before its last iteration, averages are as close to the true
    one as its tolerance says. Inputs are those that the run was given, or degrees.
    """
    average, mass, weight, own = job.floats("average", "mass", "weight", "input")
    inputs, right = job.fact("inputs", job.given("inputs")), own
    if inputs is None:
        right = job.values(_degrees)
    elif np.shape(inputs) == (job.n,):
        right = np.asarray(inputs, np.float64)
    total = fsum(own)
    quotient = average.copy()
    np.divide(mass, weight, out=quotient, where=weight > 0)
    rules: list[Rule] = [
        ("input", ~(own == right), right, own),
        ("weight", ~(weight >= 0), "at least 0", weight),
        ("average", ~(average == quotient), quotient, average),
    ]
    rounds = job.given("round")
    if rounds is None or len(rounds) < int(job.fact("iterations", 1000)):
        tolerance = float(job.fact("tolerance", 1e-6)) + ROUNDING
        near = tolerance * float(np.abs(own).max(initial=0))
        true = total / max(job.n, 1)
        told = f"{true}, or up to {near} from it"
        rules.append(("average", ~(np.abs(average - true) <= near), told, average))
    moved = not abs(fsum(mass) - total) <= ROUNDING * fsum(np.abs(own))
    weighed = not abs(fsum(weight) - job.n) <= ROUNDING * job.n
    return [
        job.found(*rules),
        job.whole("mass", moved, f"masses that add up to {total}", f"{fsum(mass)}"),
        job.whole("weight", weighed, f"weights that add up to {job.n}", f"{fsum(weight)}"),
    ]


def _degrees(c: Cluster, outputs: Outputs) -> tuple[NDArray, NDArray]:
    return c.ids, c.degree


@judges("snapshot", outputs={"input": 1, "recorded": 1, "in_transit": 1, "when": 1, "done": 1})
def snapshot(job: Job) -> Iterator[list[Found]]:
    """All nodes that the root reaches and that have not crashed are done, and together with what is in
    transit they have as much money as at first. Without faults a node records as many rounds after the root
    as it is hops away. What it has then, and what its neighbours have sent it before they record and it gets
    later, follows from seed and rounds.
    """
    outputs, root = job.outputs, job.root()
    part = components(job.graph)
    reached = part == part[root]
    done, recorded, transit = (outputs[name] for name in ("done", "recorded", "in_transit"))
    first, inputs = outputs["input"], job.fact("inputs", 100)
    wanted = job.by_node("inputs", first if isinstance(inputs, str) else np.full(job.n, inputs))
    total = int(first[reached].sum())
    counted = int(recorded[reached & (recorded >= 0)].sum() + transit.sum())
    told = np.where(reached, "a part that is complete", "none, out of the root's reach")
    unlike = job.alive & ((done != 0) != reached)
    found = [
        job.found(exactly("input", first, wanted), ("done", unlike, told, done)),
        job.whole("conservation", counted != total, f"{total} in all, as at first", str(counted)),
    ]
    if job.given("crashed") is not None or job.given("lost") is not None:
        yield found
        return
    after = job.integer("after", 4, 0, 1 << 20)
    hops = np.where(reached, outputs["when"] - after, outputs["when"])
    yield [*found, *search.bf(job.with_outputs({"distance": hops}))]
    had, sent = _paid(job, first.copy(), outputs["when"])
    yield [
        job.found(
            exactly("recorded", recorded, np.where(reached, had, -1)),
            exactly("in transit", transit, np.where(reached, sent, 0)),
        )
    ]


def _paid(job: Job, money: NDArray[np.int64], when: NDArray) -> tuple[NDArray, NDArray]:
    """By node what it has when it records, and what it then gets that was sent before the sender recorded."""
    seed, had, late = int(job.fact("seed", 101)), money * 0, money * 0
    arriving, nodes = money * 0, np.arange(job.n)
    for now in range(int(when.max(initial=-1)) + 1):
        had[when == now] = money[when == now]
        money += arriving
        to = calls(job, seed, 2 * now + 1)
        luck = counters.of_nodes(seed, nodes, 2 * now)
        amount = np.where(to < 0, 0, (luck * (money + 1)).astype(np.int64))
        paid, arriving = np.flatnonzero(amount), money * 0
        money -= amount
        np.add.at(arriving, to[paid], amount[paid])
        early = paid[(when[paid] > now) & (when[to[paid]] <= now + 1)]
        np.add.at(late, to[early], amount[early])
    return had, late
