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
    found = job.found(
        exactly("input", own, job.by_node("inputs", unlisted)),
        ("agreement", decided & (decision != first), f"{first}, as of the first, or -1", decision),
        ("validity", decided & ~np.isin(decision, own), "the input of a node", decision),
    )
    return [found]


@judges("raft", outputs={"log": 2, "log_term": 2, "committed": 1, "led": 1}, sampled=True)
def raft(job: Job) -> list[Found]:
    """No two nodes lead a term, entries are those of the leaders of their terms, terms do not fall along a
    log, and entries that are committed are the same at all nodes.
    """
    log, term, committed, led = job.integers("log", "log_term", "committed", "led")
    there, order, first = term > 0, np.argsort(led), int(np.argmax(committed))
    _, group, count = np.unique(led, return_inverse=True, return_counts=True)
    twice = (led < 0) | ((led > 0) & (count[group] > 1))
    leader = order[np.searchsorted(led[order], term).clip(max=job.n - 1)]
    # a leader that has crashed may have forgotten what it has led
    foreign = (there & (led[leader] == term) & (log != leader)).any(axis=1)
    foreign |= job.alive.all() & (term > led.max()).any(axis=1)
    falls = np.diff(np.where(there, term, FAR), axis=1) < 0
    unlike = (log != log[first]) | (term != term[first])
    unlike &= np.arange(log.shape[1]) < committed[:, None]
    none = ((there != (log >= 0)) | (log >= job.n)).any(axis=1)
    long = (committed < 0) | (committed > there.sum(axis=1))
    found = job.found(
        ("leader", twice, "a term that no other node has led, or 0", led),
        ("entry", none, "a node and its term, or -1 and 0", says("{}, {}", log, term)),
        ("origin", foreign, "entries by the leaders of their terms", says("{}", log)),
        ("terms", falls.any(axis=1), "terms that do not fall, and then none", says("{}", term)),
        ("committed", long, "no more than there are entries", committed),
        ("agreement", unlike.any(axis=1), f"what node {first} has committed", says("{}", log)),
    )
    return [found]


@judges("abd", outputs=dict.fromkeys(("begin", "end", "writes", "value"), 2), sampled=True)
def abd(job: Job) -> list[Found]:
    """A node's operations follow each other. A read returns 0, or what a write wrote that began before it
    ended, and nothing older than what an operation wrote or read that had ended before it began. This is
    necessary for a linearizable history.
    """
    begin, end, value = job.integers("begin", "end", "value")
    over, writes, size = end >= 0, job.outputs["writes"] != 0, begin.size
    own = 1 + np.arange(begin.shape[1]) * job.n + np.arange(job.n)[:, None]
    wrong = np.where(begin >= 0, writes & (value != own), value != -1)
    # when each value was written: 0 is there from the beginning, others than those of writes never
    since, until = np.full((2, size + 2), FAR)
    since[0] = until[0] = -1
    wrote = writes & (begin >= 0) & ~wrong
    since[own[wrote]], until[own[wrote]] = begin[wrote], np.where(over, end, FAR)[wrote]
    at = np.where((value < 0) | (value > size), size + 1, value)
    unwritten = over & ~writes & (since[at] > end)
    # what an operation that has ended before another one begins has seen at the latest
    done = over & ~wrong & ~unwritten
    order = np.argsort(end[done])
    seen = np.append(-1, np.maximum.accumulate(since[at[done][order]]))
    stale = done & ~writes & (until[at] < seen[np.searchsorted(end[done][order], begin)])
    values = says("{}", value)
    found = job.found(
        ("order", _disordered(begin, end, 0), "one after the other", says("{} to {}", begin, end)),
        ("write", wrong.any(axis=1), "values of its own, -1 for none", values),
        ("read", unwritten.any(axis=1), "values that were written by then", values),
        ("stale", stale.any(axis=1), "no values older than some seen before", values),
    )
    return [found]


@judges("ricart_agrawala", "lamport_mutex", outputs={"enter": 2, "leave": 2}, sampled=True)
def mutex(job: Job) -> list[Found]:
    """A node's stays follow each other, and no two nodes are inside at a tick. A node that never leaves is
    inside for good.
    """
    enter, leave = job.integers("enter", "leave")
    stays = says("{} to {}", enter, leave)
    crowded = marked(job.n, overlapping(enter, leave) // enter.shape[1])
    found = job.found(
        ("order", _disordered(enter, leave, 1), "one stay after the other", stays),
        ("exclusion", crowded, "stays while nobody else is inside", stays),
    )
    return [found]


def overlapping(enter: NDArray, leave: NDArray) -> NDArray[np.int64]:
    """Stays that begin while an earlier one lasts: indices into the flattened arrays; -1 stands for never."""
    begin, end = enter.ravel(), np.where(leave < 0, FAR, leave).ravel()
    stays = np.flatnonzero(begin >= 0)
    stays = stays[np.argsort(begin[stays])]
    return stays[1:][begin[stays][1:] < np.maximum.accumulate(end[stays])[:-1]]


def _disordered(begin: NDArray, end: NDArray, least: int) -> NDArray[np.bool_]:
    """By node, whether what it does one after the other is not in order, or takes less than some ticks."""
    began, over = begin >= 0, end >= 0
    wrong = (begin < -1) | (end < -1) | (over & (~began | (end - begin < least)))
    wrong[:, 1:] |= began[:, 1:] & (~over[:, :-1] | (begin[:, 1:] <= end[:, :-1]))
    return wrong.any(axis=1)


@judges("bracha", outputs={"delivered": 1, "tick": 1})
def bracha(job: Job) -> list[Found]:
    """Nodes that live and do not lie deliver the same or nothing: what the sender says, if it does not lie.
    Without faults they deliver something, unless `f` is a third of the nodes or more.
    """
    value, tick, right = job.outputs["delivered"], job.outputs["tick"], job.right
    first = next(iter(value[right & (value >= 0)]), -1)
    if job.honest[job.node(job.fact("sender", 0))]:
        first = job.integer("value", 1, 0, 1)
    must = job.given("crashed") is None and 3 * job.integer("f", 0, 0, job.n) < job.n
    wrong = right & (value != first) & ((value != -1) | must)
    found = job.found(
        ("delivered", wrong, f"{first}, as others" + ", or -1" * (not must), value),
        ("tick", (tick < -1) | ((tick < 0) != (value < 0)), "a tick, -1 for never", tick),
    )
    return [found]


@judges("itai_rodeh", outputs={"leader": 1, "phase": 1})
def itai_rodeh(job: Job) -> list[Found]:
    """There is one leader at most; without faults there is one, and no node has come to a later phase."""
    leader, phase = job.integers("leader", "phase")
    count, steady, early = int(leader.sum()), job.given("crashed") is None, (phase < 1) & job.alive
    if steady:
        early |= phase > phase[np.argmax(leader)]
    many = count > 1 or (steady and count < 1)
    found = job.found(("phase", early, "a phase from 1 to the leader's", phase))
    return [found, job.whole("leaders", many, "one leader", f"{count}")]
