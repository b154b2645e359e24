"""Waves, rumours, averages, snapshots and colours, also where messages are lost and nodes crash."""

from math import log, log2

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import Network, genval
from dgsuite.partition.graph.graph import Graph
from tests.support.ledger import ledger  # noqa: F401
from tests.support.valid import judged


def test_identifiers_add_up():
    graph = Graph.from_edges([0, 1], [1, 2], uid=[7, 2**32 - 1, 0], clusters=2)
    ds = dgsuite.run("echo", graph, root=2, value="uid", style="serial")
    assert ds.total.values.tolist() == [7, 2**32 + 6, 2**32 + 6]


def thirty(**how):
    """A connected graph of thirty nodes."""
    src, dst = np.random.default_rng(3).integers(0, 30, (2, 60))
    chain = np.arange(29)
    ends = np.concatenate([src, chain]), np.concatenate([dst, chain + 1])
    return Graph.from_edges(*ends, n=30, duplicates="min", **how)


@given(st.integers(0, 99), st.sampled_from([0.01, 0.1]))
def test_echo_decides_only_when_all_have_answered(seed, loss):
    ds, report = judged("echo", thirty(), network=Network(loss=loss, seed=seed))
    assert report.ok == bool(ds.decided[0]) == (not ds.lost.any())


def test_echo_waits_for_a_node_that_has_crashed():
    ds, report = judged("echo", thirty(), network=Network(crashes={29: 0}))
    assert not ds.decided.any()
    assert not report.ok
    assert ds.attrs["terminated"] == 1  # there is nothing to send


def test_a_node_tells_again_what_it_hears_later():
    """On a ring the longer way around may be faster, unless all nodes tell at once."""
    graph = genval.graph("ring", 9, client=None)
    for work, again in ((1, False), (20, True)):
        runs = (judged("dijkstra_scholten", graph, work=work, seed=seed)[0] for seed in range(20))
        assert (max(ds.told.values.max() for ds in runs) > 1) == again


def test_on_a_path_the_end_takes_as_long_to_come_back():
    ds, _ = judged("dijkstra_scholten", Graph.from_edges(np.arange(9), np.arange(1, 10)), work=1)
    assert int(ds["last"].max()) == 10  # the last node tells the one before it
    assert int(ds.announced[0]) == 20


def test_under_losses_and_crashes_the_end_is_never_announced_too_early():
    """It is announced only if all messages have arrived: then distances are right."""
    graph = genval.graph("grid", 16, client=None)
    announced = []
    for seed in range(24):
        network = Network(loss=0.01) if seed % 2 else Network(crashes=0.01)
        ds, report = judged("dijkstra_scholten", graph, seed=seed, network=network)
        assert ds.terminated  # nothing is left to send
        over = bool(ds.announced[0] >= 0)
        assert over == report.ok
        announced.append((over, int(ds.lost.sum()) > 0))
    assert {over for over, _ in announced} == {False, True}
    assert not any(over and lost for over, lost in announced)


def test_the_root_waits_for_an_acknowledgement_that_is_lost():
    graph = Graph.from_edges([0], [1])
    ds, report = judged("dijkstra_scholten", graph, work=1, network=Network(drops=[(3, 1, 0)]))
    assert ds.lost.sum() > 0
    assert int(ds.announced[0]) == -1
    assert "end" in str(report)


def spread(graph, **parameters):
    return dgsuite.run("gossip", graph, style="serial", **parameters)


@pytest.mark.parametrize("n", [64, 256])
def test_rounds_on_complete_graphs_are_those_of_the_theorems(n):
    """Pittel 1987: log2(n) + ln(n) + O(1) by pushes. Karp et al. 2000: log3(n) + O(log log n) by both."""
    graph, rounds = complete(n), {}
    for mode in ("push", "push-pull"):
        rounds[mode] = [spread(graph, mode=mode, seed=s).sizes["round"] for s in range(20)]
    pushes, both = rounds.values()
    assert abs(np.mean(pushes) - log2(n) - log(n)) < 2
    assert log2(n) <= min(pushes) <= max(pushes) < log2(n) + log(n) + 6
    assert abs(np.mean(both) - log(n, 3) - log(log(n))) < 2
    assert log(n, 3) <= min(both) <= max(both) < log(n, 3) + log(log(n)) + 3


def average(graph, **parameters):
    return dgsuite.run("push_sum", graph, style="serial", **parameters)


@pytest.mark.parametrize("n", [64, 256])
@pytest.mark.parametrize("tolerance", [1e-2, 1e-6])
def test_rounds_on_complete_graphs_are_logarithmic(n, tolerance):
    graph = complete(n)
    inputs = np.arange(n) % 2
    for seed in range(10):
        ds = average(graph, inputs=inputs, seed=seed, tolerance=tolerance)
        assert ds.sizes["round"] <= 2 * (log2(n) + log2(1 / tolerance))
        assert (np.abs(ds.average - 0.5) <= tolerance).all()
        assert (ds.messages == n).all()


def test_nodes_far_from_others_get_there():
    """A leaf of a star is called seldom, so that its mass and weight become very small."""
    graph = Graph.from_edges(np.zeros(40, np.int64), np.arange(1, 41), clusters=2)
    ds = average(graph, tolerance=1e-3)
    assert genval.validate("push_sum", graph, ds).ok
    assert ds.sizes["round"] < 1000
    assert ds.weight.values.min() < 1e-6


def test_inputs_that_the_dataset_does_not_list():
    graph = Graph.from_edges(np.arange(5000), np.arange(1, 5001))
    ds = average(graph, inputs=np.arange(5001) % 5, iterations=3)
    assert genval.validate("push_sum", graph, ds).ok
    ds.mass[9] += 0.01
    assert not genval.validate("push_sum", graph, ds).ok


