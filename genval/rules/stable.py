"""Self-stabilising kernels: what they come to is what others find, and takes no more moves than is proved."""

from __future__ import annotations

import numpy as np

from dgsuite.genval.report import Found
from dgsuite.genval.rules import search, sets
from dgsuite.genval.rules.base import Job, Outputs, collect, says
from dgsuite.genval.rules.registry import judges
from dgsuite.partition.clusters.cluster import Cluster

ONE = ("central", "largest", "busiest")
"""Daemons that pick one node."""


@judges("stable_bfs", outputs={"level": 1, "parent": 1, "moves": 1})
def stable_bfs(job: Job) -> list[Found]:
    """A tree of fewest hops, as `dst`."""
    outputs = {"distance": job.outputs["level"], "parent": job.outputs["parent"]}
    return [*search.dst(job.with_outputs(outputs)), *_moves(job)]


@judges("stable_mis", outputs={"in_mis": 1, "moves": 1})
def stable_mis(job: Job) -> list[Found]:
    """A maximal independent set. A node moves at most three times by Turau's protocol: it may leave, and wait
    again, and joins or leaves for good. By Shukla's it moves twice, if one node moves at a time.
    """
    limit: int | None = 3
    if job.fact("protocol", "turau") == "shukla":
        limit = 2 if job.fact("daemon") in ONE else None
    return [*sets.mis(job), *_moves(job, limit)]


@judges("stable_colouring", outputs={"colour": 1, "moves": 1})
def stable_colouring(job: Job) -> list[Found]:
    """A greedy colouring. If one node moves at a time, it moves once, and then to smaller colours."""
    found = [*sets.colouring(job), *_moves(job)]
    if job.fact("daemon") in ONE and (times := _times(job)):
        found += job.each(_falls, times=times)
    return found


@judges("stable_matching", outputs={"mate": 1, "moves": 1})
def stable_matching(job: Job) -> list[Found]:
    """A maximal matching. By Hsu's and Huang's protocol there are at most 2 m + n moves, if one node moves at
    a time.
    """
    found = [*sets.matching(job), *_moves(job)]
    one = job.fact("daemon") in ONE and job.fact("protocol") == "hsu-huang"
    if one and (times := _times(job)):
        most, moved = times * (2 * job.graph.m + job.n), int(job.outputs["moves"].sum())
        found.append(job.whole("all moves", moved > most, f"{most} at most", str(moved)))
    return found


@judges("token_ring", outputs={"value": 1, "moves": 1})
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
    limits = says("0 to {}, one more than the predecessor's", before)
    found = collect(
        nodes,
        ("range", (value < 0) | (value >= k), f"0 to {k - 1}", value),
        ("one privilege", second, "one privileged node", str(np.count_nonzero(privileged))),
        ("moves", (moves < 0) | (moves > before), limits, moves),
        ("all moves", many, f"0 to {most}", str(moves.sum())),
        ("counting", counted, says(f"{{}} modulo {k}", moves), value),
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


def _times(job: Job) -> int:
    """How often the run has begun anew, by the start and by faults; 0 where messages may be lost."""
    return 0 if job.fact("network") is not None else 1 + len(job.fact("faults") or ())


def _moves(job: Job, limit: int | None = None) -> list[Found]:
    """That nodes move so often at most; and where it is told by round, that as many have moved, and that no
    node is enabled at the end.
    """
    moves, times = job.outputs["moves"], _times(job)
    most = np.iinfo(np.int64).max if limit is None or not times else limit * times
    told = "0 or more" if limit is None else f"0 to {most}"
    found = [job.found(("moves", (moves < 0) | (moves > most), told, moves))]
    moved, enabled = job.given("moved"), job.given("enabled")
    if moved is not None and enabled is not None and job.n:
        total, counted, left = int(moves.sum()), int(moved.sum()), int(enabled[-1])
        of_all, of_rounds = f"{total} moves, as of all nodes", f"{counted} in all rounds"
        found += [
            job.whole("moved", counted != total, of_all, of_rounds),
            job.whole("silence", left, "no enabled node", str(left)),
        ]
    return found


def _falls(c: Cluster, outputs: Outputs, times: int) -> Found:
    moves, most = outputs["moves"][c.ids], times * (1 + c.degree.astype(np.int64))
    return collect(c.ids, ("moves", moves > most, lambda i: f"{most[i]} at most", moves))
