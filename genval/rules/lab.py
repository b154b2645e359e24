"""Self-stabilisation and consensus: kernels of the laboratory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import Job, Rule, collect


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
        ("range", (value < 0) | (value >= k), lambda i: f"0 to {k - 1}", lambda i: str(value[i])),
        (
            "one privilege",
            second,
            lambda i: "one privileged node",
            lambda i: str(np.count_nonzero(privileged)),
        ),
        (
            "moves",
            (moves < 0) | (moves > before),
            lambda i: f"0 to {before[i]}, one more than the predecessor's",
            lambda i: str(moves[i]),
        ),
        ("all moves", many, lambda i: f"0 to {most}", lambda i: str(moves.sum())),
        ("counting", counted, lambda i: f"{moves[i]} modulo {k}", lambda i: str(value[i])),
    )
    return [found, *_falling(job)]


def _falling(job: Job) -> list[Found]:
    """Whether privileges, where they are counted, never rise, and end with one."""
    given = job.given("privileges")
    if given is None:
        return []
    rises = np.flatnonzero(np.diff(given) > 0) + 1
    legitimate = len(given) > 0 and given[-1] == 1 and (given > 0).all()
    return [
        collect(
            np.zeros(1, np.int64),
            (
                "closure",
                np.array([len(rises) > 0]),
                lambda i: "privileges that never rise",
                lambda i: f"more in round {rises[0]} than in the one before",
            ),
            (
                "legitimacy",
                np.array([not legitimate]),
                lambda i: "a privilege in each round, and one in the last",
                lambda i: str(given.tolist()),
            ),
        )
    ]


def phase_king(job: Job) -> list[Found]:
    """Nodes that have not crashed decide alike; if all nodes have the same input, on that. Inputs are those
    that the run was given.
    """
    return [collect(np.arange(job.n), *_agreement(job))]


def benor(job: Job) -> list[Found]:
    """As `phase_king`, and each at most one round after the first, or in the first round if all nodes have
    the same input.
    """
    given, decided, live = job.outputs["input"], job.outputs["decided"], _live(job)
    first = int(min(decided[live & (decided >= 0)], default=0))
    latest = 0 if (given == given[:1]).all() else first + 1
    delay = (
        "delay",
        live & ((decided < 0) | (decided > latest)),
        lambda i: f"decided in round {latest} at the latest",
        lambda i: f"in round {decided[i]}",
    )
    return [collect(np.arange(job.n), *_agreement(job), delay)]


def _live(job: Job) -> NDArray[np.bool_]:
    """Nodes that have not crashed."""
    crashed = job.given("crashed")
    return np.ones(job.n, bool) if crashed is None else crashed < 0


def _agreement(job: Job) -> list[Rule]:
    decision, given, live = job.outputs["decision"], job.outputs["input"], _live(job)
    agreed = next(iter(decision[live & (decision >= 0)]), 0)
    wanted = job.by_node("inputs", given)
    return [
        ("input", given != wanted, lambda i: str(wanted[i]), lambda i: str(given[i])),
        ("flag", (given != 0) & (given != 1), lambda i: "0 or 1", lambda i: str(given[i])),
        (
            "agreement",
            live & (decision != agreed),
            lambda i: f"decision {agreed}, as of the first",
            lambda i: str(decision[i]),
        ),
        (
            "validity",
            live & ~np.isin(decision, given),
            lambda i: "the input of a node",
            lambda i: str(decision[i]),
        ),
    ]
