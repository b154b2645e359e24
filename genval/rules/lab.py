"""Self-stabilisation and consensus: kernels of the laboratory."""

from __future__ import annotations

import numpy as np

from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import Job, Rule, collect, exactly


def token_ring(job: Job) -> list[Found]:
    """One node is privileged, and values are below k. A node moves at most once more than its predecessor,
    since it copies what that has come to, and all together as often as is proved. From the legitimate start
    values are the moves, modulo k. If privileges were counted by round, they never rise, and end with one.
    """
    value, moves, n = job.outputs["value"], job.outputs["moves"], job.n
    k, after = int(job.fact("k", n + 1)), int(job.fact("after", 10))
    nodes = np.arange(n)
    before = np.roll(moves, 1) + 1
    privileged = (value == np.roll(value, 1)) == (nodes == 0)
    second = privileged & (np.cumsum(privileged) > 1)
    second[0] |= not privileged.any()
    most = 3 * n * (n - 1) // 2 + after
    many = np.full(n, k >= n and not 0 <= int(moves.sum()) <= most) & (nodes == 0)
    counted = np.full(n, job.fact("begin") == "legitimate") & (value != moves % k)
    found = collect(
        nodes,
        ("range", (value < 0) | (value >= k), f"0 to {k - 1}", value),
        ("one privilege", second, "one privileged node", str(np.count_nonzero(privileged))),
        (
            "moves",
            (moves < 0) | (moves > before),
            lambda i: f"0 to {before[i]}, one more than the predecessor's",
            moves,
        ),
        ("all moves", many, f"0 to {most}", str(moves.sum())),
        ("counting", counted, lambda i: f"{moves[i]} modulo {k}", value),
    )
    return [found, *_falling(job)]


def _falling(job: Job) -> list[Found]:
    """Whether privileges, where they are counted, never rise, and end with one."""
    given = job.given("privileges")
    if given is None:
        return []
    rises = np.flatnonzero(np.diff(given) > 0) + 1
    legitimate = len(given) > 0 and given[-1] == 1 and (given > 0).all()
    rise = f"more in round {rises[0]} than in the one before" if len(rises) else ""
    once = "a privilege in each round, and one in the last"
    return [
        job.whole("closure", len(rises), "privileges that never rise", rise),
        job.whole("legitimacy", not legitimate, once, str(given.tolist())),
    ]


def phase_king(job: Job) -> list[Found]:
    """Nodes that have not crashed decide alike; if all nodes have the same input, on that. Inputs are those
    that the run was given.
    """
    return [job.found(*_agreement(job))]


def benor(job: Job) -> list[Found]:
    """As `phase_king`, and each at most one round after the first, or in the first round if all nodes have
    the same input.
    """
    given, decided, live = job.outputs["input"], job.outputs["decided"], job.alive
    first = int(min(decided[live & (decided >= 0)], default=0))
    latest = 0 if (given == given[:1]).all() else first + 1
    delay = (
        "delay",
        live & ((decided < 0) | (decided > latest)),
        f"decided in round {latest} at the latest",
        lambda i: f"in round {decided[i]}",
    )
    return [job.found(*_agreement(job), delay)]


def _agreement(job: Job) -> list[Rule]:
    decision, given, live = job.outputs["decision"], job.outputs["input"], job.alive
    agreed = next(iter(decision[live & (decision >= 0)]), 0)
    return [
        exactly("input", given, job.by_node("inputs", given)),
        ("flag", (given != 0) & (given != 1), "0 or 1", given),
        ("agreement", live & (decision != agreed), f"decision {agreed}, as of the first", decision),
        ("validity", live & ~np.isin(decision, given), "the input of a node", decision),
    ]
