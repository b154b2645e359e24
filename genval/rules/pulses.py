"""Synchronisers: when nodes begin their pulses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.base.mixing import Domain, key, keyed
from dgsuite.base.ticks import Law
from dgsuite.genval.report import Found
from dgsuite.genval.rules import search
from dgsuite.genval.rules.base import Job, Outputs, collect, ends, exactly
from dgsuite.genval.rules.registry import judges
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.views import both_ways

MESSAGE, SAFE, GO = range(3)
"""What is sent along an edge, as it counts in keys of random numbers. An acknowledgement has the other half
of the bits of its message."""

LAW = {"delay": 1, "low": 1, "high": 10, "p": 0.5}
"""Parameters of delays, and their defaults."""

KINDS = ("uniform", "geometric", "weight")
"""Delays that are no numbers of ticks."""

Values = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Some nodes, and a value of each."""


@judges("alpha", outputs={"time": 1})
def alpha(job: Job) -> list[Found]:
    """Nodes are safe when their messages are acknowledged, and begin a pulse when they and their neighbours
    are safe.
    """
    job, facts = _facts(job)

    def step(safe: NDArray, now: dict[str, Any]) -> NDArray:
        return job.values(_all_safe, safe=safe, facts=now)

    return _pulses(job, facts, step)


@judges("beta", outputs={"time": 1, "parent": 1})
def beta(job: Job) -> Iterator[list[Found]]:
    """Nodes are safe when their messages are acknowledged; that all are goes up a tree of fewest hops from
    the root, and the next pulse down.
    """
    job, facts = _facts(job)
    parent = job.outputs["parent"]
    depth = _depths(parent, job.root())
    yield [*search.dst(job.with_outputs({"distance": depth, "parent": parent}))]
    order = np.argsort(depth, kind="stable")
    layers = np.split(order, np.cumsum(np.bincount(depth))[:-1])[1:]

    def step(time: NDArray, now: dict[str, Any]) -> NDArray:
        up = job.values(_along_tree, sent=SAFE, facts=now)
        down = job.values(_along_tree, sent=GO, facts=now)
        for nodes in layers[::-1]:
            np.maximum.at(time, parent[nodes], time[nodes] + up[nodes])
        for nodes in layers:
            time[nodes] = time[parent[nodes]] + down[nodes]
        return time

    yield _pulses(job, facts, step)


def _pulses(
    job: Job, facts: dict[str, Any], step: Callable[[NDArray, dict[str, Any]], NDArray]
) -> list[Found]:
    """Violations of the rule that a step leads from when nodes are safe to when they begin the next pulse."""
    time, last = np.zeros(job.n, np.int64), []
    for pulse in range(facts["rounds"]):
        now = {**facts, "pulse": pulse}
        time = step(job.values(_safe, time=time, facts=now), now)
        node = int(time.argmax()) if job.n else -1
        last.append((node, int(time[node]) if job.n else 0))
    return _compared(job, time, last)


def _depths(parent: NDArray, root: int) -> NDArray[np.int64]:
    """Hops of each node to the root by way of parents; as many for all that lead to the same cycle."""
    nodes = np.arange(len(parent))
    up = np.where(nodes == root, root, parent).clip(0, len(parent) - 1)
    depth = (nodes != root).astype(np.int64)
    for _ in range(len(parent).bit_length()):
        depth += depth[up]
        up = up[up]
    return depth


def _along_tree(c: Cluster, outputs: Outputs, sent: int, facts: dict[str, Any]) -> Values:
    """How long what goes between each node and its parent takes: up the tree, or down."""
    rows = np.flatnonzero(outputs["parent"][c.ids] >= 0)
    parent, ids = outputs["parent"][c.ids[rows]], c.ids[rows]
    src, dst = (ids, parent) if sent == SAFE else (parent, ids)
    if facts["delay"] == "weight":
        wait = _weights(c)[int(sent == GO)][c.entries(rows, parent)]
    else:
        wait = _law(facts).ticks(_words(sent, dst, src, facts))
    return ids, wait + _longer(src, dst, facts)


