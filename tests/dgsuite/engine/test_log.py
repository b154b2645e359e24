"""The log of a run and least offers take little memory: offers have 32 bits where all fit, else 64."""

import gc
import struct
import tracemalloc

import numpy as np
import pytest

import dgsuite
from dgsuite.base import thresholds
from dgsuite.core.engine.log import Log
from dgsuite.core.engine.offers import LARGEST, NONE, Offers
from dgsuite.core.engine.program import Step, Tally
from dgsuite.core.executors import serial
from dgsuite.kernels import KERNELS
from dgsuite.partition.clusters.halo import make_halo
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


def test_a_count_beyond_64_bits_is_an_error():
    log = Log(1)
    with pytest.raises(struct.error):
        log.add(Step(0, "send", True, 0), Tally(messages=1 << 64), [0.0], [0.0], 0.0)


@pytest.fixture
def offers(monkeypatch):
    """Makes the offers of a graph, as if it were large."""
    monkeypatch.setattr(thresholds, "compile_from", -1)

    def make(weights):
        graph = Graph.from_edges([0, 0, 1], [1, 2, 2], weights=weights, clusters=1)
        return Offers(make_halo(graph.parts, np.array([0, 1]), 0))

    return make


def taken(offers, **sent):
    values = np.zeros(3)
    nodes = np.array([int(name[1]) for name in sent])
    values[nodes] = [*sent.values()]
    rows = offers.take([nodes], values)
    return dict(zip(rows.tolist(), offers.least(rows).tolist(), strict=True))


def is_short(offers):
    return offers._least.dtype == NONE.dtype


@pytest.mark.parametrize("sent", [0.5, -1.0, 2.0**32, 2.0**32 - 3, np.inf])
def test_an_offer_that_does_not_fit_makes_them_longer(offers, sent):
    made = offers(np.array([3, 1, 4]))
    assert taken(made, n0=7.0) == {1: 10.0, 2: 8.0}
    assert is_short(made)
    nearer = {0: min(sent + 3, LARGEST)} | ({2: sent + 4} if sent + 4 < 8 else {})
    assert taken(made, n1=sent) == nearer
    assert not is_short(made)
    assert made.least(slice(1, 2)).tolist() == [10.0]


@pytest.mark.parametrize("factor", [1, 0.5, 2**24, 2**40])
def test_distances_are_the_same_in_every_type(monkeypatch, factor):
    luck = np.random.default_rng(1)
    src, dst = luck.integers(0, 60, (2, 300))
    weights = luck.integers(1, 256, 300)
    plain = dgsuite.run("sssp", Graph.from_edges(src, dst, n=60, weights=weights, duplicates="min"))
    monkeypatch.setattr(thresholds, "compile_from", -1)
    graph = Graph.from_edges(src, dst, n=60, weights=weights * factor, duplicates="min", clusters=3)
    ds = dgsuite.run("sssp", graph)
    np.testing.assert_array_equal(ds.distance, plain.distance * factor)
    np.testing.assert_array_equal(ds.parent, plain.parent)


def test_turns_end_where_the_next_begins():
    """A reply for each turn, after its last phase."""
    ring = Graph.from_edges(np.arange(6), (np.arange(6) + 1) % 6, n=6, clusters=1)
    _, log = serial.run(KERNELS["mis"](), ring.parts)
    ends = np.flatnonzero(np.append(np.diff(log["turn"]), 1))
    assert 1 < len(ends) < len(log)
    assert [step for step, _ in log.replies()] == [[*log.steps][end] for end in ends]
