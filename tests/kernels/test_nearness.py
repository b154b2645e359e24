"""Distances from many sources, by samples, few searches, estimates, in grids, and with negative weights."""

import re
import warnings
from contextlib import nullcontext

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import genval
from dgsuite.base.errors import InputError, NegativeCycle, RunError
from dgsuite.core.executors import serial
from dgsuite.kernels import FORMS, KERNELS, BreadthFirst, GridSearch
from dgsuite.kernels.analytics.hyperball import effective_diameter
from dgsuite.partition.clusters.grid import arrange, near_square
from dgsuite.partition.graph.graph import Graph
from tests.support.cases import inputs
from tests.support.definitions import cut, networks
from tests.support.sites import simulate
from tests.support.valid import valid

COUNTED = ["distance", "reached", "eccentricity", "messages"]


@pytest.mark.parametrize("directed", [False, True])
def test_more_sources_than_a_word_has_bits(directed):
    """On cuts whose searches go either way, among components of which one has no source."""
    net = nx.gnm_random_graph(300, 700, seed=2, directed=directed)
    net.add_edges_from([(300, 301), (301, 302)])
    starts = list(range(0, 300, 2))
    found = []
    for clusters in (1, 2, 5):
        graph = Graph.from_networkx(net, clusters=clusters)
        ds = valid("bfs_many", graph, sources=starts)
        level = dgsuite.run("all_pairs", graph, sources=starts, style="serial").level
        assert (level.where(level > 0, 0).sum("source") == ds.distance).all()
        found.append(ds[COUNTED])
        assert not ds.reached.values[300:].any()
    assert found[0].equals(found[1])
    assert found[0].equals(found[2])


def test_both_ways_of_looking_agree(monkeypatch):
    from dgsuite.kernels.analytics import nearness

    graph = genval.graph("rmat", 2**9, clusters=3, client=None)
    found = []
    for look in (0, nearness.LOOK, 10**9):
        monkeypatch.setattr(nearness, "LOOK", look)
        found.append(valid("bfs_many", graph)[COUNTED])
    assert found[0].equals(found[1])
    assert found[0].equals(found[2])


def test_samples_of_all_nodes_are_exact_and_of_some_near():
    graph = genval.graph("er", 400, m=2400, client=None)
    for kernel in ("closeness", "harmonic"):
        runs = (valid(kernel, graph, samples=samples) for samples in (None, 400, 100))
        exact, whole, some = (ds[kernel].values for ds in runs)
        np.testing.assert_array_equal(exact, whole)
        assert 0 < np.abs(some / exact - 1).max() < 0.25
        assert not np.array_equal(some, valid(kernel, graph, samples=100, seed=1)[kernel].values)


def test_by_default_64_sources():
    graph = genval.graph("ring", 100, client=None)
    assert int(valid("bfs_many", graph).source.sum()) == 64
    assert int(valid("bfs_many", genval.graph("ring", 9, client=None)).source.sum()) == 9


def test_sources_are_labels():
    graph = Graph.from_edges(["b", "a"], ["a", "c"], relabel=True)
    ds = valid("bfs_many", graph, sources=["b"])
    assert ds.distance.sel(node=["a", "b", "c"]).values.tolist() == [1, 0, 2]
    ds = valid("all_pairs", graph, sources=["c", "b"])
    assert ds.level.sel(source="c", node=["a", "b", "c"]).values.tolist() == [1, 2, 0]
    ds = valid("all_pairs", graph, sources=2)
    assert ds.sizes["source"] == 2


def test_levels_without_their_sources_cannot_be_checked():
    graph = genval.graph("ring", 9, client=None)
    level = dgsuite.run("all_pairs", graph, sources=[1, 2], style="serial").level.values
    with pytest.raises(InputError, match="'level' has 2 columns for 9 sources"):
        genval.validate("all_pairs", graph, {"level": level})
    with pytest.raises(InputError, match="sources must be nodes from 0 to 8"):
        genval.validate("all_pairs", graph, {"level": level, "source": np.array([1, 9])})


