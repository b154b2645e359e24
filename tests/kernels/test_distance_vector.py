"""Routes by distance vectors, and how they follow edges that come and go."""

from functools import partial

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dgsuite import Network, genval
from dgsuite.partition.graph.graph import Graph
from tests.support.cases import graphs
from tests.support.valid import judged

FOR_EVER = 10**6
LINE = Graph.from_edges([0, 1], [1, 2])
LOOP = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 1])
"""A triangle with an edge to the destination."""

run = partial(judged, "distance_vector")


@given(st.data())
def test_once_edges_no_longer_change_distances_are_right_after_infinity_rounds(data):
    _, graph = data.draw(graphs())
    net, infinity, end = graph.to_networkx(), data.draw(st.integers(1, 9)), 6
    split = data.draw(st.sampled_from(["none", "horizon", "poisoned"]))
    changing = data.draw(st.lists(st.sampled_from([*net.edges]), max_size=6)) if net.edges else []
    churn = []
    for u, v in changing:
        first = data.draw(st.integers(0, end - 1))
        last = data.draw(st.one_of(st.just(FOR_EVER), st.integers(first + 1, end)))
        churn.append((first, last, u, v))
    rounds = end + (infinity if split == "none" else 2 * infinity)
    how = {"infinity": infinity, "split": split, "least": rounds, "max_rounds": rounds}
    ds, _ = run(graph, network=Network(churn=churn), **how)
    net.remove_edges_from([(u, v) for _, last, u, v in churn if last == FOR_EVER])
    hops = nx.single_source_shortest_path_length(net, 0)
    right = [min(hops.get(v, infinity), infinity) for v in range(graph.n)]
    assert ds.distance.values.tolist() == right
    for v, hop in enumerate(ds.next_hop.values.tolist()):
        way = 0 < right[v] < infinity
        assert (hop in net[v] and right[hop] == right[v] - 1) if way else hop == -1


@pytest.mark.parametrize("infinity", [8, 16, 32])
def test_two_nodes_count_to_infinity_unless_they_split_horizons(infinity):
    """Two nodes lose their edge to the destination in round 3. A triangle counts whatever it does."""
    network = Network(churn=[(3, FOR_EVER, 0, 1)])
    how = {"network": network, "infinity": infinity, "least": 4}
    for split, rounds in (("none", infinity + 3), ("horizon", 6), ("poisoned", 6)):
        line, loop = (run(graph, split=split, **how)[0].sizes["round"] for graph in (LINE, LOOP))
        assert line == rounds
        assert infinity <= loop <= infinity + 5


def test_of_ways_that_are_as_near_the_one_before_is_kept():
    """Node 3 first gets there by 1, which goes away, then by 2, where it stays when 1 is back."""
    graph = Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3])
    assert run(graph)[0].next_hop.values.tolist() == [-1, 0, 0, 1]
    ds, report = run(graph, network=Network(churn=[(4, 6, 3, 1)]), least=9)
    assert ds.next_hop.values.tolist() == [-1, 0, 0, 2]
    assert report.ok


def test_routes_lead_around_nodes_that_crash():
    graph = genval.graph("grid", 36, client=None)
    ds, report = run(graph, network=Network(crashes={1: 8, 20: 9}), least=10)
    assert (ds.crashed >= 0).sum() == 2
    assert report.ok, str(report)


def test_patience_saves_routes_where_messages_are_lost():
    graph = genval.graph("grid", 36, client=None)
    for timeout, right in ((1, False), (8, True)):
        how = {"timeout": timeout, "max_rounds": 60}
        found = [run(graph, network=Network(loss=0.2, seed=s), **how)[1].ok for s in range(8)]
        assert sum(found) > 6 if right else not any(found)


def test_bits_are_those_of_infinity():
    ds, _ = run(LINE, infinity=100, congest=np.inf)
    assert ds.edge_bits.values.tolist() == [7, 7, 7]
