"""Betweenness of nodes is what networkx finds, and of edges igraph, in every form, deal and style."""

import os
import threading
from itertools import product

import igraph
import networkx as nx
import numpy as np
import psutil
import pytest

import dgsuite
from dgsuite import genval
from dgsuite.kernels import KERNELS
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.report.claims.data import claims
from dgsuite.studies.scc import dealing
from tests.support.clusters import has_worked
from tests.support.patience import PATIENCE
from tests.support.valid import valid

FORMS = [("replicated", "block"), ("replicated", "cyclic"), ("partitioned", "block")]

WORKLOADS = {  # of the paper's Table 1: how to make it, and its edges
    row[1]: ({"n": row[2], **dict(zip("abcd", row[4:8], strict=True))}, row[9])
    for row in claims()["scc.table1.workloads"].data["rows"]
    if row[1] != "large"  # low again
}


def close(found, right):
    np.testing.assert_allclose(found, [right[v] for v in sorted(right)], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_edges_as_igraph(directed, weighted):
    net = nx.gnm_random_graph(120, 500, seed=4, directed=directed)
    src, dst = np.array([*net.edges]).T
    weights = np.random.default_rng(1).integers(1, 9, len(src))
    graph = Graph.from_edges(src, dst, n=120, weights=weights, directed=directed, clusters=3)
    other = igraph.Graph(n=120, edges=[*zip(src, dst, strict=True)], directed=directed)
    right = other.edge_betweenness(directed, weights=weights.tolist() if weighted else None)
    wanted = sorted((u, v, value) for (u, v), value in zip(net.edges, right, strict=True))
    ds = valid("edge_betweenness", graph, weighted=weighted)
    found = [ds[name].values for name in ("source", "target", "betweenness")]
    np.testing.assert_allclose(np.stack(found, axis=1), wanted, rtol=1e-9, atol=1e-9)


def test_edges_with_labels_and_no_edges():
    graph = Graph.from_edges([0, 1], [1, 2], labels=["x", "y", "z"])
    frame = dgsuite.to_dataframe(dgsuite.run("edge_betweenness", graph)).compute()
    assert frame.values.tolist() == [["x", "y", 2.0], ["y", "z", 2.0]]
    for form in ("replicated", "partitioned"):
        ds = valid("edge_betweenness", Graph.from_edges([], [], n=3), graph_form=form)
        assert not len(ds.source)


@pytest.mark.parametrize("name", WORKLOADS)
def test_edges_of_table_1(name):
    options, edges = WORKLOADS[name]
    graph = genval.rmat(**options)
    assert abs(graph.m / edges - 1) < 0.001
    assert graph.directed
    matrix = graph.to_scipy()
    assert matrix.diagonal().any()  # loops stay
    assert matrix.sum() == 8 * graph.n  # duplicates are weights
    assert (genval.rmat(**options, clusters=3).to_scipy() != matrix).nnz == 0
    assert genval.rmat(**options, seed=7).m != graph.m


def test_shares_of_an_rmat_graph_are_checked():
    for options, message in (
        ({"a": 0.6}, r"a \+ b \+ c \+ d must be 1, got 1.05"),
        ({"a": -0.1}, "a must be a share from 0 to 1"),
        ({"n": 0}, "n must be at least 1"),
        ({"n": 40}, "n must be at most 24"),
    ):
        with pytest.raises(dgsuite.InputError, match=message):
            genval.rmat(**options)


@pytest.mark.parametrize("partition", [[0, 0, 0, 0], [1, 0, 1, 0]])
def test_an_edge_that_weighs_nothing_counts_without_weights(partition):
    graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], weights=[0, 1, 1, 1], partition=partition)
    ds = dgsuite.run("bc", graph, style="serial", weighted=False)
    assert ds.betweenness.values.tolist() == [0.5] * 4
    assert genval.validate("bc", graph, ds).ok