@given(st.data(), st.sampled_from(["nodes", "diameter", "radius"]))
def test_they_are_networkxs(data, of):
    net = data.draw(networks(False))
    net.add_edges_from(
        (min(net), v) for v in data.draw(st.permutations(sorted(net)))[: len(net) // 2]
    )
    for part in [*nx.connected_components(net)]:
        net.add_edge(min(part), max(net))
    net.remove_edges_from([*nx.selfloop_edges(net)])
    graph = cut(net, data.draw)
    ds = valid("eccentricity", graph, of=of)
    right = nx.eccentricity(net)
    least, most = ds.eccentricity.values, ds.limit.values
    each = np.array([right[v] for v in net])
    assert (least <= each).all()
    assert (each <= most).all()
    if of == "nodes":
        np.testing.assert_array_equal(least, each)
    elif of == "diameter":
        assert least.max() == each.max()
    else:
        assert most.min() == each.min()


def test_social_networks_take_few_searches_on_any_cut():
    found = []
    for clusters in (1, 4):
        graph = genval.graph("rmat", 2**11, clusters=clusters, client=None).component()
        ds = dgsuite.run("eccentricity", graph, of="diameter", style="serial")
        exact = dgsuite.run("bfs_many", graph, sources=graph.n, style="serial").eccentricity
        assert ds.eccentricity.values.max() == exact.values.max()
        assert ds.messages.values.sum() < 20 * 2 * graph.m
        found.append((ds.messages.values.tolist(), int(ds.limit.sum())))
    assert found[0] == found[1]


def test_a_graph_must_be_connected():
    graph = dgsuite.Graph.from_edges([0, 2], [1, 3])
    with pytest.raises(InputError, match=r"not connected: .*graph\.component\(\) is its largest"):
        dgsuite.run("eccentricity", graph)
    assert dgsuite.run("eccentricity", graph.component()).eccentricity.values.tolist() == [1, 1]


GRAPHS = {"er": {"n": 800, "m": 1600}, "grid": {"n": 400}, "rmat": {"n": 1024}}


def exact(graph):
    """Reached nodes, sums of distances, harmonic centrality, and pairs by hops."""
    searches = dgsuite.run("bfs_many", graph, sources=graph.n, style="serial")
    level = dgsuite.run("all_pairs", graph, style="serial").level.values
    pairs = np.cumsum(np.bincount(level[level >= 0]))
    harmonic = dgsuite.run("harmonic", graph, style="serial").harmonic.values
    return searches.reached.values, searches.distance.values, harmonic, pairs


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", GRAPHS)
def test_estimates_are_within_the_stated_error(kind):
    """Root mean squares over nodes and seeds: all nodes of a component share most of their error."""
    graph = genval.graph(kind, clusters=2, client=None, **GRAPHS[kind])
    reached, distance, harmonic, pairs = exact(graph)
    near, off = reached > 0, {}
    for seed in range(12):
        ds = dgsuite.run("hyperball", graph, log2m=7, seed=seed, style="serial")
        assert ds.neighbourhood.values[0] == graph.n
        assert ds.neighbourhood.values[-1] == (ds.reached.values + 1).sum()
        few = min(ds.sizes["round"], len(pairs))
        ratios = {
            "ball": (ds.reached.values + 1) / (reached + 1),
            "distance": ds.distance.values[near] / distance[near],
            "harmonic": ds.harmonic.values[near] / harmonic[near],
            "pairs": ds.neighbourhood.values[:few] / pairs[:few],
            "effective diameter": ds.attrs["effective_diameter"] / effective_diameter(pairs),
        }
        for name, ratio in ratios.items():
            off.setdefault(name, []).append(np.sqrt(np.square(ratio - 1).mean()))
    assert genval.validate("hyperball", graph, ds).ok
    error = ds.attrs["relative_standard_error"]
    assert error == 1.046 / np.sqrt(128)
    for name, each in off.items():
        assert np.sqrt(np.square(each).mean()) < 1.4 * error, name


def test_the_error_of_a_counter_is_that_of_the_paper():
    """At a node that half of all reach, so that the estimate is not cut off at n."""
    n = 2000
    star = dgsuite.Graph.from_edges(np.arange(1, n), np.zeros(n - 1, int), n=2 * n, directed=True)
    off = []
    for seed in range(50):
        ds = dgsuite.run("hyperball", star, log2m=6, seed=seed, style="serial")
        off.append((ds.reached.values[0] + 1) / n - 1)
    assert 0.7 < np.sqrt(np.square(off).mean()) / (1.04 / 8) < 1.3
    assert abs(np.mean(off)) < 0.05


def test_paths_lead_to_the_node():
    graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=True)
    ds = dgsuite.run("hyperball", graph, log2m=10)
    assert ds.reached.values.tolist() == [0, 1, 2, 3]
    assert ds.distance.values.tolist() == [0, 1, 3, 6]
    right = dgsuite.run("closeness", graph).closeness
    np.testing.assert_allclose(ds.closeness, right, 1e-12)


@pytest.mark.parametrize("log2m", [4, 8])
def test_two_nodes_may_count_as_one(log2m):
    """Of many pairs some draw the same register."""
    pairs = np.arange(2000)
    graph = Graph.from_edges(pairs, pairs + len(pairs))
    ds = dgsuite.run("hyperball", graph, style="serial", log2m=log2m)
    assert (ds.reached == 0).any()
    assert genval.validate("hyperball", graph, ds).ok


