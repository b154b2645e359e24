"""What nodes that act on messages and timers agree on, and in what order they act."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import Job, exactly, marked, says
from dgsuite.genval.rules.registry import judges

FAR = np.iinfo(np.int64).max
"""The tick of what does not happen."""


@judges("paxos", "chandra_toueg", outputs={"decision": 1, "input": 1})
def consensus(job: Job) -> list[Found]:
    """Nodes that do not lie decide alike, on the input of one, or not at all; so do those that crash later.
    Inputs are those that the run was given, or node ids.
    """
    decision, own = job.outputs["decision"], job.outputs["input"]
    unlisted = own if isinstance(job.fact("inputs"), str) else np.arange(job.n)
    decided = job.honest & (decision != -1)
    first = next(iter(decision[decided]), -1)
    unlike = decided & (decision != first)
    found = job.found(
        exactly("input", own, job.by_node("inputs", unlisted)),
        ("agreement", unlike, f"decision {first}, as of the first, or none", decision),
        ("validity", decided & ~np.isin(decision, own), "the input of a node", decision),
    )
    return [found]


@judges("raft", outputs={"log": 2, "log_term": 2, "committed": 1, "led": 1}, sampled=True)
def raft(job: Job) -> list[Found]:
    """No two nodes lead a term, entries are those of the leaders of their terms, terms do not fall along a
    log, and entries that are committed are the same at all nodes.
    """
    log, term, committed, led = job.integers("log", "log_term", "committed", "led")
    there, number = term > 0, np.arange(log.shape[1])
    _, group, count = np.unique(led, return_inverse=True, return_counts=True)
    twice = (led < 0) | ((led > 0) & (count[group] > 1))
    order = np.argsort(led)
    leader = order[np.searchsorted(led[order], term).clip(max=job.n - 1)]
    foreign = there & (led[leader] == term) & (log != leader)
    # a leader that has crashed may have forgotten what it has led
    foreign |= job.alive.all() & (term > led.max(initial=0))
    falls = np.diff(np.where(there, term, FAR), axis=1) < 0
    first = int(np.argmax(committed)) if job.n else 0
    apart = (log != log[first]) | (term != term[first])
    unlike = (apart & (number < committed[:, None])).any(axis=1)
    none = (there != (log >= 0)) | (log >= job.n)
    long = (committed < 0) | (committed > there.sum(axis=1))
    found = job.found(
        ("leader", twice, "a term that no other node has led, or 0", led),
        ("entry", none.any(axis=1), "a node and its term, or -1 and 0", says("{}, {}", log, term)),
        ("origin", foreign.any(axis=1), "entries by the leaders of their terms", says("{}", log)),
        ("terms", falls.any(axis=1), "terms that do not fall, and then none", says("{}", term)),
        ("committed", long, "no more than there are entries", committed),
        ("agreement", unlike, f"the entries of node {first}, as far as committed", says("{}", log)),
    )
    return [found]


@judges("abd", outputs=dict.fromkeys(("begin", "end", "writes", "value"), 2), sampled=True)
def abd(job: Job) -> list[Found]:
    """A node's operations follow each other. A read returns 0, or what a write wrote that began before it
    ended, and nothing older than what an operation wrote or read that had ended before it began. This is
    necessary for a linearizable history.
    """
    begin, end, value = job.integers("begin", "end", "value")
    began, over, writes = begin >= 0, end >= 0, job.outputs["writes"] != 0
    own = 1 + np.arange(begin.shape[1]) * job.n + np.arange(job.n)[:, None]
    wrong = np.where(began, writes & (value != own), value != -1)
    # when each value was written: 0 is there from the beginning
    since, until = np.full((2, begin.size + 1), FAR)
    since[0] = until[0] = -1
    wrote = began & writes & (value == own)
    since[value[wrote]] = begin[wrote]
    until[value[wrote]] = np.where(over, end, FAR)[wrote]
    known = (value >= 0) & (value <= begin.size)
    at = np.where(known, value, 0)
    unwritten = over & ~writes & (~known | (since[at] > end))
    # what an operation that has ended before another one begins has seen at the latest
    done = over & ~wrong & ~unwritten
    order = np.argsort(end[done])
    seen = np.append(-1, np.maximum.accumulate(since[at[done][order]]))
    seen = seen[np.searchsorted(end[done][order], begin)]
    stale = done & ~writes & (until[at] < seen)
    found = job.found(
        (
            "order",
            _disordered(begin, end, 0),
            "one operation after the other",
            says("{} to {}", begin, end),
        ),
        ("write", wrong.any(axis=1), "values of its own, -1 for none", says("{}", value)),
        ("read", unwritten.any(axis=1), "values that were written by then", says("{}", value)),
        ("stale", stale.any(axis=1), "no values older than some seen before", says("{}", value)),
    )
    return [found]


@judges("ricart_agrawala", "lamport_mutex", outputs={"enter": 2, "leave": 2}, sampled=True)
def mutex(job: Job) -> list[Found]:
    """A node's stays follow each other, and no two nodes are inside at a tick. A node that never leaves is
    inside for good.
    """
    enter, leave = job.integers("enter", "leave")
    inside = enter >= 0
    node, begin = inside.nonzero()[0], enter[inside]
    end = np.where(leave < 0, FAR, leave)[inside]
    order = np.argsort(begin)
    crowded = begin[order][1:] < np.maximum.accumulate(end[order])[:-1]
    told = says("{} to {}", enter, leave)
    found = job.found(
        ("order", _disordered(enter, leave, 1), "one stay after the other", told),
        (
            "exclusion",
            marked(job.n, node[order][1:][crowded]),
            "stays while nobody else is inside",
            told,
        ),
    )
    return [found]


def _disordered(begin: NDArray, end: NDArray, least: int) -> NDArray[np.bool_]:
    """By node, whether what it does one after the other is not in order, or takes less than some ticks."""
    began, over = begin >= 0, end >= 0
    wrong = (begin < -1) | (end < -1) | (over & (~began | (end - begin < least)))
    wrong[:, 1:] |= began[:, 1:] & (~over[:, :-1] | (begin[:, 1:] <= end[:, :-1]))
    return wrong.any(axis=1)


@judges("bracha", outputs={"delivered": 1, "tick": 1})
def bracha(job: Job) -> list[Found]:
    """Nodes that live and do not lie deliver the same or nothing: what the source says, if it does not lie.
    Without faults they deliver something, unless `f` is a third of the nodes or more.
    """
    delivered, tick, right = job.outputs["delivered"], job.outputs["tick"], job.right
    source = job.node(job.fact("source", 0))
    first = next(iter(delivered[right & (delivered >= 0)]), -1)
    if job.honest[source]:
        first = job.integer("value", 1, 0, 1)
    nothing = job.steady & (3 * job.integer("f", 0, 0, job.n) < job.n)
    wrong = (delivered != first) & ((delivered != -1) | nothing)
    found = job.found(
        (
            "delivered",
            right & wrong,
            f"{first}, as of the first" + ", or -1" * (not nothing),
            delivered,
        ),
        ("tick", (tick < -1) | ((tick < 0) != (delivered < 0)), "a tick, -1 for never", tick),
    )
    return [found]


@judges("itai_rodeh", outputs={"leader": 1, "phase": 1})
def itai_rodeh(job: Job) -> list[Found]:
    """There is one leader at most; without faults there is one, and no node has come to a later phase."""
    leader, phase = job.integers("leader", "phase")
    flags, leaders = (leader != 0) & (leader != 1), np.flatnonzero(leader)
    early = (phase < 1) & job.alive
    if job.steady and len(leaders):
        early |= phase > phase[leaders[0]]
    count = len(leaders) > 1 or (job.steady and not len(leaders))
    found = job.found(
        ("flag", flags, "0 or 1", leader),
        ("phase", early, "a phase from 1 to the leader's", phase),
    )
    return [found, job.whole("leaders", count, "one leader", f"{len(leaders)}")]
