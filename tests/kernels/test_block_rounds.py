"""Searches by blocks take as many rounds as shortest paths cross borders, and one or two more."""

from __future__ import annotations

from itertools import count

import networkx as nx
import numpy as np
import pytest

import dgsuite
from dgsuite.partition.graph.graph import Graph


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
        if weight is None:
            old, added = Graph.from_edges(src[~new], dst[~new], n=n, partition=of), {}
        else:
            old = Graph.from_edges(src[~new], dst[~new], n=n, weights=weight[~new], partition=of)
            added = {"weights": weight[new]}
        before = dgsuite.run(kernel, old, root=0)
        grown = old.with_edges(src[new], dst[new], **added)
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
