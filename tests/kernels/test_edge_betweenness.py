"""Betweenness of edges is igraph's, in every form and style."""

from __future__ import annotations

from itertools import product

import igraph
import networkx as nx
import numpy as np
import pytest

import dgsuite
from dgsuite import genval
from dgsuite.partition.graph.graph import Graph
from tests.support.valid import valid

COLUMNS = ("source", "target", "betweenness")
FORMS = ("replicated", "partitioned")


def run(graph, **how):
    """The rows of a serial run, which the rule accepts."""
    ds = valid("edge_betweenness", graph, **how)
    return [ds[name].values for name in COLUMNS]


def same(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def rows(net, found):
    """Edges and their values, as the kernel lists them."""
    ends = found if net.is_directed() else map(sorted, found)
    return sorted((*edge, value) for edge, value in zip(ends, found.values(), strict=True))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_as_igraph(directed, weighted):
    net = nx.gnm_random_graph(120, 500, seed=4, directed=directed)
    src, dst = np.array([*net.edges]).T
    weights = np.random.default_rng(1).integers(1, 9, len(src))
    graph = Graph.from_edges(src, dst, n=120, weights=weights, directed=directed, clusters=3)
    other = igraph.Graph(n=120, edges=[*zip(src, dst, strict=True)], directed=directed)
    right = other.edge_betweenness(directed, weights=weights.tolist() if weighted else None)
    wanted = rows(net, dict(zip(net.edges, right, strict=True)))
    found = run(graph, weighted=weighted)
    np.testing.assert_allclose(np.stack(found, axis=1), wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.few(1)
@pytest.mark.parametrize("weighted", [False, True])
def test_on_workers(threaded, weighted):
    graph = genval.rmat(n=8, clusters=4)
    how = {"weighted": weighted, "sources": 50, "seed": 3}
    alone = run(graph, **how)
    for style, form in product(("clocked", "finish_async"), FORMS):
        ds = dgsuite.run(
            "edge_betweenness", graph, style=style, client=threaded, graph_form=form, **how
        )
        same([ds[name].values for name in COLUMNS], alone)
        assert int(ds.start.sum()) == 50


def test_what_goes_over_edges_is_what_goes_through_nodes_and_to_them():
    """A path over an edge ends at the edge's head, or leads on through it."""
    net = nx.gnp_random_graph(40, 0.1, seed=2, directed=True)
    graph = Graph.from_networkx(net, clusters=2)
    _, target, over = run(graph)
    through = dgsuite.run("bc", graph, style="serial").betweenness.values
    ends = [len(nx.ancestors(net, v)) for v in net]
    np.testing.assert_allclose(np.bincount(target, over, 40), through + ends, rtol=1e-12)


def test_hops_beyond_a_byte():
    n = 300
    for form in FORMS:
        graph = Graph.from_edges(np.arange(n - 1), np.arange(1, n), clusters=2)
        left = np.arange(1, n)
        np.testing.assert_array_equal(run(graph, graph_form=form)[2], left * (n - left))


@pytest.mark.parametrize("graph_form", FORMS)
def test_bad_input_is_named(graph_form):
    graph = Graph.from_edges(
        [0, 1, 2], [1, 2, 0], weights=[2, -3, 1], directed=True, labels=list("abc")
    )
    for options, message in (
        ({"weighted": True}, "weights must be above 0, got -3"),
        ({"sources": ["a", "a"]}, "sources must be different nodes"),
        ({"sources": 4}, "sources must be from 1 to 3"),
        ({"batch": 0}, "batch must be at least 1"),
    ):
        with pytest.raises(dgsuite.InputError, match=message):
            run(graph, graph_form=graph_form, **{"weighted": False, **options})
    far = Graph.from_edges([0, 1], [1, 2], weights=[1e20, 1.0], clusters=2)
    with pytest.raises(dgsuite.RunError, match="a path from node 0 is as long with its last edge"):
        run(far, graph_form=graph_form)


def test_labels_and_no_edges():
    graph = Graph.from_edges([0, 1], [1, 2], labels=["x", "y", "z"])
    frame = dgsuite.to_dataframe(dgsuite.run("edge_betweenness", graph)).compute()
    assert frame.values.tolist() == [["x", "y", 2.0], ["y", "z", 2.0]]
    for form in FORMS:
        assert [len(column) for column in run(Graph.from_edges([], [], n=3), graph_form=form)] == [
            0
        ] * 3
