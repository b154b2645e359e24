"""Consensus by FloodSet."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import genval
from dgsuite.partition.graph.graph import Graph
from tests.support.cases import graphs


def complete(n, clusters=2):
    return Graph.from_edges(*np.triu_indices(n, 1), n=n, clusters=clusters)


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
    report = genval.validate("floodset", graph, flood(graph, f=1, inputs=own))
    assert "agreement" in str(report)
    ds = flood(graph, f=2, inputs=own)
    assert (ds.decision == 0).all()
    assert genval.validate("floodset", graph, ds).ok


def test_inputs_that_the_dataset_does_not_list():
    graph = Graph.from_edges(np.zeros(5000, np.int64), np.arange(1, 5001))
    ds = flood(graph, inputs=np.arange(5001) % 5)
    assert genval.validate("floodset", graph, ds).ok
    ds.decision[9] = 4
    assert not genval.validate("floodset", graph, ds).ok
