"""Quality of communities is that of networkx, and of a few lines of Python, on any cut."""

import networkx as nx
import numpy as np
import pytest

import dgsuite
from dgsuite import Graph, InputError

LUCK = np.random.default_rng(3)
N = 40


def network(directed=False, weighted=False):
    net = nx.gnm_random_graph(N, 150, seed=2, directed=directed)
    if weighted:
        for _, _, data in net.edges(data=True):
            data["weight"] = float(LUCK.random() + 0.01)
    return net


def sets(labels):
    return [{*np.flatnonzero(labels == name).tolist()} for name in np.unique(labels)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_it_is_that_of_networkx(directed, weighted):
    net, labels = network(directed, weighted), LUCK.integers(0, 5, N)
    parts, weight = sets(labels), "weight" if weighted else None
    found = dgsuite.quality(Graph.from_networkx(net, clusters=3), labels, resolution=0.7)
    right = nx.community.modularity(net, parts, weight=weight, resolution=0.7)
    assert float(found.modularity) == pytest.approx(right, abs=1e-12)
    pairs = sum(len(part) * (len(part) - 1) for part in parts) / (1 if directed else 2)
    right = sum(net.subgraph(part).size(weight) for part in parts) - 0.7 * pairs
    assert float(found.cpm) == pytest.approx(right, rel=1e-12)
    right = [nx.conductance(net, part, weight=weight) for part in parts]
    np.testing.assert_allclose(found.conductance, right, rtol=1e-12)
    right = [nx.volume(net, part, weight=weight) for part in parts]
    np.testing.assert_allclose(found.volume, right, rtol=1e-12)
    assert found.nodes.values.tolist() == [*map(len, parts)]
    plain = dgsuite.quality(Graph.from_networkx(net), labels, weighted=False)
    nx.set_node_attributes(net, dict(enumerate(labels.tolist())), "label")
    right = nx.attribute_assortativity_coefficient(net, "label")
    assert float(plain.assortativity) == pytest.approx(right, abs=1e-12)
    right, _ = nx.community.partition_quality(net, parts)
    assert float(plain.coverage) == pytest.approx(right, rel=1e-12)
    assert (found.attrs["weighted"], plain.attrs["weighted"]) == (int(weighted), 0)


@pytest.mark.parametrize("power", [0, 900, -1000])
def test_any_cut_gives_the_same_bits(client, power):
    net, labels = network(weighted=True), LUCK.integers(0, 5, N)
    src, dst = np.array(net.edges).T
    weights = np.ldexp([net.edges[e]["weight"] for e in net.edges], power)
    cuts = [*({"clusters": k} for k in (1, 4, 7)), {"clusters": 5, "client": client}]
    graphs = [Graph.from_edges(src, dst, n=N, weights=weights, **cut) for cut in cuts]
    found = [dgsuite.quality(graph, labels) for graph in graphs]
    assert all(one.identical(found[0]) for one in found)


def test_what_is_not_defined_is_nan():
    """Such as conductance where all edges of a directed graph leave one community. Names may be below 0."""
    alone = dgsuite.quality(Graph.from_edges([], [], n=3), [0, 0, 1])
    assert np.isnan([alone.modularity, alone.coverage, *alone.conductance]).all()
    whole = dgsuite.quality(Graph.from_edges([0], [1], weights=[2.0]), [7, 7])
    assert (float(whole.modularity), float(whole.coverage)) == (0, 1)
    assert np.isnan(whole.conductance).all()
    light = dgsuite.quality(Graph.from_edges([0], [1], weights=[0.0]), [7, 7])
    assert np.isnan(light.modularity)
    directed = Graph.from_edges([0, 1], [1, 2], directed=True)
    for labels in ([-2, -2, -1], [-2, -2, -2]):
        found = dgsuite.quality(directed, labels)
        assert found.community.values.tolist() == sorted({*labels})
        assert np.isnan(found.conductance).all()


OBJECTS = np.array([None, 1, "b"])


WRONG = [
    ([0, 1], {}, r"labels must be one for each node, shape \(3,\), got shape \(2,\)"),
    ([0, 1, 1], {"resolution": 0}, "resolution must be above 0 and finite, got 0"),
    ([0, 1, 1], {}, r"edge \(0, 1\) has the negative weight -1"),
    ([0, -1, -1], {}, "labels: 2 of 3 nodes have none but -1, the first of them is node 1"),
    (["a", "", "b"], {}, "labels: 1 of 3 nodes have none but '', the first of them is node 1"),
    ([0.0, 1.0, np.nan], {}, "1 of 3 nodes have none but nan, the first of them is node 2"),
    (OBJECTS, {}, "1 of 3 nodes have none but None, the first of them is node 0"),
]


@pytest.mark.parametrize(("labels", "how", "says"), WRONG)
def test_bad_input(labels, how, says):
    graph = Graph.from_edges([0, 1], [1, 2], weights=[-1.0, 2.0])
    with pytest.raises(InputError, match=says):
        dgsuite.quality(graph, labels, **how)


@pytest.mark.parametrize("labels", [None, ["a", "b", "c", "d"]])
def test_nodes_that_cdlp_leaves_without_a_label_are_no_community(labels):
    graph = Graph.from_edges([0, 2], [1, 3], labels=labels)
    first = graph.labels[0] if labels else 0
    found = dgsuite.run("cdlp", graph, labels={first: first}, client=None).label
    with pytest.raises(InputError, match="labels: 2 of 4 nodes have none but"):
        dgsuite.quality(graph, found)
