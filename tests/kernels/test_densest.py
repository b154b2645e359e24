"""The dense set is at most 2 + 2 epsilon from the densest, in few rounds."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite.partition.graph.graph import Graph
from tests.support.definitions import cut
from tests.support.valid import valid


def run(graph, **how):
    ds = valid("densest", graph, **how)
    return ds


def density(net, nodes):
    return net.subgraph(nodes).number_of_edges() / len(nodes)


@given(st.integers(1, 9), st.integers(0, 999), st.sampled_from([0.0, 0.1, 1.0]), st.data())
def test_density_is_close_to_the_largest(n, seed, epsilon, data):
    net = nx.gnp_random_graph(n, 0.4, seed)
    ds = run(cut(net, data.draw), epsilon=epsilon)
    found = density(net, np.flatnonzero(ds.densest.values).tolist())
    sets = [some for size in range(1, n + 1) for some in combinations(range(n), size)]
    assert found >= max(density(net, some) for some in sets) / (2 + 2 * epsilon)
    assert found == pytest.approx(float((ds.degrees_left / ds.nodes_left).max()) / 2)


def test_a_clique_in_a_sparse_graph_is_found_in_few_rounds():
    net = nx.gnm_random_graph(2000, 3000, seed=2)
    clique = np.arange(0, 2000, 80)
    net.add_edges_from(combinations(clique.tolist(), 2))
    ds = run(Graph.from_networkx(net, clusters=3))
    np.testing.assert_array_equal(np.flatnonzero(ds.densest.values), clique)
    assert ds.sizes["round"] < 10


def test_edges():
    assert run(Graph.from_edges([], [], n=3)).densest.values.all()
    with pytest.raises(
        dgsuite.InputError, match=r"epsilon must be from 0 on and finite, got -0\.5"
    ):
        run(Graph.from_edges([0], [1]), epsilon=-0.5)
