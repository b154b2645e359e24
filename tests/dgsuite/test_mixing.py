"""How degrees mix is what networkx says, on any cut."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import dgsuite
from dgsuite import Graph, InputError

LUCK = np.random.default_rng(5)


def network(directed=False, weighted=False, n=40, m=120):
    net = nx.gnm_random_graph(n, m, seed=2, directed=directed)
    net.add_nodes_from(range(n, n + 3))
    if weighted:
        for *_, data in net.edges(data=True):
            data["weight"] = float(LUCK.random() + 0.01)
    return net


def figures(found, degree):
    return dict(zip(found.degree.values.tolist(), degree.values.tolist(), strict=True))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("target", ["out", "in"])
@pytest.mark.parametrize("source", ["out", "in"])
def test_a_directed_graph_mixes_as_networkx_says(source, target, weighted):
    net = network(True, weighted)
    found = dgsuite.mixing(
        Graph.from_networkx(net, clusters=3), source=source, target=target, weighted=weighted
    )
    right = nx.degree_assortativity_coefficient(
        net, x=source, y=target, weight="weight" if weighted else None
    )
    assert float(found.assortativity) == pytest.approx(right, rel=1e-9, abs=1e-12)
    assert "rich_club" not in found
    if not weighted:
        right = nx.average_neighbor_degree(net, source="out", target=target)
        degree = np.array([d for _, d in net.out_degree])
        values = found.average_neighbour_degree.values
        assert np.isnan(values[degree == 0]).all()
        np.testing.assert_allclose(values[degree > 0], np.array([*right.values()])[degree > 0])
    if (source, weighted) == ("out", False):
        right = nx.average_degree_connectivity(net, source="out", target=target)
        connectivity = figures(found, found.average_degree_connectivity)
        assert {k: v for k, v in connectivity.items() if k} == pytest.approx(
            {k: v for k, v in right.items() if k}
        )


@pytest.mark.parametrize(("n", "m"), [(40, 120), (30, 40), (12, 66), (60, 1770), (9, 1), (9, 0)])
def test_an_undirected_graph_mixes_as_networkx_says(n, m):
    net = network(n=n, m=m)
    found = dgsuite.mixing(Graph.from_networkx(net, clusters=3))
    if m not in (0, 1, n * (n - 1) // 2):
        right = nx.degree_assortativity_coefficient(net)
        assert float(found.assortativity) == pytest.approx(right, rel=1e-9)
    else:
        assert np.isnan(float(found.assortativity))  # all ends have the same degree
    right = nx.rich_club_coefficient(net, normalized=False)
    club = figures(found, found.rich_club)
    assert {k: v for k, v in right.items() if k in club} == {
        k: v for k, v in club.items() if v == v and m
    }
    columns = found.degree.values, found.nodes_above.values, found.edges_above.values
    for k, above, inner in zip(*columns, strict=True):
        rich = net.subgraph([v for v, d in net.degree if d > k])
        assert (above, inner) == (len(rich), rich.number_of_edges())
    right = nx.average_degree_connectivity(net)
    connectivity = figures(found, found.average_degree_connectivity)
    assert connectivity.pop(0, 0) != 0  # not a number
    right.pop(0, None)
    assert connectivity == pytest.approx(right)
    right = nx.average_neighbor_degree(net)
    np.testing.assert_allclose(np.nan_to_num(found.average_neighbour_degree), [*right.values()])


def test_weights_that_are_equal_at_all_ends_have_no_correlation():
    net = nx.cycle_graph(7)
    nx.set_edge_attributes(net, 0.1, "weight")
    found = dgsuite.mixing(Graph.from_networkx(net, clusters=2), weighted=True)
    assert np.isnan(float(found.assortativity))
    np.testing.assert_allclose(found.degree, [0.2], rtol=1e-15)


@pytest.mark.parametrize(
    ("directed", "power"), [(False, 0), (True, 0), (False, 900), (True, -1000)]
)
def test_any_cut_gives_the_same_bits(client, directed, power):
    net = network(directed, weighted=True)
    src, dst = np.array(net.edges).T
    weights = np.ldexp([net.edges[e]["weight"] for e in net.edges], power)
    cuts = [{"clusters": k} for k in (1, 4, 7)]
    cuts += [{"clusters": 5, "client": client}]
    for weighted in (False, True):
        found = [
            dgsuite.mixing(
                Graph.from_edges(src, dst, n=len(net), weights=weights, directed=directed, **cut),
                weighted=weighted,
            )
            for cut in cuts
        ]
        assert all(one.identical(found[0]) for one in found)


def test_nodes_have_their_labels():
    graph = Graph.from_edges([0, 0], [1, 2], labels=["ann", "bob", "cid"])
    found = dgsuite.mixing(graph).average_neighbour_degree
    assert found.to_series().to_dict() == {"ann": 1.0, "bob": 2.0, "cid": 2.0}


def test_what_is_no_direction_or_negative_is_refused():
    graph = Graph.from_edges([0, 1], [1, 2], weights=[1, -1])
    with pytest.raises(InputError, match='target must be "out" or "in", got \'both\''):
        dgsuite.mixing(graph, target="both")
    with pytest.raises(InputError, match="negative"):
        dgsuite.mixing(graph, weighted=True)
    assert float(dgsuite.mixing(graph).assortativity) == -1


def test_nodes_without_edges_do_not_count_where_all_degrees_are_the_same():
    """Their degree of 0 is not the middle, from which sums of rounded weights would differ."""
    ring = nx.cycle_graph(9)
    nx.set_edge_attributes(ring, 0.1, "weight")
    ring.add_nodes_from(range(9, 40))
    found = dgsuite.mixing(Graph.from_networkx(ring, clusters=3), weighted=True)
    assert np.isnan(float(found.assortativity))
