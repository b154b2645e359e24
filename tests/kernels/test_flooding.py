"""Leaders and consensus by flooding, and what crashes and losses do to them."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import Crash, Network, genval, lab
from dgsuite.partition.graph.graph import Graph
from tests.support.cases import graphs
from tests.support.ledger import ledger  # noqa: F401
from tests.support.valid import judged

PATH = Graph.from_edges(np.arange(7), np.arange(1, 8), uid=np.arange(8)[::-1].copy())
"""Eight nodes; the identifiers fall from 7 to 0."""


@given(st.data())
def test_rounds_as_many_as_the_diameter_are_enough(data):
    """Lynch, theorem 4.1; each node knows the largest identifier within as many hops as rounds."""
    _, graph = data.draw(graphs())
    net, opt = graph.to_networkx(), data.draw(st.booleans())
    rounds = data.draw(st.integers(0, 5))
    ds, report = judged("floodmax", graph, iterations=rounds, opt=opt, check=True)
    hops = dict(nx.all_pairs_shortest_path_length(net))
    for v, found in enumerate(ds.leader.values.tolist()):
        assert found == max(u for u, far in hops[v].items() if far <= rounds)
    diameter = max(max(far.values()) for far in hops.values())
    assert report.ok or rounds < diameter
    assert ds.messages.sum() == 2 * graph.m * rounds or opt


@given(st.data())
def test_on_complete_graphs_f_crashes_leave_agreement(data):
    n, f = data.draw(st.integers(1, 7)), data.draw(st.integers(0, 3))
    crashes = [
        Crash(node, data.draw(st.integers(0, f)), partial=data.draw(st.booleans()))
        for node in data.draw(st.sets(st.integers(0, n - 1), max_size=f))
    ]
    network = Network(crashes=crashes, seed=data.draw(st.integers(0, 99)))
    graph = complete(n)
    ds, _ = judged(
        "floodmax", graph, iterations=f + 1, opt=data.draw(st.booleans()), network=network
    )
    alive = ds.crashed.values < 0
    assert len({*ds.leader.values[alive].tolist()}) <= 1


def test_a_leader_that_crashes_after_it_has_told_is_still_believed():
    for number, said in ((0, 6), (1, 7)):
        ds, report = judged("floodmax", PATH, network=Network(crashes={0: number}))
        assert ds.leader.values[1:].tolist() == [said] * 7
        assert report.ok


def test_a_crash_that_parts_the_graph_leaves_two_leaders():
    """Each part agrees on one, which may be the node that crashed."""
    ds, report = judged("floodmax", PATH, network=Network(crashes={4: 1}))
    assert ds.leader.values.tolist() == [7, 7, 7, 7, 4, 3, 3, 3]
    assert report.ok
    ds.leader[6] = 7
    assert "as the others say" in str(genval.validate("floodmax", PATH, ds))


def test_what_is_lost_is_said_again_but_by_optfloodmax():
    found = [
        judged("floodmax", PATH, iterations=40, opt=opt, network=Network(loss=0.2, seed=seed))[1].ok
        for opt in (False, True)
        for seed in range(10)
    ]
    assert all(found[:10])
    assert sum(found[10:]) < 5


def flood(graph, **parameters):
    return dgsuite.run("floodset", graph, style="serial", **parameters)


@given(st.data())
def test_nodes_see_the_values_within_as_many_hops_as_rounds(data):
    _, graph = data.draw(graphs())
    f, seed = data.draw(st.integers(0, 4)), data.draw(st.integers(0, 9))
    ds = flood(graph, f=f, inputs=64, seed=seed)
    net, own = graph.to_networkx(), ds.input.values.tolist()
    for v in net:
        near = nx.single_source_shortest_path_length(net, v, f + 1)
        assert int(ds.seen[v]) == sum({1 << own[u] for u in near})
    assert ds.sizes["round"] == f + 1
    assert (ds.messages == 2 * graph.m).all()


@given(st.data())
def test_two_messages_are_enough(data):
    """OptFloodSet decides as FloodSet does."""
    _, graph = data.draw(graphs())
    inputs, seed = data.draw(st.integers(1, 64)), data.draw(st.integers(0, 9))
    how = {"f": graph.n, "inputs": inputs, "seed": seed}
    plain, opt = flood(graph, **how), flood(graph, **how, opt=True)
    np.testing.assert_array_equal(plain.decision, opt.decision)
    assert int(opt.messages.sum()) <= 4 * graph.m


@pytest.mark.parametrize("n", [1, 2, 9])
@pytest.mark.parametrize("f", [0, 1, 2, 7])
def test_without_crashes_nodes_stop_after_two_rounds(n, f):
    graph = complete(n)
    ds = flood(graph, f=f, inputs=8, early=True)
    assert ds.sizes["round"] == min(2, f + 1)
    assert (ds.decided == min(1, f)).all()
    np.testing.assert_array_equal(ds.decision, flood(graph, f=f, inputs=8).decision)
    assert genval.validate("floodset", graph, ds).ok


def test_rounds_below_the_diameter_may_keep_nodes_apart():
    """Values from the ends of a path of six nodes meet after three rounds, and not after two."""
    graph = Graph.from_edges(np.arange(5), np.arange(1, 6))
    own = [1, 1, 1, 2, 2, 2]
    assert flood(graph, f=1, inputs=own, default=0).decision.values.tolist() == [1, 0, 0, 0, 0, 2]
    report = judged("floodset", graph, f=1, inputs=own)[1]
    assert "agreement" in str(report)
    ds = flood(graph, f=2, inputs=own)
    assert (ds.decision == 0).all()
    assert genval.validate("floodset", graph, ds).ok


def test_values_that_the_dataset_does_not_list():
    graph = Graph.from_edges(np.zeros(5000, np.int64), np.arange(1, 5001))
    ds = flood(graph, inputs=np.arange(5001) % 5)
    assert genval.validate("floodset", graph, ds).ok
    ds.decision[9] = 4
    assert not genval.validate("floodset", graph, ds).ok


def complete(n):
    return Graph.from_edges(*np.triu_indices(n, 1), n=n, clusters=2)


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
        ds, report = judged("floodset", complete(n), network=network, f=f, inputs=inputs, **how)
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
        _, report = judged("floodset", complete(4), network=network, f=1, inputs=inputs, default=1)
        broken += "agreement" in str(report)
        assert judged("floodset", complete(4), network=network, f=2, inputs=inputs, default=1)[1].ok
    assert broken > 0


def test_a_search_finds_how_floodset_fails():
    """One of three nodes crashes while it sends: with one round another node alone hears of its value."""
    how = {"graphs": "complete", "faults": ("crashes",), "default": 1}
    found = lab.search("floodset", f=0, **how)
    assert found.graph.n == 3
    assert "agreement" in found.why
    assert lab.search("floodset", f=1, most=1, tries=100, **how) is None
