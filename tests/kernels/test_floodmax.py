"""Leader election by flooding, and what crashes and losses do to it."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dgsuite import Crash, Network, genval
from dgsuite.partition.graph.graph import Graph
from tests.support.cases import graphs
from tests.support.valid import judged

PATH = Graph.from_edges(np.arange(7), np.arange(1, 8), uid=np.arange(8)[::-1].copy())
"""Eight nodes; the identifiers fall from 7 to 0."""


def elect(graph, **parameters):
    """The result, and what the rule says of it."""
    return judged("floodmax", graph, **parameters)


@given(st.data())
def test_rounds_as_many_as_the_diameter_are_enough(data):
    """Lynch, theorem 4.1; each node knows the largest identifier within as many hops as rounds."""
    _, graph = data.draw(graphs())
    net, opt = graph.to_networkx(), data.draw(st.booleans())
    rounds = data.draw(st.integers(0, 5))
    ds, report = elect(graph, iterations=rounds, opt=opt, check=True)
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
    graph = Graph.from_edges(*np.triu_indices(n, 1), n=n)
    ds, _ = elect(graph, iterations=f + 1, opt=data.draw(st.booleans()), network=network)
    alive = ds.crashed.values < 0
    assert len({*ds.leader.values[alive].tolist()}) <= 1


def test_a_leader_that_crashes_after_it_has_told_is_still_believed():
    for number, said in ((0, 6), (1, 7)):
        ds, report = elect(PATH, network=Network(crashes={0: number}))
        assert ds.leader.values[1:].tolist() == [said] * 7
        assert report.ok


def test_a_crash_that_parts_the_graph_leaves_two_leaders():
    """Each part agrees on one, which may be the node that crashed."""
    ds, report = elect(PATH, network=Network(crashes={4: 1}))
    assert ds.leader.values.tolist() == [7, 7, 7, 7, 4, 3, 3, 3]
    assert report.ok
    ds.leader[6] = 7
    assert "as the others say" in str(genval.validate("floodmax", PATH, ds))


def test_what_is_lost_is_said_again_but_by_optfloodmax():
    found = [
        elect(PATH, iterations=40, opt=opt, network=Network(loss=0.2, seed=seed))[1].ok
        for opt in (False, True)
        for seed in range(10)
    ]
    assert all(found[:10])
    assert sum(found[10:]) < 5
