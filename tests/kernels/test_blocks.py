"""Block forms: outputs are those of the iterative forms for any cut, and deep graphs take few rounds."""

from itertools import count, product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import InputError, RunError, genval
from dgsuite.kernels import BLOCK
from dgsuite.kernels.analytics import searches_block
from dgsuite.kernels.bsp import COUNTS
from dgsuite.partition.graph.graph import Graph
from tests.support.cases import in_turn
from tests.support.examples import examples

SAME = {
    "all_pairs": ("level",),
    "bfs": ("level", "parent"),
    "bfs_many": ("distance", "reached", "eccentricity"),
    "closeness": ("closeness",),
    "core_number": ("core",),
    "eccentricity": ("eccentricity", "limit"),
    "harmonic": ("harmonic",),
    "mst": (),
    "scc": ("component",),
    "sssp": ("distance",),
    "topological": ("generation", "cycle"),
    "triangles": ("triangles",),
    "wcc": ("component",),
}
"""Outputs that are the same bits as those of the iterative form."""

OF = ("nodes", "diameter", "radius")
"""Whose eccentricities are to be found."""

WAYS = [*product(("clocked", "finish_async", "in_turn"), ("client", "threaded"))]


def grid(side, **how):
    ends = nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side)).edges
    return Graph.from_edges(*np.array(ends).T, **how)


def forest(ds):
    """Edges of a forest."""
    return {frozenset((v, u)) for v, u in enumerate(ds.parent.values.tolist()) if u >= 0}


def differing(datasets, names):
    return {n for ds in datasets for n in names if not np.array_equal(datasets[0][n], ds[n])}


@examples(2)
@given(st.data())
@pytest.mark.parametrize("name", sorted(BLOCK))
def test_outputs_are_those_of_the_iterative_form_for_any_cut(name, data):
    n, m = data.draw(st.integers(1, 24)), data.draw(st.integers(0, 60))
    luck = np.random.default_rng(data.draw(st.integers(0, 999)))
    ends = luck.integers(0, n, (2, m))
    kinds = {"none": None, "whole": luck.integers(0, 4, m), "real": luck.random(m)}
    weights = kinds[data.draw(st.sampled_from(sorted(kinds)))]
    undirected = name in ("core_number", "eccentricity", "mst", "triangles")
    directed = not undirected and data.draw(st.booleans())
    if name == "eccentricity":  # of connected graphs: here are paths, with more edges
        ends, weights = np.append(ends, [np.arange(n - 1), np.arange(1, n)], axis=1), None
    how = {"of": data.draw(st.sampled_from(OF))} if name == "eccentricity" else {}
    graph = Graph.from_edges(*ends, n=n, weights=weights, directed=directed, clusters=1)
    expected = dgsuite.run(name, graph, style="serial", **how)
    cuts = [{"clusters": k} for k in (1, 2, 5)] + [{"partition": luck.integers(0, 3, n)}]
    found = []
    for cut in cuts:
        other = Graph.from_edges(*ends, n=n, weights=weights, directed=directed, **cut)
        found.append(dgsuite.run(name, other, style="serial", form="block", check=True, **how))
        assert genval.validate(name, other, found[-1]).ok
    assert not differing([expected, *found], SAME[name])
    assert not differing(found, BLOCK[name].outputs)
    if name == "mst":
        assert forest(found[0]) == forest(expected)


@pytest.mark.few(4)
@pytest.mark.parametrize(("name", "way"), in_turn(sorted(BLOCK), WAYS))
def test_styles_workers_and_threads_change_nothing(name, way, request):
    style, where = way
    on = request.getfixturevalue(where)
    graph = grid(12, weights=np.arange(264) % 7, clusters=4)
    alone = dgsuite.run(name, graph, style="serial", form="block", count_as="finish_async")
    ds = dgsuite.run(name, graph, style=style, form="block", client=on, count_as="finish_async")
    names = {*COUNTS, "round", *BLOCK[name].outputs} & {*alone.variables}
    assert not differing([alone, ds], names)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", ["bfs", "core_number", "sssp", "wcc"])
def test_a_deep_graph_takes_few_rounds(name):
    """A path of 2,000 nodes in four parts: one round a part, and what opens and closes."""
    path = np.arange(1_999)
    graph = Graph.from_edges(path, path + 1, clusters=4)
    ds = dgsuite.run(name, graph, style="serial", form="block")
    assert ds.sizes["round"] <= 6
    assert int(ds.messages.sum()) <= 32
    assert not differing([ds, dgsuite.run(name, graph, style="serial")], SAME[name])


@pytest.mark.parametrize("name", ["all_pairs", "bfs_many", "closeness", "harmonic"])
def test_searches_of_several_batches_take_few_rounds(name):
    """From 70 nodes of a path of 300 in three parts: two batches of some rounds each."""
    path = np.arange(299)
    graph = Graph.from_edges(path, path + 1, clusters=3)
    how = {"samples" if name in ("closeness", "harmonic") else "sources": 70, "style": "serial"}
    found = dgsuite.run(name, graph, form="block", **how)
    expected = dgsuite.run(name, graph, **how)
    assert found.sizes["round"] <= 10 < 500 < expected.sizes["round"]
    assert not differing([expected, found], SAME[name])


