"""The log of a run: what it holds, and how little memory it takes."""

import gc
import struct
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

from dgsuite.core.engine.log import Log
from dgsuite.core.engine.program import Step, Tally, reduce_votes
from dgsuite.core.executors import serial
from dgsuite.kernels import KERNELS
from dgsuite.kernels.bsp import vote
from dgsuite.partition.graph.graph import Graph

BOUND = 250
"""Bytes of the log for each phase of a run on one cluster."""


def test_the_log_takes_few_bytes_for_each_phase():
    n = 500
    nodes = np.arange(n)
    ring = Graph.from_edges(nodes, (nodes + 1) % n, n=n, clusters=1)
    kernel = KERNELS["lcr"](faithful=True)
    serial.run(kernel, ring.parts)  # what is made once, such as the halo, is there already
    gc.collect()
    tracemalloc.start()
    try:
        outputs, log = serial.run(kernel, ring.parts)
        del outputs
        gc.collect()
        phases = len(log)
        before, _ = tracemalloc.get_traced_memory()
        del log  # other threads, such as a client's, have memory of their own
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert phases == 2 * n
    assert 100 * phases < before - after < BOUND * phases


def filled(clusters: int, votes: list) -> Log:
    """A log of a phase for each vote."""
    log = Log(clusters, seconds=float(clusters))
    for number, said in enumerate(votes):
        tally = Tally(messages=number + clusters, toil=0.5, vote=said)
        if number:
            tally.note({"examined": number})
        step = Step(number // 2, ("send", "read")[number % 2], number % 2 == 1, number // 2)
        times = [float(number + k) for k in range(clusters)]
        log.add(step, tally, times, [2 * t for t in times], 0.25)
    return log


VOTES = [vote(any=True), vote(sum=np.array([0.5])), vote(min=-0.0), vote(max=1 << 80)]


def test_a_log_keeps_votes_exactly():
    log = filled(1, VOTES)
    assert log.votes == VOTES
    assert isinstance(log.votes[1].sum, Fraction)
    assert log.votes_of(1) == VOTES[2:]
    assert log.votes_of(0) == VOTES[:2]
    assert log.votes_of(2) == []
    assert [(step.phase, v) for step, v in log.replies()] == [
        ("read", reduce_votes(VOTES[:2])),
        ("read", reduce_votes(VOTES[2:])),
    ]


def test_a_count_beyond_64_bits_is_an_error():
    log = Log(1)
    with pytest.raises(struct.error):
        log.add(Step(0, "send", True, 0), Tally(messages=1 << 64), [0.0], [0.0], 0.0)
