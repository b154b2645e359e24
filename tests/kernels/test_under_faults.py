"""What kernels of the laboratory tolerate, and what not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import Crash, Network, genval, lab
from dgsuite.partition.graph.graph import Graph
from tests.support.ledger import ledger  # noqa: F401


def complete(n, **how):
    return Graph.from_edges(*np.triu_indices(n, 1), n=n, **how)


def run(name, graph, network, **parameters):
    ds = dgsuite.run(name, graph, style="serial", network=network, **parameters)
    return ds, genval.validate(name, graph, ds)


def thirty(**how):
    """A connected graph of thirty nodes."""
    src, dst = np.random.default_rng(3).integers(0, 30, (2, 60))
    chain = np.arange(29)
    ends = np.concatenate([src, chain]), np.concatenate([dst, chain + 1])
    return Graph.from_edges(*ends, n=30, duplicates="min", **how)


@given(st.data())
def test_floodset_agrees_in_spite_of_f_crashes(data):
    n, f = data.draw(st.integers(1, 7)), data.draw(st.integers(0, 3))
    crashes = [
        Crash(node, data.draw(st.integers(0, f + 1)), partial=data.draw(st.booleans()))
        for node in data.draw(st.sets(st.integers(0, n - 1), max_size=f))
    ]
    network = Network(crashes=crashes, seed=data.draw(st.integers(0, 99)))
    inputs = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    for how in ({}, {"opt": True}, {"early": True}):
        ds, report = run("floodset", complete(n), network, f=f, inputs=inputs, **how)
        assert report.ok, (how, str(report))
        alive = ds.crashed.values < 0
        last = ds.decided.values[alive].max(initial=0)
        happened = int(np.count_nonzero(~alive))
        assert last < (min(happened + 2, f + 1) if "early" in how else f + 1)


def test_floodset_may_fail_with_a_crash_more():
    """A value that reaches one node, which crashes while it passes it on: some nodes never see it."""
    chain = [Crash(0, 0, partial=True), Crash(1, 1, partial=True)]
    inputs = [1, 0, 0, 0]
    networks = [Network(crashes=chain, seed=seed) for seed in range(40)]
    broken = 0
    for network in networks:
        _, report = run("floodset", complete(4), network, f=1, inputs=inputs, default=1)
        broken += "agreement" in str(report)
        assert run("floodset", complete(4), network, f=2, inputs=inputs, default=1)[1].ok
    assert broken > 0


def test_a_search_finds_how_floodset_fails():
    """One of three nodes crashes while it sends: with one round another node alone hears of its value."""
    how = {"graphs": "complete", "faults": ("crashes",), "default": 1}
    found = lab.search("floodset", f=0, **how)
    assert found.graph.n == 3
    assert "agreement" in found.why
    assert lab.search("floodset", f=1, most=1, tries=100, **how) is None


@given(st.integers(0, 99), st.sampled_from([0.01, 0.1]))
def test_echo_decides_only_when_all_have_answered(seed, loss):
    ds, report = run("echo", thirty(), Network(loss=loss, seed=seed))
    assert report.ok == bool(ds.decided[0]) == (not ds.lost.any())


def test_echo_waits_for_a_node_that_has_crashed():
    ds, report = run("echo", thirty(), Network(crashes={29: 0}))
    assert not ds.decided.any()
    assert not report.ok
    assert ds.attrs["terminated"] == 1  # there is nothing to send


@pytest.mark.parametrize("mode", ["push", "pull", "push-pull"])
def test_gossip_gets_around_where_messages_are_lost(mode):
    for seed in range(5):
        ds, report = run("gossip", thirty(), Network(loss=0.3), mode=mode, seed=seed)
        assert report.ok, str(report)
        assert ds.lost.sum() > 0
        assert (ds.informed >= 0).all()


def test_gossip_goes_on_where_a_node_crashes_before_it_hears():
    ds, report = run("gossip", complete(20), Network(crashes={7: 0}), max_rounds=50)
    assert report.ok, str(report)
    assert ds.attrs["terminated"] == 0
    assert np.flatnonzero(ds.informed < 0).tolist() == [7]


def test_rumours_that_no_call_brings_are_seen_under_faults():
    ds, _ = run("gossip", complete(20), Network(loss=0.1))
    ds.informed[int(ds.informed.argmax())] = 1
    assert "call" in str(genval.validate("gossip", complete(20), ds))


def test_lost_messages_take_their_mass_along():
    network = Network(loss=0.05)
    ds, report = run("push_sum", complete(20), network, iterations=10, inputs=np.arange(20))
    assert ds.mass.sum() < 190
    assert "masses that add up to 190" in str(report)