def complete(n):
    return Graph.from_edges(*np.triu_indices(n, 1), n=n)


@pytest.mark.parametrize("mode", ["push", "pull", "push-pull"])
def test_gossip_gets_around_where_messages_are_lost(mode):
    for seed in range(5):
        ds, report = judged("gossip", thirty(), network=Network(loss=0.3), mode=mode, seed=seed)
        assert report.ok, str(report)
        assert ds.lost.sum() > 0
        assert (ds.informed >= 0).all()


def test_gossip_goes_on_where_a_node_crashes_before_it_hears():
    ds, report = judged("gossip", complete(20), network=Network(crashes={7: 0}), max_rounds=50)
    assert report.ok, str(report)
    assert ds.attrs["terminated"] == 0
    assert np.flatnonzero(ds.informed < 0).tolist() == [7]


def test_rumours_that_no_call_brings_are_seen_under_faults():
    ds, _ = judged("gossip", complete(20), network=Network(loss=0.1))
    ds.informed[int(ds.informed.argmax())] = 1
    assert "call" in str(genval.validate("gossip", complete(20), ds))


def test_lost_messages_take_their_mass_along():
    how = {"network": Network(loss=0.05), "iterations": 10, "inputs": np.arange(20)}
    ds, report = judged("push_sum", complete(20), **how)
    assert ds.mass.sum() < 190
    assert "masses that add up to 190" in str(report)


def shoot(graph, **how):
    """The result, what the rule says of it, and how much money was counted."""
    ds = dgsuite.run("snapshot", graph, style="serial", **how)
    counted = int(ds.recorded.where(ds.recorded >= 0, 0).sum() + ds.in_transit.sum())
    return ds, genval.validate("snapshot", graph, ds), counted


def test_some_money_is_in_transit():
    """Records of nodes alone miss it."""
    graph = genval.graph("spmax", 60, m=240, client=None)
    found = [shoot(graph, seed=seed)[0] for seed in range(5)]
    assert all(0 < ds.in_transit.sum() < 6000 for ds in found)


def test_where_all_nodes_are_done_money_is_at_most_lost():
    """Though messages are lost, no money is counted twice."""
    graph = genval.graph("ring", 8, client=None)
    seen = set()
    for seed in range(40):
        ds, report, counted = shoot(graph, seed=seed, network=Network(loss=0.03))
        complete = bool(ds.done.all())
        assert counted <= 800 or not complete
        assert report.ok == (complete and counted == 800)
        seen.add((complete, int(np.sign(counted - 800))))
    assert {(True, 0), (True, -1), (False, -1)} <= seen


def test_where_a_marker_is_lost_money_may_be_counted_twice():
    """Node 2 hears of the snapshot from the other side of the ring, long after node 1 has recorded. What
    node 1 pays it meanwhile is on both records. But node 2 knows that it is not done.
    """
    graph = genval.graph("ring", 8, client=None)
    found = [shoot(graph, seed=s, network=Network(drops=[(5, 1, 2)])) for s in range(10)]
    assert all(ds.when[2] == 10 and not ds.done[2] and not report.ok for ds, report, _ in found)
    assert any(counted > 800 for *_, counted in found)


def test_nodes_wait_for_the_marker_of_one_that_has_crashed():
    graph = genval.graph("ring", 8, client=None)
    ds, report, _ = shoot(graph, network=Network(crashes={3: 2}))
    assert np.flatnonzero(~ds.done.values).tolist() == [2, 3, 4]
    assert ds.terminated
    assert "done" in str(report)


NETS = {
    "star": nx.star_graph(60),
    "path": nx.path_graph(200),
    "complete": nx.complete_graph(40),
    "bipartite": nx.complete_bipartite_graph(20, 60),
    "random": nx.gnp_random_graph(150, 0.05, seed=2),
}


def test_a_node_that_tries_keeps_its_colour_one_time_in_four():
    """As the docstring proves; so rounds are as few as it says. Over 20 seeds of each graph."""
    for name, net in NETS.items():
        graph, tries, kept, rounds = Graph.from_networkx(net), 0, 0, []
        for seed in range(20):
            ds, report = judged("trial_colouring", graph, seed=seed)
            assert report.ok, str(report)
            kept += graph.n
            tries += int((ds.settled + 1).sum())
            rounds.append(ds.sizes["round"])
        assert kept / tries > 0.25, name
        assert np.mean(rounds) < log(graph.n) / log(4 / 3) + 5, name


def test_nodes_that_have_not_crashed_differ():
    graph = Graph.from_networkx(NETS["random"])
    for seed in range(10):
        ds, report = judged("trial_colouring", graph, seed=seed, network=Network(crashes=0.2))
        assert (ds.crashed >= 0).any()
        assert (ds.terminated, report.ok) == (1, True), str(report)


def test_where_messages_are_lost_neighbours_may_take_the_same_colour():
    graph = Graph.from_networkx(NETS["random"])
    lossy = Network(loss=0.05)
    found = [judged("trial_colouring", graph, seed=s, network=lossy) for s in range(5)]
    assert all(ds.terminated for ds, _ in found)
    assert any("no neighbour of colour" in str(report) for _, report in found)


def test_a_colour_that_is_none_is_ignored():
    """A node that lies keeps a colour beyond all palettes; the others colour themselves."""
    network = Network(byzantine=dgsuite.Byzantine([0], lambda sent: {"colour": sent.src * 0 + 99}))
    ds, _ = judged("trial_colouring", Graph.from_networkx(nx.complete_graph(4)), network=network)
    assert len({*ds.colour.values[1:].tolist()}) == 3
