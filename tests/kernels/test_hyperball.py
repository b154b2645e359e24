"""HyperBall's estimates are as near the exact values as stated, and the same on any cut."""

from __future__ import annotations

import numpy as np
import pytest

import dgsuite
from dgsuite import genval
from dgsuite.kernels.analytics.hyperball import effective_diameter
from dgsuite.partition.graph.graph import Graph

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


def test_small_balls_are_counted_nearly_exactly():
    graph = genval.graph("ring", 12, client=None)
    ds = dgsuite.run("hyperball", graph, log2m=12, style="serial")
    np.testing.assert_array_equal(ds.reached, np.full(12, 11))
    np.testing.assert_array_equal(ds.distance, np.full(12, 36))
    np.testing.assert_array_equal(ds.neighbourhood, [12, 36, 60, 84, 108, 132, 144, 144])


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
