"""Communities are as good as networkx's and as planted ones; those of Leiden are connected."""

import networkx as nx
import numpy as np
import pytest

import dgsuite
from dgsuite import genval
from dgsuite.partition.graph.graph import Graph
from tests.support.cases import in_turn
from tests.support.valid import valid


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


BOTH = ["leiden", "louvain"]

each = pytest.mark.parametrize("kernel", BOTH)


def communities(net, kernel="leiden", **parameters):
    """The communities of a run that the rule accepts."""
    graph = Graph.from_networkx(net, clusters=3)
    ds = valid(kernel, graph, **parameters)
    label, nodes = ds.community.values, np.array([*net])
    found = [{*nodes[label == name].tolist()} for name in np.unique(label)]
    assert kernel == "louvain" or all(nx.is_connected(net.subgraph(nodes)) for nodes in found)
    return found


@pytest.mark.parametrize(("name", "iterations"), in_turn(NETWORKS, [1, 2]))
def test_modularity_is_that_of_networkx(name, iterations):
    """At least 98 percent of it, or 95 by Louvain's method; weights count in both."""
    net = NETWORKS[name]
    theirs = nx.community.modularity(net, nx.community.louvain_communities(net, seed=1))
    assert nx.community.modularity(net, communities(net, iterations=iterations)) >= 0.98 * theirs
    assert nx.community.modularity(net, communities(net, "louvain")) >= 0.95 * theirs


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(5))
def test_planted_communities_are_found(seed):
    net = nx.planted_partition_graph(12, 40, 0.4, 0.02, seed=seed)
    found = sorted(communities(net, seed=seed), key=min)
    assert found == [{*range(at, at + 40)} for at in range(0, 480, 40)]


def test_cliques_are_found_by_both_objectives():
    cliques = [{*range(at, at + 8)} for at in range(0, 160, 8)]
    cavemen = NETWORKS["cliques"]
    assert communities(cavemen) == communities(cavemen, "louvain") == cliques
    assert communities(cavemen, objective="cpm", resolution=0.5) == cliques


@pytest.mark.few(2)
@pytest.mark.parametrize("share", [0.001, 0.05, 0.4, 2.0])
def test_the_constant_potts_model_asks_for_a_density(share):
    """At most that of the communities; where it is above all weights, nodes stay alone."""
    net = NETWORKS["planted"]
    found = communities(net, objective="cpm", resolution=share)
    assert all(nx.density(net.subgraph(nodes)) >= share for nodes in found if len(nodes) > 1)
    assert (len(found) == len(net)) == (share == 2.0)
    assert (len(found) == 1) == (share == 0.001)


@each
def test_weights_count_or_do_not(kernel):
    """Two pairs with a heavy edge between them."""
    net = nx.path_graph(4)
    net.add_weighted_edges_from([(0, 1, 1.0), (1, 2, 100.0), (2, 3, 1.0)])
    assert len(communities(net, kernel, weighted=False)) == 2
    assert any({1, 2} <= found for found in communities(net, kernel))
    assert not any({1, 2} <= found for found in communities(net, kernel, weighted=False))


def test_edges_without_weight_connect_nothing():
    net = nx.path_graph(6)
    nx.set_edge_attributes(net, {edge: float(edge != (2, 3)) for edge in net.edges}, "weight")
    assert all(found <= {0, 1, 2} or found <= {3, 4, 5} for found in communities(net))
    nx.set_edge_attributes(net, 0.0, "weight")
    for objective in ("modularity", "cpm"):
        assert communities(net, objective=objective) == [{v} for v in range(6)]


@each
def test_resolution(kernel):
    net = NETWORKS["planted"]
    sizes = [len(communities(net, kernel, resolution=r)) for r in (0.1, 1.0, 5.0)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[1] < sizes[2]


def test_the_rule_sees_communities_in_pieces():
    graph = Graph.from_edges([0, 1, 2, 3, 4, 5, 0, 6], [1, 2, 0, 4, 5, 3, 6, 3])
    wrong = {"community": np.array([0, 0, 0, 0, 0, 0, 6]), "objective": "cpm", "resolution": 0.9}
    report = genval.validate("leiden", graph, wrong)
    assert "a path to node 0 within the community" in str(report)


@pytest.mark.few(1)
@each
@pytest.mark.parametrize("objective", ["modularity", "cpm"])
def test_levels_end_with_the_communities_of_a_run_without(kernel, objective):
    """In any cut; each level has fewer communities than the one before."""
    net = weighted(nx.gnm_random_graph(150, 500, seed=4))
    how = {"style": "serial", "objective": objective, "resolution": 0.3}
    found = []
    for clusters in (1, 4):
        graph = Graph.from_networkx(net, clusters=clusters)
        alone = dgsuite.run(kernel, graph, **how)
        ds = dgsuite.run(kernel, graph, levels=True, **how)
        report = genval.validate(kernel, graph, ds)
        assert report.ok, str(report)
        np.testing.assert_array_equal(ds.community[:, -1], alone.community)
        np.testing.assert_array_equal(ds.level, np.arange(ds.sizes["level"]))
        assert ds.sizes["round"] == alone.sizes["round"]
        found.append(ds.community.values)
    np.testing.assert_array_equal(*found)
    sizes = [len(np.unique(column)) for column in found[0].T]
    assert sizes == sorted({*sizes}, reverse=True)
    assert len(sizes) > 1


@each
def test_levels_where_nothing_is_joined(kernel):
    graph = Graph.from_edges([0], [1], n=3, weights=[0.0])
    ds = dgsuite.run(kernel, graph, levels=True, style="serial")
    assert ds.community.values.tolist() == [[0], [1], [2]]
    assert genval.validate(kernel, graph, ds).ok


def test_the_rule_sees_levels_that_are_not_unions():
    graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    facts = {"objective": "cpm", "resolution": 0.9, "level": np.arange(2)}
    for fine, ok in (([0, 0, 2, 2], True), ([0, 1, 1, 3], False), ([0, 0, 1, 2], False)):
        levels = np.array([fine, [0, 0, 2, 2]]).T
        assert genval.validate("leiden", graph, {**facts, "community": levels}).ok == ok


@pytest.mark.few(1)
@pytest.mark.parametrize(("kernel", "style"), in_turn(BOTH, ["clocked", "finish_async"]))
def test_any_style_gives_the_same(kernel, style, threaded):
    net = weighted(nx.gnm_random_graph(30, 60, seed=4))
    how = {"iterations": 1} if kernel == "leiden" else {}
    alone = dgsuite.run(kernel, Graph.from_networkx(net, clusters=1), style="serial", **how)
    graph = Graph.from_networkx(net, clusters=5)
    ds = dgsuite.run(kernel, graph, style=style, client=threaded, **how)
    np.testing.assert_array_equal(ds.community, alone.community)
    assert ds.sizes["round"] == alone.sizes["round"]