def _facts(job: Job) -> tuple[Job, dict[str, Any]]:
    """The job on edges that go both ways, and the parameters of the run."""
    if job.graph.directed:
        job = job.on(both_ways(job.graph))
    facts = {name: job.fact(name, default) for name, default in LAW.items()}
    facts["late"] = job.fact("late", ())
    if isinstance(facts["late"], str):
        raise InputError(
            f"late={facts['late']} was longer than the result lists: its times cannot be validated"
        )
    if isinstance(facts["delay"], str) and facts["delay"] not in KINDS:
        raise InputError(
            f"delay={facts['delay']!r} was a function, of which the result has the name alone: its times "
            "cannot be validated"
        )
    facts["seed"] = int(job.fact("seed", 101))
    facts["rounds"] = job.integer("rounds", 1, 1, 1 << 62)
    return job, facts


def _words(sent: int, first: NDArray, second: NDArray, facts: dict[str, Any]) -> NDArray[np.uint64]:
    """The random words that delays depend on: by the node that waits, and its neighbour."""
    use = key(facts["seed"], facts["pulse"] * 3 + sent, Domain.DELAYS)
    return keyed(keyed(use, first), second)


def _longer(src: NDArray, dst: NDArray, facts: dict[str, Any]) -> NDArray[np.int64]:
    """How much longer messages of a pulse take."""
    found = np.zeros(len(src), np.int64)
    for pulse, node, other, ticks in facts["late"]:
        if pulse == facts["pulse"]:
            struck = (src == node) & ((dst == other) | (other == -1))
            found[struck] = np.maximum(found[struck], ticks)
    return found


def _law(facts: dict[str, Any]) -> Law:
    return Law.of(*(facts[name] for name in LAW))


def _weights(c: Cluster) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Weights as delays, along entries of the adjacency and back."""
    ways = c.weights, c.weights if c.weights_in is None else c.weights_in
    return np.asarray(ways[0], np.int64), np.asarray(ways[1], np.int64)


def _safe(c: Cluster, outputs: Outputs, time: NDArray, facts: dict[str, Any]) -> Values:
    row, other = ends(c)
    if facts["delay"] == "weight":
        there, back = _weights(c)
    else:
        words = _words(MESSAGE, c.ids[row], other, facts)
        there, back = _law(facts).ticks(words), _law(facts).ticks(words << np.uint64(32))
    there = there + _longer(c.ids[row], other, facts)
    back = back + _longer(other, c.ids[row], facts)
    safe = time[c.ids]
    np.maximum.at(safe, row, safe[row] + there + back)
    return c.ids, safe


def _all_safe(c: Cluster, outputs: Outputs, safe: NDArray, facts: dict[str, Any]) -> Values:
    row, other = ends(c)
    begun = safe[c.ids]
    if facts["delay"] == "weight":
        wait = _weights(c)[1]
    else:
        wait = _law(facts).ticks(_words(SAFE, c.ids[row], other, facts))
    np.maximum.at(begun, row, safe[other] + wait + _longer(other, c.ids[row], facts))
    return c.ids, begun


def _compared(job: Job, time: NDArray, last: list[tuple[int, int]]) -> list[Found]:
    """Nodes that begin at another tick, and nodes that begin last in a pulse that ends at another tick."""
    found = [job.found(exactly("time", job.outputs["time"], time))]
    by_pulse = job.given("pulse_time")
    if by_pulse is None or not job.n:
        return found
    if by_pulse.shape != (len(last),):
        raise InputError(
            f"'pulse_time' must have one value for each of {len(last)} pulses, got shape {by_pulse.shape}"
        )
    node, tick = np.array(last).T
    return [*found, collect(node, exactly("pulse_time", by_pulse, tick))]
