"""Projections of bipartite graphs are those of networkx, on any cut."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import dgsuite
from dgsuite import Graph, InputError


def network(left, right, m):
    """A bipartite graph whose nodes are mixed, and named."""
    net = nx.bipartite.gnmk_random_graph(left, right, m, seed=4)
    order = np.random.default_rng(1).permutation(left + right).tolist()
    names = {v: f"n{i:02}" for i, v in enumerate(order)}
    named = nx.Graph()
    named.add_nodes_from(names[v] for v in order)
    named.add_edges_from((names[u], names[v]) for u, v in net.edges)
    return named, [names[v] for v in range(left)]


@pytest.mark.parametrize(("left", "right", "m"), [(20, 15, 70), (5, 30, 60), (8, 3, 0), (6, 1, 6)])
def test_it_is_that_of_networkx(client, left, right, m):
    net, side = network(left, right, m)
    wanted = nx.bipartite.weighted_projected_graph(net, side)
    found = []
    for how in ({"clusters": 1}, {"clusters": 4}, {"clusters": 3, "client": client}):
        made = Graph.from_networkx(net, **how).projection(side)
        assert made.labels.array.tolist() == [v for v in net if v in side]
        assert nx.utils.graphs_equal(made.to_networkx(), wanted)
        found.append(made.to_scipy().toarray())
        assert made.weight_dtype == np.int64
    assert all((one == found[0]).all() for one in found)


def test_a_side_may_be_a_colour_and_weights_do_not_count():
    net, _ = network(12, 9, 40)
    nx.set_edge_attributes(net, 0.5, "weight")
    graph = Graph.from_networkx(net, clusters=3)
    side = dgsuite.run("bipartite", graph).colour == 0
    wanted = nx.bipartite.weighted_projected_graph(
        net, [v for v, s in zip(net, side.values, strict=True) if s]
    )
    assert nx.utils.graphs_equal(graph.projection(side).to_networkx(), wanted)


@pytest.mark.parametrize("clusters", [1, 3])
def test_nodes_that_are_no_side_are_refused(clusters):
    graph = Graph.from_edges([0, 1, 2, 3], [4, 4, 5, 5], clusters=clusters)
    with pytest.raises(InputError, match="an edge joins 2 and 5, which are both named"):
        graph.projection([0, 1, 2, 3, 5])
    with pytest.raises(InputError, match="an edge joins 3 and 5, which are both not named"):
        graph.projection([0, 1, 2])
    with pytest.raises(InputError, match="6 is not a node"):
        graph.projection([6])
    with pytest.raises(InputError, match="directed"):
        Graph.from_edges([0], [1], directed=True).projection([0])
    named = Graph.from_edges([0, 1], [1, 2], labels=["ann", "bob", "cid"], clusters=clusters)
    with pytest.raises(InputError, match="an edge joins 'ann' and 'bob', which are both named"):
        named.projection(["ann", "bob"])