@pytest.mark.parametrize(("log2m", "factor"), [(4, 1.106), (6, 1.054), (8, 1.04)])
def test_few_registers_err_more_than_the_limit(log2m, factor):
    path = dgsuite.Graph.from_edges([0, 1], [1, 2])
    ds = dgsuite.run("hyperball", path, log2m=log2m, style="serial")
    assert ds.attrs["relative_standard_error"] == factor / 2 ** (log2m / 2)


@given(st.data())
def test_any_grid_gives_the_tree_of_bfs(data):
    kernel, make = data.draw(inputs("bf"))  # whose graphs are undirected
    rows, columns = data.draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    expected, _ = serial.run(BreadthFirst(root=kernel.root), make().parts)
    graph = arrange(make(clusters=rows * columns), rows, columns)
    found, _ = simulate(GridSearch(root=kernel.root), graph, data.draw(st.integers(1, 4)))
    for name in ("level", "parent"):
        np.testing.assert_array_equal(expected[name], found[name])


@pytest.mark.few(1)
@pytest.mark.parametrize("style", ["finish_async", "clocked"])
def test_a_grid_on_workers(threaded, style):
    graph = genval.graph("rmat", 2**14, clusters=6, client=threaded)
    assert not graph.local
    expected = dgsuite.run("bfs", graph, client=threaded, root=1)
    grid = arrange(graph)
    found = dgsuite.run("bfs2d", grid, client=threaded, root=1, style=style)
    np.testing.assert_array_equal(expected.parent, found.parent)
    assert genval.validate("bfs2d", grid, found).ok
    here = dgsuite.run("bfs2d", grid, style="serial", root=1)
    for name in ("expand_bytes", "fold_bytes", "frontier", "messages", "bytes"):
        np.testing.assert_array_equal(here[name], found[name])
    assert int(found.frontier.sum()) == int((found.level >= 0).sum())


def test_bytes_of_one_row_one_column_and_a_square():
    """One column only expands, one row only folds; in a square each reaches sqrt(p) - 1 others."""
    graph = genval.graph("rmat", 2**12, clusters=16)
    how = {"style": "serial", "root": 1}
    grids = (arrange(graph, *shape) for shape in ((16, 1), (1, 16), (4, 4)))
    row, column, square = (dgsuite.run("bfs2d", grid, **how).sum() for grid in grids)
    assert (row.fold_bytes, column.expand_bytes) == (0, 0)
    assert square.expand_bytes * 15 == row.expand_bytes * 3
    assert square.fold_bytes < column.fold_bytes


def test_grids():
    for shape in ((1, 1), (1, 2), (2, 2), (2, 3), (1, 7), (3, 4), (4, 4)):
        assert near_square(shape[0] * shape[1]) == shape
    graph = genval.graph("rmat", 64, clusters=6)
    for rows, columns in ((2, 2), (0, 3), (4, None), (-1, -6)):
        with pytest.raises(InputError, match="does not match 6 clusters"):
            arrange(graph, rows, columns)
    assert arrange(graph, 3).parts[0].block.columns == 2
    assert arrange(graph, columns=6).parts[0].block.rows == 1
    with pytest.raises(InputError, match="has no grid"):
        dgsuite.run("bfs2d", graph, style="serial")
    with pytest.raises(InputError, match="not a map"):
        arrange(genval.graph("rmat", 64, clusters=6, partition="hash"))
    with pytest.raises(InputError, match="root 64"):
        dgsuite.run("bfs2d", arrange(graph), style="serial", root=64)


@pytest.mark.parametrize("form", ["iterative", "block"])
def test_nearest_sources_are_labels(form):
    edges = nx.path_graph(70).edges
    names = np.array([f"v{i:02}" for i in range(70)])
    found = []
    for clusters in (1, 3, 8):
        graph = dgsuite.Graph.from_edges(*names[np.array(edges)].T, relabel=True, clusters=clusters)
        ds = valid("sssp", graph, sources=["v69", "v10", "v40"], form=form)
        found.append(ds[["distance", "parent", "source"]])
        wrong = ds.assign(source=ds.source.copy(data=np.roll(ds.source, 1)))
        assert not genval.validate("sssp", graph, wrong).ok
    assert found[0].equals(found[1])
    assert found[0].equals(found[2])
    near = found[0].source.sel(node=["v00", "v24", "v26", "v54", "v55", "v69"])
    assert near.values.tolist() == ["v10", "v10", "v40", "v40", "v69", "v69"]


