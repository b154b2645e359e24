"""Termination detection of a search."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dgsuite import Network, genval
from dgsuite.partition.graph.graph import Graph
from tests.support.cases import graphs
from tests.support.valid import judged


def detect(graph, **how):
    """The result, and what the rule says of it."""
    return judged("dijkstra_scholten", graph, **how)


@given(st.data())
def test_each_message_is_acknowledged_and_the_end_is_not_announced_before_it(data):
    _, graph = data.draw(graphs())
    root, work = data.draw(st.integers(0, graph.n - 1)), data.draw(st.integers(1, 9))
    ds, report = detect(graph, root=root, work=work, seed=data.draw(st.integers(0, 9)), check=True)
    assert report.ok, str(report)
    degree = np.array([d for _, d in graph.to_networkx().degree])
    searched = int((ds.told.values * degree).sum())
    assert searched == ds.acknowledged.sum()
    assert ds.messages.sum() == 2 * searched
    assert ds.announced[root] == ds.sizes["round"] - 1
    assert (ds.messages.values[int(ds.announced[root]) :] == 0).all()


def test_a_node_tells_again_what_it_hears_later():
    """On a ring the longer way around may be faster, unless all nodes tell at once."""
    graph = genval.graph("ring", 9, client=None)
    for work, again in ((1, False), (20, True)):
        told = [detect(graph, work=work, seed=seed)[0].told.values for seed in range(20)]
        assert (np.max(told) > 1) == again


def test_on_a_path_the_end_takes_as_long_to_come_back():
    ds, _ = detect(Graph.from_edges(np.arange(9), np.arange(1, 10)), work=1)
    assert int(ds["last"].max()) == 10  # the last node tells the one before it
    assert int(ds.announced[0]) == 20


def test_under_losses_and_crashes_the_end_is_never_announced_too_early():
    """It is announced only if all messages have arrived: then distances are right."""
    graph = genval.graph("grid", 16, client=None)
    announced = []
    for seed in range(24):
        network = Network(loss=0.01) if seed % 2 else Network(crashes=0.01)
        ds, report = detect(graph, seed=seed, network=network)
        assert ds.terminated  # nothing is left to send
        over = bool(ds.announced[0] >= 0)
        assert over == report.ok
        announced.append((over, int(ds.lost.sum()) > 0))
    assert {over for over, _ in announced} == {False, True}
    assert not any(over and lost for over, lost in announced)


def test_the_root_waits_for_an_acknowledgement_that_is_lost():
    graph = Graph.from_edges([0], [1])
    ds, report = detect(graph, work=1, network=Network(drops=[(3, 1, 0)]))
    assert ds.lost.sum() > 0
    assert int(ds.announced[0]) == -1
    assert "end" in str(report)