def test_triangles_on_two_clusters_need_no_lists(client):
    """Each edge between the clusters carries at most one number each way."""
    ends = np.random.default_rng(3).integers(0, 300, (2, 2_500))
    graph = Graph.from_edges(*ends, n=300, duplicates="min", clusters=2)
    expected = dgsuite.run("triangles", graph, style="serial")
    crossing = sum(int(cluster.remote_degree.sum()) for cluster in graph.gather())
    for style in ("serial", "clocked", "finish_async"):
        ds = dgsuite.run("triangles", graph, form="block", style=style, client=client)
        assert not differing([ds, expected], SAME["triangles"])
        assert 0 < int(ds.messages.sum()) < crossing


def test_the_root_of_a_tree_is_its_smallest_node():
    graph = Graph.from_edges([5, 4, 1], [4, 3, 2], n=7, clusters=3)
    ds = dgsuite.run("mst", graph, style="serial", form="block")
    assert ds.parent.values.tolist() == [-1, -1, 1, -1, 3, 4, -1]
    assert "mutexes" not in ds  # IMSuite's accounting is of other programs


def test_the_dataset_says_that_rounds_depend_on_the_cut():
    found = [dgsuite.run("bfs", grid(12, clusters=k), style="serial", form="block") for k in (1, 4)]
    for ds in found:
        assert ds.attrs["form"] == "block"
        assert {"round", "messages"} <= {*ds.attrs["cut_dependent"].split()}
    assert found[0].sizes["round"] != found[1].sizes["round"]


def test_of_equal_ways_the_parent_is_on_one_with_the_fewest_edges():
    """From 0 to 3: over 1 and 2 by edges of no length, or at once; then over the smallest."""
    graph = Graph.from_edges([0, 1, 2, 0, 3, 3], [1, 2, 3, 3, 4, 5], weights=[1, 0, 1, 2, 1, 1])
    graph = graph.repartition(3)
    ds = dgsuite.run("sssp", graph, style="serial", form="block")
    assert ds.parent.values.tolist() == [0, 0, 1, 0, 3, 3]


def test_what_has_no_block_form_is_named():
    with pytest.raises(InputError, match="'mis' has no block form; these kernels have one: all_p"):
        dgsuite.run("mis", grid(3), form="block")
    with pytest.raises(InputError, match="unknown parameter of 'sssp' 'delta'"):
        dgsuite.run("sssp", grid(3), form="block", delta=2)


def test_distances_that_are_not_exact_are_refused():
    graph = Graph.from_edges([0, 1], [1, 2], weights=[2**53, 2**53])
    with pytest.raises(RunError, match="distance of node 1 must be below 2"):
        dgsuite.run("sssp", graph, form="block", style="serial")


def test_largest_components_that_meet_late_are_joined():
    """Two paths of 5,000 nodes with one edge between them, at the ends of both, or by a node of a third."""
    path = np.arange(4_999)
    src = np.concatenate([path, path + 5_000])
    owner, by_third = np.repeat([0, 1, 2], [5_000, 5_000, 1]), [[4_999, 10_000], [10_000, 9_999]]
    for more, expected in (([[], []], [0, 5_000]), ([[4_999], [9_999]], [0]), (by_third, [0])):
        ends = np.concatenate([[src, src + 1], more], axis=1).astype(int)
        graph = Graph.from_edges(*ends, n=10_001, partition=owner)
        ds = dgsuite.run("wcc", graph, style="serial", form="block")
        assert np.unique(ds.component[:10_000]).tolist() == expected
        assert not differing([dgsuite.run("wcc", graph, style="serial"), ds], SAME["wcc"])


