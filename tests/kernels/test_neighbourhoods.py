"""Labels, triangles and coefficients of examples, and what kernels of neighbours cost."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite.base.errors import RunError
from dgsuite.core.executors import serial
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies import scaling
from tests.support.definitions import clustered, cut, example, networks
from tests.support.faulty import Wrong
from tests.support.valid import valid


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e300])
def test_sums_of_weights_are_exact_on_any_cut(directed, scale):
    """Of 0.1 + 0.2 and 0.3, which are multiples of the same small part, neither is greater."""
    ends = [1, 2, 3], [0, 0, 0]
    labels = [-1, 3, 3, 1]
    found = []
    for clusters in (1, 2, 4):
        graph = Graph.from_edges(
            *ends,
            weights=np.array([0.1, 0.2, 0.3]) * scale,
            directed=directed,
            clusters=clusters,
        )
        ds = valid("cdlp", graph, weighted=True, labels=labels, fixed=[1, 2, 3])
        found.append(ds.label.values.tolist())
    assert found == [found[0]] * 3
    assert found[0][0] in (1, 3)


def test_labels_spread_from_the_nodes_that_have_some():
    """By name, of two as many the smaller one; one component has no such node, one nobody to tell."""
    graph = Graph.from_edges(
        [0, 1, 2, 4], [1, 2, 3, 5], n=7, labels=["ann", "bob", "cid", "dan", "eve", "fay", "gus"]
    )
    seeds = {"ann": "ann", "dan": "dan", "gus": "dan"}
    ds = valid("cdlp", graph, labels=seeds, fixed=[*seeds])
    assert ds.label.values.tolist() == ["ann", "ann", "ann", "dan", "", "", "dan"]
    again = valid("cdlp", graph, labels=ds.label.values, fixed=["ann", "dan"])
    np.testing.assert_array_equal(again.label, ds.label)


def test_lists_on_directed_graphs_and_their_traffic_are_refused():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 0], directed=True)
    with pytest.raises(RunError, match="phase 'send', cluster 0: shares lists"):
        serial.run(Wrong(what="lists too short"), graph.parts)
    with pytest.raises(dgsuite.InputError, match="lists that nodes share is not counted"):
        scaling.trace("triangles", graph.to_undirected(), clusters=[2])


EXAMPLE = {
    False: ([2, 3, 2, 2, 6, 5, 2, 5, 5], [15, 5, 15, 10, 3, 15, 10, 15, 0]),
    True: ([1, 2, 3, 4, 1, 1, 2, 3, 2, 1], [40, 10, 9, 3, 15, 0, 0, 50, 0, 0]),
}
"""Labels of the example graphs of LDBC Graphalytics, and coefficients: fifteenths, or sixtieths."""


@pytest.mark.parametrize("directed", EXAMPLE)
def test_the_examples_of_graphalytics(directed):
    labels, parts = EXAMPLE[directed]
    graph = example(directed, clusters=3)
    assert valid("cdlp", graph, iterations=2).label.values.tolist() == labels
    found = valid("lcc", graph).coefficient * (60 if directed else 15)
    np.testing.assert_allclose(found, parts, rtol=1e-12)
    assert set(valid("wcc", graph).component.values) == {1 if directed else 2}


def test_labels_that_stay_are_not_sent_again():
    """Two cliques agree after two steps; the third finds no change."""
    net = nx.disjoint_union(nx.complete_graph(5), nx.complete_graph(4))
    ds = valid("cdlp", Graph.from_networkx(net, clusters=2), iterations=100)
    assert ds.label.values.tolist() == [0] * 5 + [5] * 4
    assert ds.messages.values.tolist() == [32, 32, 7]


@pytest.mark.few(1)
@pytest.mark.parametrize("core", [0, 64, 1000])
def test_triangles_are_the_same_for_any_core(core, monkeypatch):
    """Bits of words beyond the first, and lists beside them."""
    monkeypatch.setattr("dgsuite.kernels.analytics.triangles.CORE", core)
    net = nx.powerlaw_cluster_graph(1000, 40, 0.5, seed=1)
    ds = dgsuite.run("triangles", Graph.from_networkx(net, clusters=3), style="serial")
    np.testing.assert_array_equal(ds.triangles, [*nx.triangles(net).values()])


@given(networks(directed=True), st.sampled_from([0, 8, 1000]), st.data())
def test_coefficients_of_directed_graphs(net, core, data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dgsuite.kernels.analytics.triangles.CORE", core)
        ds = valid("lcc", cut(net, data.draw))
    np.testing.assert_allclose(ds.coefficient, clustered(net), rtol=1e-12)


def test_rounds_of_colouring_and_matching_grow_slowly():
    """On a path of 2000 nodes both are over in far fewer rounds than it has nodes."""
    graph = Graph.from_networkx(nx.path_graph(2000))
    assert valid("colouring", graph).sizes["round"] < 20
    assert valid("matching", graph).sizes["round"] < 20
