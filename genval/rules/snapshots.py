"""Snapshots of money that nodes send each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.genval import counters
from dgsuite.genval.report import Found
from dgsuite.genval.rules import search
from dgsuite.genval.rules.base import Job, exactly
from dgsuite.genval.rules.rumours import calls
from dgsuite.partition.graph.checks import components


def snapshot(job: Job) -> list[Found]:
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
    found = [
        job.found(
            exactly("input", first, wanted),
            ("done", job.alive & ((done != 0) != reached), told, done),
        ),
        job.whole("conservation", counted != total, f"{total} in all, as at first", str(counted)),
    ]
    if job.given("crashed") is not None or job.given("lost") is not None:
        return found
    after = job.integer("after", 4, 0, 1 << 20)
    hops = np.where(reached, outputs["when"] - after, outputs["when"])
    found += search.bf(job.with_outputs({"distance": hops}))
    if any(each.total for each in found):
        return found
    had, sent = _paid(job, first.copy(), outputs["when"])
    return [
        *found,
        job.found(
            exactly("recorded", recorded, np.where(reached, had, -1)),
            exactly("in transit", transit, np.where(reached, sent, 0)),
        ),
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