def drawn(seed, weights=False):
    """A deep random graph, its clusters by node, and its edges with weights."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    src = rng.integers(0, n, 2 * n)
    dst = np.clip(src + rng.integers(-4, 5, 2 * n), 0, n - 1)
    src, dst = np.unique(np.sort([src, dst], axis=0)[:, src != dst], axis=1)
    weight = rng.integers(1, 5, len(src)) if weights else None
    of = np.arange(n) * int(rng.integers(1, 7)) // n
    of = rng.permutation(of) if seed % 2 else of
    return n, src, dst, weight, of


def graph_of(n, src, dst, weight, of):
    return Graph.from_edges(src, dst, n=n, weights=weight, partition=of)


def network(n, src, dst, weight):
    net = nx.empty_graph(n)
    weight = np.ones(len(src), int) if weight is None else weight
    net.add_weighted_edges_from(zip(src.tolist(), dst.tolist(), weight.tolist(), strict=True))
    return net


def nearest(net, root):
    """By node its distance, and the fewest edges of a path as short."""
    far = nx.single_source_dijkstra_path_length(net, root)
    least = {root: 0}
    for v in sorted(far, key=lambda v: (far[v], v)):
        before = [u for u in net[v] if far[u] + net[v][u]["weight"] == far[v]]
        if v != root:
            least[v] = min(least[u] for u in before) + 1
    return {v: (far[v], least[v]) for v in far}


def paths(net, key):
    """Edges of shortest paths of fewest edges, by their ends, in the order of these."""
    for v in sorted(key, key=key.get):
        for u in net[v]:
            if (key[u][0] + net[v][u]["weight"], key[u][1] + 1) == key[v]:
                yield u, v


def crossings(net, root, of):
    """How often such a path crosses the border, of the node for which it does so most."""
    key = nearest(net, root)
    least = dict.fromkeys(key, np.inf) | {root: 0}
    for u, v in paths(net, key):
        least[v] = min(least[v], least[u] + (of[u] != of[v]))
    return max(least.values())


@pytest.mark.parametrize("kernel", ["bfs", "sssp"])
def test_a_search_crosses_the_border_so_often(kernel):
    more = set()
    for seed in range(60):
        n, *edges, of = drawn(seed, weights=kernel == "sssp")
        ds = dgsuite.run(kernel, graph_of(n, *edges, of), form="block", root=seed % n)
        k = crossings(network(n, *edges), seed % n, of)
        more.add(ds.sizes["round"] - k)
    assert more == {1, 2}


def test_a_search_in_stretches_finds_the_same_paths(monkeypatch):
    found = []
    for stretch in (1 << 14, 3):
        monkeypatch.setattr(searches_block, "MIN_SEARCHED", stretch)
        graphs = [graph_of(*drawn(seed, weights=True)) for seed in range(30)]
        found.append([dgsuite.run("sssp", graph, form="block", style="serial") for graph in graphs])
    for pair in zip(*found, strict=True):
        assert not differing(pair, ["distance", "parent"])
    whole, stretches = (sum(ds.sizes["round"] for ds in some) for some in found)
    assert stretches > 1.2 * whole


def test_a_search_without_room_goes_on_in_the_next_round():
    """A node with 20 neighbours comes nearer 20 times before one of them is looked at: 400 wait at once,
    where there is room for the 120 ends of edges.
    """
    over, leaves = np.arange(1, 21), np.arange(22, 42)
    ends = np.concatenate(
        [[0 * over, over], [over, 0 * over + 21], [0 * leaves + 21, leaves]], axis=1
    )
    weights = np.concatenate([0 * over + 1, over, 0 * leaves + 1000])
    graph = Graph.from_edges(*ends, weights=weights, clusters=1)
    ds = dgsuite.run("sssp", graph, form="block", style="serial")
    assert ds.sizes["round"] == 2
    assert not differing([ds, dgsuite.run("sssp", graph, style="serial")], ["distance", "parent"])


@pytest.mark.parametrize("kernel", ["bfs_many", "all_pairs", "closeness", "harmonic"])
def test_a_batch_takes_as_long_as_its_longest_search(kernel):
    for seed in range(15):
        n, *edges, of = drawn(seed)
        ds = dgsuite.run(kernel, graph_of(n, *edges, of), form="block")
        k = max(crossings(network(n, *edges), root, of) for root in range(n))
        assert ds.sizes["round"] - k in (1, 2)  # of up to 64 nodes


@pytest.mark.parametrize("kernel", ["bfs", "sssp"])
def test_a_search_goes_on_from_new_edges(kernel):
    seen = set()
    for seed in count():
        n, src, dst, weight, of = drawn(seed, weights=kernel == "sssp")
        new = np.random.default_rng(seed).random(len(src)) < 0.15
        own = [None, None] if weight is None else [weight[~new], weight[new]]
        old = graph_of(n, src[~new], dst[~new], own[0], of)
        before = dgsuite.run(kernel, old, root=0)
        grown = old.with_edges(src[new], dst[new], weights=own[1])
        ds = dgsuite.run(kernel, grown, since=before)
        net = network(n, src, dst, weight)
        name = "level" if kernel == "bfs" else "distance"
        was, is_ = before[name].values, ds[name].values
        fresh = {frozenset(e) for e in zip(src[new].tolist(), dst[new].tolist(), strict=True)}
        key = nearest(net, 0)
        changed = {v for v in key if was[v] != is_[v]}
        reached = (was >= 0) & np.isfinite(was)
        if not any(reached[v] for edge in fresh for v in edge):
            assert ds.sizes["round"] == 1
        elif not changed:
            assert ds.sizes["round"] == 2
        else:
            # what a path crosses behind its first new edge
            behind = dict.fromkeys(key, np.inf)
            far = {v: (d, 0) for v, (d, _) in key.items()}
            for v in sorted(far, key=far.get):
                for u in net[v]:
                    if far[u][0] + net[v][u]["weight"] == far[v][0]:
                        if frozenset((u, v)) in fresh and u not in changed:
                            behind[v] = 0
                        behind[v] = min(behind[v], behind[u] + (of[u] != of[v]))
            k = max(behind[v] for v in changed)
            assert ds.sizes["round"] - k in (2, 3), seed
            seen.add(ds.sizes["round"] - k)
        if seed > 40 and seen == {2, 3}:
            return
