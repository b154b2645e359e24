"""Components, bridges, cycles, labels, cliques, similar nodes, dense sets: beyond what all kernels meet."""

import itertools
import math
import uuid
from itertools import combinations, pairwise, product

import dask
import dask.dataframe as dd
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import genval
from dgsuite.base.errors import InputError, RunError
from dgsuite.core.executors import serial
from dgsuite.kernels import KERNELS
from dgsuite.kernels.analytics.similarity import MEASURES
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies import scaling
from tests.cards.card import smallest
from tests.support.cases import in_turn
from tests.support.definitions import cut, example, networks
from tests.support.faulty import Wrong
from tests.support.small_graphs import assert_only
from tests.support.valid import valid


@given(st.lists(st.integers(1, 8), min_size=1, max_size=9), st.data())
def test_strong_components_of_chains_of_cycles(lengths, data):
    """A cycle leads to the next, and the last node to none."""
    nodes = np.random.default_rng(data.draw(st.integers(0, 99))).permutation(sum(lengths))
    cycles = [part.tolist() for part in np.split(nodes, np.cumsum(lengths)[:-1])]
    net = nx.DiGraph()
    net.add_nodes_from(range(len(nodes)))
    for cycle in cycles:
        net.add_edges_from(zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    net.add_edges_from((a[0], b[-1]) for a, b in pairwise(cycles))
    net.remove_edges_from([*nx.selfloop_edges(net)])
    found = valid("scc", cut(net, data.draw)).component
    np.testing.assert_array_equal(found, smallest(net, cycles))


NAMES = "bridges", "biconnected"


@st.composite
def thin(draw):
    """Networks with many cut nodes: trees with some more edges, in several parts."""
    n = draw(st.integers(1, 30))
    luck = np.random.default_rng(draw(st.integers(0, 10**6)))
    net = nx.empty_graph(n)
    reach = draw(st.sampled_from([1, 3, n]))
    for v in range(1, n):
        if luck.random() < 0.9:
            net.add_edge(v, int(luck.integers(max(0, v - reach), v)))
    more = luck.integers(0, n, (draw(st.integers(0, n // 2)), 2))
    net.add_edges_from((u, v) for u, v in more.tolist() if u != v)
    found = nx.empty_graph(n)  # its nodes ascend
    found.add_edges_from(luck.permutation(n)[np.array([*net.edges], int).reshape(-1, 2)].tolist())
    return found


@pytest.mark.parametrize("kernel", NAMES)
@given(net=thin(), data=st.data())
def test_networks_with_many_cut_nodes(kernel, net, data):
    ds = dgsuite.run(kernel, cut(net, data.draw), style="serial")
    assert_only(net, KERNELS[kernel](), None, ds)


@pytest.mark.parametrize("kernel", NAMES)
def test_a_long_path_needs_no_recursion(kernel):
    n = 100_000
    graph = dgsuite.Graph.from_edges(np.arange(n - 1), np.arange(1, n), clusters=3)
    ds = dgsuite.run(kernel, graph)
    if kernel == "bridges":
        assert np.array_equal(ds.source, np.arange(n - 1))
        assert int(ds.articulation.sum()) == n - 2
        assert np.array_equal(ds.component, np.arange(n))
    else:
        assert np.array_equal(ds.block, np.repeat(np.arange(n - 1), 2))


@pytest.mark.parametrize("kernel", NAMES)
def test_nothing_is_told_of_nodes_of_the_largest_component(kernel):
    n = 90
    graph = dgsuite.Graph.from_edges(np.arange(n), (np.arange(n) + 1) % n, clusters=3)
    assert int(dgsuite.run(kernel, graph).messages.sum()) == n  # the edges


@pytest.mark.parametrize("kernel", NAMES)
def test_clusters_with_many_edges_send_two_for_each_node_at_most(kernel):
    n = 60
    graph = dgsuite.Graph.from_edges(*np.triu_indices(n, 1), clusters=3)
    assert int(dgsuite.run(kernel, graph).messages.sum()) < 2 * (60 + 40 + 20) < graph.m


def test_each_output_of_a_kernel_with_a_table_has_a_frame():
    graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], clusters=2)
    ds = dgsuite.run("bridges", graph)
    assert [*dgsuite.to_dataframe(ds).columns] == ["source", "target"]
    nodes = dgsuite.to_dataframe(ds, ["articulation", "component"]).compute()
    assert [*nodes.columns] == ["node", "articulation", "component"]
    assert nodes.articulation.tolist() == [False, False, True, False]
    with pytest.raises(InputError, match="unknown output by pair 'component'"):
        dgsuite.to_dataframe(ds, ["source", "component"])


def density(net, nodes):
    return net.subgraph(nodes).number_of_edges() / len(nodes)


@given(st.integers(1, 9), st.integers(0, 999), st.sampled_from([0.0, 0.1, 1.0]), st.data())
def test_density_is_close_to_the_largest(n, seed, epsilon, data):
    net = nx.gnp_random_graph(n, 0.4, seed)
    ds = valid("densest", cut(net, data.draw), epsilon=epsilon)
    found = density(net, np.flatnonzero(ds.densest.values).tolist())
    sets = [some for size in range(1, n + 1) for some in combinations(range(n), size)]
    assert found >= max(density(net, some) for some in sets) / (2 + 2 * epsilon)
    assert found == pytest.approx(float((ds.degrees_left / ds.nodes_left).max()) / 2)


def test_a_clique_in_a_sparse_graph_is_found_in_few_rounds():
    net = nx.gnm_random_graph(2000, 3000, seed=2)
    clique = np.arange(0, 2000, 80)
    net.add_edges_from(combinations(clique.tolist(), 2))
    ds = valid("densest", Graph.from_networkx(net, clusters=3))
    np.testing.assert_array_equal(np.flatnonzero(ds.densest.values), clique)
    assert ds.sizes["round"] < 10


def test_the_densest_set_of_no_edges():
    assert valid("densest", Graph.from_edges([], [], n=3)).densest.values.all()


def ordered(kernel, graph, **how):
    ds = valid(kernel, graph, **how)
    return [ds[name].values for name in ("generation", "colour", "cycle") if name in ds]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("n", [2, 3, 200, 201])
def test_long_cycles(n, directed):
    order = np.random.default_rng(n).permutation(n)
    graph = Graph.from_edges(order, np.roll(order, 1), directed=directed, clusters=3)
    if directed or n == 2:
        generation, cycle = ordered("topological", graph)
        assert (generation == -1).all()
        assert sorted(cycle) == [*range(n)]
    colour, cycle = ordered("bipartite", graph)
    assert sorted(cycle) == [*range(n)] if n % 2 else (cycle == -1).all()
    assert colour.sum() == (-n if n % 2 else n // 2)


def test_an_undirected_edge_is_a_cycle():
    generation, cycle = ordered("topological", Graph.from_edges([0, 1], [1, 2], n=4))
    assert generation.tolist() == [-1, -1, -1, 0]
    assert sorted(cycle) == [-1, -1, 0, 1]


@pytest.mark.parametrize("n", [63, 64, 65, 66, 130])
def test_sets_of_any_number_of_words(n):
    graph = dgsuite.Graph.from_networkx(nx.complete_graph(n), clusters=2)
    for k in (3, 4, 5):
        found = dgsuite.run("cliques", graph, k=k).cliques.values
        assert (found == math.comb(n - 1, k - 1)).all()


def test_a_result_without_all_orbits_is_refused():
    graph = dgsuite.Graph.from_edges([0], [1])
    with pytest.raises(InputError, match=r"'orbits' must have shape \(2, 15\), got \(2, 3\)"):
        genval.validate("motifs", graph, {"orbits": np.zeros((2, 3), int)})


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e300])
def test_sums_of_weights_are_exact_on_any_cut(directed, scale):
    """Of 0.1 + 0.2 and 0.3, which are multiples of the same small part, neither is greater."""
    weights, found = np.array([0.1, 0.2, 0.3]) * scale, []
    how = {"weighted": True, "labels": [-1, 3, 3, 1], "fixed": [1, 2, 3]}
    graph = Graph.from_edges([1, 2, 3], [0, 0, 0], weights=weights, directed=directed)
    for clusters in (1, 2, 4):
        ds = valid("cdlp", graph.repartition(clusters), **how)
        found.append(ds.label.values.tolist())
    assert found == [found[0]] * 3
    assert found[0][0] in (1, 3)


def test_labels_spread_from_the_nodes_that_have_some():
    """By name, of two as many the smaller one; one component has no such node, one nobody to tell."""
    names = ["ann", "bob", "cid", "dan", "eve", "fay", "gus"]
    graph = Graph.from_edges([0, 1, 2, 4], [1, 2, 3, 5], n=7, labels=names)
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


def test_rounds_of_colouring_and_matching_grow_slowly():
    """On a path of 2000 nodes both are over in far fewer rounds than it has nodes."""
    graph = Graph.from_networkx(nx.path_graph(2000))
    assert valid("colouring", graph).sizes["round"] < 20
    assert valid("matching", graph).sizes["round"] < 20
    for kind in ("er", "grid", "ring", "tree"):
        ds = dgsuite.run("matching", genval.graph(kind, 4096), style="serial")
        assert ds.sizes["round"] <= 9


def test_an_independent_dominating_set_may_be_large():
    """Of two hubs that are neighbours, where the hubs alone would dominate."""
    hub = np.repeat([0, 1], 30)
    graph = Graph.from_edges(np.append(hub, 0), np.append(np.arange(2, 62), 1))
    found = dgsuite.run("ds", graph).in_ds
    assert int(found.sum()) == 31
    assert int(found[:2].sum()) == 1


def test_routing_tables_take_a_message_between_any_two():
    ds = dgsuite.run("dr", Graph.from_networkx(nx.path_graph(10)), style="serial")
    assert (ds.attrs["exchanges"], int(ds.messages.sum())) == (1, 90)


STYLES = ("clocked", "finish_async")

WAYS = [*product(STYLES, ("nodes", "hash"))]

COLUMNS = ("source", "target", "similarity")


def rows_of(graph, measure, **how):
    """The rows of a serial rows_of, which the rule accepts."""
    ds = dgsuite.run("similarity", graph, measure=measure, style="serial", **how)
    report = genval.validate("similarity", graph, ds)
    assert report.ok, str(report)
    return list(zip(*(ds[name].values.tolist() for name in COLUMNS), strict=True))


def close(found, wanted):
    assert [row[:2] for row in found] == [row[:2] for row in wanted]
    np.testing.assert_allclose([r[2] for r in found], [r[2] for r in wanted], rtol=1e-12)


@given(networks(), st.sampled_from([*MEASURES]), st.integers(1, 5), st.data())
def test_the_best_two_hops_away(net, measure, k, data):
    graph = cut(net, data.draw)
    found = rows_of(graph, measure, k=k)
    hops = dict(nx.all_pairs_shortest_path_length(net, cutoff=2))
    away = [(u, v) for u in net for v, far in hops[u].items() if far == 2]
    every = rows_of(graph, measure, pairs=away) if away else []
    wanted = []
    for _, rows in itertools.groupby(every, lambda row: row[0]):
        wanted += sorted(rows, key=lambda row: (-row[2], row[1]))[:k]
    assert found == wanted  # to the last bit


WEIGHTS = np.array([3, 0, 1, 2, 5, 4, 7, 1, 2, 6, 3, 2]) / 4
NET = nx.convert_node_labels_to_integers(nx.octahedral_graph())


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("measure", ["jaccard", "overlap", "cosine"])
def test_weights(measure, dtype):
    src, dst = np.array([*NET.edges]).T
    weights = (WEIGHTS * 4).astype(dtype)
    matrix = np.zeros((6, 6))
    matrix[src, dst] = matrix[dst, src] = weights
    for clusters in (1, 3):
        graph = Graph.from_edges(src, dst, weights=weights, clusters=clusters)
        found = rows_of(graph, measure)
        for u, v, value in found:
            a, b = matrix[u], matrix[v]
            least = np.minimum(a, b).sum()
            assert value == pytest.approx(
                {
                    "jaccard": least / np.maximum(a, b).sum(),
                    "overlap": least / min(a.sum(), b.sum()),
                    "cosine": a @ b / np.sqrt((a @ a) * (b @ b)),
                }[measure],
                rel=1e-12,
            )
        pairs = [row[:2] for row in found]
        assert rows_of(graph, measure, pairs=pairs) == found  # to the last bit
        plain = Graph.from_edges(src, dst)
        assert rows_of(graph, measure, weighted=False) == rows_of(plain, measure)


CALLED = [[f"node {i}" for i in range(9)], [*range(100, 109)], [uuid.UUID(int=i) for i in range(9)]]


@pytest.mark.parametrize("names", CALLED, ids=["text", "numbers", "objects"])
def test_pairs_are_named_as_the_graph_names_nodes(names):
    net = nx.wheel_graph(9)
    graph = Graph.from_networkx(nx.relabel_nodes(net, dict(enumerate(names))), clusters=2)
    ends = [(names[8], names[1]), (names[2], names[4]), (names[2], names[4])]
    frame = pd.DataFrame(ends, columns=["source", "target"])
    wanted = [(2, 4), (8, 1)]
    with dask.config.set({"dataframe.convert-string": False}):
        tables = [ends, frame, dd.from_pandas(frame, npartitions=2)]
    for pairs in tables:
        ds = dgsuite.run("similarity", graph, pairs=pairs, style="serial")
        assert ds.source.values.tolist() == [names[u] for u, _ in wanted]
        assert ds.target.values.tolist() == [names[v] for _, v in wanted]
        close([(*pair, s) for pair, s in zip(wanted, ds.similarity.values, strict=True)],
              [*nx.jaccard_coefficient(net, wanted)])  # fmt: skip
        assert genval.validate("similarity", graph, ds).ok


@pytest.mark.few(1)
@pytest.mark.parametrize(("labels", "way"), in_turn([False, True], WAYS))
def test_tables_stay_on_the_workers(client, labels, way):
    """In the same order as here."""
    style, partition = way
    net = nx.powerlaw_cluster_graph(300, 4, 0.4, seed=3)
    src, dst = np.array([*net.edges]).T
    how = {"labels": [f"node {i}" for i in range(300)]} if labels else {}
    graph = Graph.from_edges(src, dst, n=300, clusters=5, partition=partition, **how)
    for more in ({}, {"k": 2}):
        here = dgsuite.run("similarity", graph, style="serial", **more)
        with dask.config.set({"dgsuite.gather-limit": 0}):
            there = dgsuite.run("similarity", graph, style=style, client=client, **more)
        assert there.similarity.chunks is not None
        frame = dgsuite.to_dataframe(there).compute()
        assert list(frame.columns) == [*COLUMNS]
        for name in COLUMNS:
            np.testing.assert_array_equal(here[name], there[name].compute())
            np.testing.assert_array_equal(here[name], frame[name])
        assert genval.validate("similarity", graph, there).ok


def test_rows_of_a_table_are_checked():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 0])
    ds = dgsuite.run("similarity", graph, style="serial")
    short = {name: ds[name].values for name in COLUMNS} | {"target": ds.target.values[:-1]}
    with pytest.raises(InputError, match="same number of rows: 'source' has 3, 'target' has 2"):
        genval.validate("similarity", graph, short)
