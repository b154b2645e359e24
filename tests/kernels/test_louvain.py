"""Communities have a modularity like networkx's."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import dgsuite
from dgsuite.base.errors import InputError
from dgsuite.partition.graph.graph import Graph
from tests.support.valid import valid


def communities(net, **parameters):
    """The communities of a run that the rule accepts."""
    graph = Graph.from_networkx(net, clusters=3)
    ds = valid("louvain", graph, **parameters)
    label = ds.community.values
    return [{*np.flatnonzero(label == name).tolist()} for name in np.unique(label)]


def weighted(net):
    rng = np.random.default_rng(1)
    for _, _, data in net.edges(data=True):
        data["weight"] = float(rng.random() + 0.1)
    return net


NETWORKS = {
    "karate": nx.karate_club_graph(),
    "planted": nx.planted_partition_graph(10, 30, 0.3, 0.01, seed=2),
    "cliques": nx.connected_caveman_graph(20, 8),
    "random": weighted(nx.gnm_random_graph(200, 800, seed=1)),
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(15, 15)),
    "isolated": nx.disjoint_union(nx.path_graph(5), nx.empty_graph(3)),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_modularity_is_that_of_networkx(name):
    """At least 95 percent of it, by the same definition; weights count in both."""
    net = NETWORKS[name]
    found = nx.community.modularity(net, communities(net))
    theirs = nx.community.modularity(net, nx.community.louvain_communities(net, seed=1))
    assert found >= 0.95 * theirs


def test_cliques_are_found():
    net = NETWORKS["cliques"]
    assert communities(net) == [{*range(at, at + 8)} for at in range(0, 160, 8)]


def test_weights_count_or_do_not():
    """Two pairs with a heavy edge between them."""
    net = nx.path_graph(4)
    net.add_weighted_edges_from([(0, 1, 1.0), (1, 2, 100.0), (2, 3, 1.0)])
    assert len(communities(net, weighted=False)) == 2
    assert any({1, 2} <= found for found in communities(net))
    assert not any({1, 2} <= found for found in communities(net, weighted=False))


def test_resolution():
    net = NETWORKS["planted"]
    sizes = [len(communities(net, resolution=r)) for r in (0.1, 1.0, 5.0)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[1] < sizes[2]


@pytest.mark.parametrize(
    ("parameters", "weights", "says"),
    [
        ({"resolution": 0.0}, None, "resolution must be above 0 and finite, got 0.0"),
        ({}, [-1.0], r"weights must not be negative, got -1\.0"),
    ],
)
def test_bad_input(parameters, weights, says):
    graph = Graph.from_edges([0], [1], weights=weights)
    with pytest.raises(InputError, match=says):
        dgsuite.run("louvain", graph, **parameters)