@pytest.mark.few(3)
@pytest.mark.parametrize(("form", "deal"), FORMS)
@pytest.mark.parametrize("weighted", [False, True])
def test_more_paths_than_a_float_holds_are_an_error(form, deal, weighted):
    """2^1030 from one end of a row of diamonds to the other; from its middle 2^515."""
    at = 3 * np.arange(1030)
    sides = (at, at + 1), (at, at + 2), (at + 1, at + 3), (at + 2, at + 3)
    src, dst = np.concatenate(sides, axis=1)
    graph = Graph.from_edges(src, dst, weights=np.ones(len(src)), partition=np.arange(3091) % 2)
    options = {"graph_form": form, "deal": deal, "weighted": weighted, "style": "serial"}
    dgsuite.run("bc", graph, sources=[1545], **options)
    with pytest.raises(dgsuite.RunError, match="1e308 shortest paths from node 3; choose other"):
        dgsuite.run("bc", graph, sources=[1545, 3], **options)


@pytest.mark.parametrize(("form", "deal"), FORMS)
def test_an_edge_that_makes_a_path_no_longer_is_an_error(form, deal):
    options = {"graph_form": form, "deal": deal, "weighted": True, "style": "serial"}
    graph = Graph.from_edges([0, 1], [1, 2], weights=[1e20, 1.0], clusters=2)
    assert dgsuite.run("bc", graph, sources=[2], **options).betweenness[1] == 0.5
    with pytest.raises(dgsuite.RunError, match="a path from node 0 is as long with its last edge"):
        dgsuite.run("bc", graph, sources=[2, 0], **options)


def test_the_originals_defect_is_not_ours():
    """0 finds 3 over 1 first, at 9, then over 2 and 4, at 4: the original counts both ways."""
    net = nx.DiGraph()
    net.add_nodes_from(range(5))
    net.add_weighted_edges_from([(0, 1, 1), (1, 3, 8), (0, 2, 2), (2, 3, 2), (2, 4, 1), (4, 3, 1)])
    ds = dgsuite.run("bc", Graph.from_networkx(net), style="serial", weighted=True)
    close(ds.betweenness.values, nx.betweenness_centrality(net, normalized=False, weight="weight"))
    assert ds.betweenness.values.tolist() == [0, 0, 2, 0, 1]


def layered(width, layers, drop):
    """Layers of nodes, each joined to the next but for some edges; a source before them."""
    layer = 1 + np.arange(width * layers).reshape(layers, width)
    below, above = (np.repeat(layer[:-1], width, axis=1), np.tile(layer[1:], width))
    kept = np.random.default_rng(3).random(below.shape) >= drop
    src = np.concatenate([np.zeros(width, np.int64), below[kept]])
    return src, np.concatenate([layer[0], above[kept]])


@pytest.mark.parametrize("layers", [5, 16], ids=["exact", "inexact"])
def test_large_levels_have_the_same_bits_in_every_layout(layers):
    src, dst = layered(15, layers, 0.1)
    n = dst.max() + 1
    assert (15 * 0.9) ** (layers - 1) > 2**53 or layers == 5
    luck = np.random.default_rng(5)
    graphs = [Graph.from_edges(src, dst, n=n, partition=luck.integers(0, 3, n)) for _ in range(3)]
    found = [run_bc(graph, sources=[0, 1, int(n) - 1]) for graph in graphs]
    apart = run_bc(graphs[0], sources=[0, 1, int(n) - 1], graph_form="partitioned")
    net = nx.Graph(zip(src.tolist(), dst.tolist(), strict=True))
    close(apart, nx.betweenness_centrality_subset(net, [0, 1, int(n) - 1], list(net)))
    for each in found:
        np.testing.assert_array_equal(each, found[0])
    close(found[0], dict(enumerate(apart)))


def run_bc(graph, **parameters):
    return dgsuite.run("bc", graph, **parameters).betweenness.values