@pytest.mark.parametrize("kernel", ["sssp", "bellman_ford"])
@pytest.mark.parametrize(
    ("sources", "message"),
    [([], "at least one node"), ([1, 1], "different nodes"), ([9], "not a node"), (2, "sources")],
)
def test_wrong_sources(kernel, sources, message):
    graph = genval.graph("ring", 9, client=None)
    for form in ("iterative", "block") if kernel == "sssp" else ("iterative",):
        with pytest.raises(InputError, match=message):
            dgsuite.run(kernel, graph, style="serial", sources=sources, form=form)


@given(st.data(), st.integers(0, 3), st.booleans())
def test_negative_weights(data, least, real):
    net = data.draw(networks(True))
    for u, v in net.edges:
        net[u][v]["weight"] = ((u * 5 + v * 11) % 9 - least) / (4 if real else 1)
    graph, root = cut(net, data.draw), data.draw(st.sampled_from(sorted(net)))
    if data.draw(st.booleans()):
        with nullcontext() if not nx.negative_edge_cycle(net) else pytest.raises(NegativeCycle):
            assert (valid("bellman_ford", graph, sources=[*net]).distance <= 0).all()
    try:
        right = nx.single_source_bellman_ford_path_length(net, root)
    except nx.NetworkXUnbounded:
        with pytest.raises(NegativeCycle, match=r"the cycle .* is of negative length") as caught:
            dgsuite.run("bellman_ford", graph, root=root, style="serial")
        named = str(caught.value).partition("the cycle ")[2].partition(" is of")[0]
        cycle = [*map(int, named.split(" -> "))]
        assert cycle[0] == cycle[-1]
        assert nx.path_weight(net, cycle, "weight") < 0
    else:
        found = valid("bellman_ford", graph, root=root).distance.values
        assert found.tolist() == [right.get(v, np.inf) for v in net]


def test_a_long_cycle_is_found_early_and_named_in_part():
    n = 3000
    node = np.arange(n)
    weights = np.where(node == n - 1, -1, 0)
    graph = Graph.from_edges(node, (node + 1) % n, weights=weights, directed=True, clusters=3)
    with pytest.raises(NegativeCycle, match=r"the cycle \.\.\. -> 2980 -> .* -> 2999 -> 0 is of n"):
        dgsuite.run("bellman_ford", graph, sources=node, style="serial")


def test_a_negative_edge_of_an_undirected_graph_is_a_cycle():
    graph = dgsuite.Graph.from_edges([0, 1], [1, 2], weights=[1, -1])
    with pytest.raises(NegativeCycle, match=r"the cycle (1 -> 2 -> 1|2 -> 1 -> 2) is"):
        dgsuite.run("bellman_ford", graph)
    with pytest.raises(InputError, match="negative weight"):
        dgsuite.run("sssp", graph)


def test_many_rounds_without_a_cycle():
    n = 100
    up = np.arange(n - 1)
    graph = dgsuite.Graph.from_edges(up, up + 1, weights=-1 - up % 3, directed=True, clusters=4)
    ds = valid("bellman_ford", graph)
    np.testing.assert_array_equal(ds.distance, np.concatenate([[0], np.cumsum(-1 - up % 3)]))


def test_distances_that_are_not_exact_are_errors():
    for weight, message in (-(2**52), "be below 2.53 to be exact"), (-1.5e308, "fit a float64"):
        graph = Graph.from_edges([0, 1], [1, 2], weights=[weight, weight], directed=True)
        with pytest.raises(RunError, match=f"the distance of node 2 must {message}"):
            dgsuite.run("bellman_ford", graph, style="serial")


@pytest.mark.parametrize("kernel", ["bfs", "bf", "sssp", "bellman_ford"])
@pytest.mark.parametrize("form", ["iterative", "block"])
def test_a_search_that_reaches_its_root_alone_says_so(kernel, form):
    """If nobody chose the root, and not where it reaches others or was asked to go nowhere."""
    if kernel not in FORMS[form]:
        return
    graph = dgsuite.Graph.from_edges([1, 2], [2, 0], directed=True)
    message = f"kernel '{kernel}': only the root, 0, is reached, since no edge leaves it; root="
    if KERNELS[kernel].undirected:
        graph = dgsuite.Graph.from_edges([1, 2], [2, 3])
    with pytest.warns(UserWarning, match=re.escape(message)):
        dgsuite.run(kernel, graph, form=form)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dgsuite.run(kernel, graph, form=form, root=0)
        dgsuite.run(kernel, dgsuite.Graph.from_edges([0], [1]), form=form)
        dgsuite.run(kernel, dgsuite.Graph.from_edges([], [], n=1), form=form)
        if kernel == "bfs" and form == "iterative":
            dgsuite.run(kernel, graph, cutoff=0)
            path = dgsuite.Graph.from_edges([0], [1])
            dgsuite.run(kernel, path, network=dgsuite.Network(crashes={0: 0}))