@pytest.mark.parametrize("n", [254, 255, 256, 257, 1000])
def test_hops_beyond_a_byte(n):
    graph = Graph.from_edges(np.arange(n - 1), np.arange(1, n), clusters=2)
    found = run_bc(graph, sources=[0, n // 2])
    node = np.arange(n)
    behind = n - 1 - node  # nodes that node 0 reaches through a node
    behind_middle = np.where(node < n // 2, node, np.where(node > n // 2, behind, 0))
    right = behind + behind_middle
    right[[0, -1]] = 0
    np.testing.assert_array_equal(found, right / 2)


@pytest.mark.parametrize("name", ["bc", "edge_betweenness"])
def test_clusters_send_along_the_edges_between_them_alone(name):
    """A cluster asks for each node outside that it has edges to, once; a source reaches all nodes outside."""
    for clusters, asked, reached in ((1, 0, 0), (2, 2 * 4, 8 * 4), (4, 4 * 6, 8 * 6)):
        graph = Graph.from_networkx(nx.complete_graph(8), clusters=clusters)
        ds = dgsuite.run(name, graph, graph_form="partitioned", style="serial")
        assert ds.messages.values[0] == asked + reached


@pytest.mark.few(1)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", ["bc", "edge_betweenness"])
def test_on_workers(threaded, kernel, weighted):
    """All forms, deals and styles: the same bits."""
    graph = genval.rmat(n=9, clusters=4)
    how = {"weighted": weighted, "sources": 200}
    alone = dgsuite.run(kernel, graph, style="serial", **how)
    for style, (form, deal) in product(("clocked", "finish_async"), FORMS):
        more = {"graph_form": form, **({"deal": deal} if kernel == "bc" else {})}
        ds = dgsuite.run(kernel, graph, style=style, client=threaded, **how, **more)
        for name in KERNELS[kernel].outputs:
            np.testing.assert_array_equal(ds[name], alone[name])
    if kernel == "bc":
        drawn = np.flatnonzero(alone.source).tolist()
        free = dealing.run(graph, threaded, drawn, weighted)
        np.testing.assert_array_equal(free.betweenness, alone.betweenness)
        assert free.scanned == int(alone.scanned.sum())


@pytest.mark.long
def test_a_worker_killed_in_the_middle(own_client):
    """Dealt dynamically the result is right."""
    graph = genval.rmat(n=12)
    right = dgsuite.run("bc", graph, style="serial").betweenness
    client = own_client
    dealing.run(graph, client, list(range(10)), True)
    victim = psutil.Process(next(iter(client.run(os.getpid).values())))

    def kill():
        has_worked([victim], 0.2)
        victim.kill()

    thread = threading.Thread(target=kill)
    thread.start()
    found = dealing.run(graph, client, weighted=True)
    thread.join()
    np.testing.assert_array_equal(found.betweenness, right)
    client.wait_for_workers(2, timeout=PATIENCE)


def test_what_the_rule_must_know():
    graph = Graph.from_edges([0, 1], [1, 2])
    facts = {"betweenness": np.zeros(3), "sources": 2}
    with pytest.raises(dgsuite.InputError, match="flags 'source'"):
        genval.validate("bc", graph, facts)
    assert not genval.validate("bc", graph, {"betweenness": np.zeros(3)}).ok
    assert genval.validate("bc", graph, {"betweenness": np.zeros(3), "source": [0, 1, 0]}).ok


@pytest.mark.parametrize("graph_form", ["replicated", "partitioned"])
@pytest.mark.parametrize("deal", ["block", "cyclic"])
@pytest.mark.parametrize("weights", [[2**53, 1, 2**53, 2], [2**62, 2**62, 1, 1], [1e308] * 4])
def test_distances_that_are_not_exact_are_refused(graph_form, deal, weights):
    graph = dgsuite.Graph.from_edges([0, 1, 0, 2], [1, 3, 2, 3], weights=weights, clusters=2)
    with pytest.raises(dgsuite.RunError, match=r"distances from node \d must fit a float64"):
        dgsuite.run("bc", graph, style="serial", weighted=True, graph_form=graph_form, deal=deal)


@pytest.mark.parametrize("graph_form", ["replicated", "partitioned"])
def test_edges_that_no_shortest_path_takes_may_weigh_anything(graph_form):
    graph = dgsuite.Graph.from_edges([0, 1, 0], [1, 2, 2], weights=[3, 4, 2**62], clusters=2)
    ds = dgsuite.run("bc", graph, style="serial", weighted=True, graph_form=graph_form)
    assert ds.betweenness.values.tolist() == [0, 1, 0]
