"""Validators accept right results of any program, and reject every kind of corruption."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import dgsuite
from dgsuite import genval
from dgsuite.partition.graph.graph import Graph
from tests.support.valid import valid


def test_directed_searches():
    graph = nx.gnp_random_graph(30, 0.06, seed=4, directed=True)
    mine = Graph.from_networkx(graph, clusters=3)
    root = max(graph, key=graph.out_degree)
    ds = dgsuite.run("bfs", mine, style="serial", root=root)
    right = {"level": ds.level.values, "parent": ds.parent.values, "root": root}
    assert genval.validate("bfs", mine, right).ok
    far, out = int(np.argmax(right["level"])), int(np.argmin(right["level"]))
    assert right["level"][far] > 1
    assert right["level"][out] == -1
    for name, node, value in [
        ("level", far, right["level"][far] + 1),
        ("level", far, 1),
        ("level", far, -1),
        ("level", root, 1),
        ("level", out, 3),
        ("level", out, -2),
        ("parent", far, far),
        ("parent", far, root),
        ("parent", far, out),
        ("parent", far, 400),
        ("parent", root, -1),
        ("parent", out, root),
    ]:
        wrong = {**right, name: right[name].copy()}
        wrong[name][node] = value
        assert not genval.validate("bfs", mine, wrong).ok, (name, node, value)


@pytest.mark.parametrize("seed", range(5))
def test_scattered_corruption_of_many_nodes_is_rejected(seed):
    """Random changes anywhere in a graph cut by a map; and what is reported is not noise."""
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, 300, (2, 600))
    owner = rng.integers(0, 5, 300)
    graph = Graph.from_edges(src, dst, n=300, partition=owner, uid=rng.permutation(300))
    for kernel, name, other in (
        ("mis", "in_mis", lambda v: 1 - v),
        ("bf", "distance", lambda v: v + rng.choice([-1, 1, 2])),
    ):
        values = dgsuite.run(kernel, graph, style="serial")[name].values.astype(int)
        assert genval.validate(kernel, graph, {name: values}).ok
        nodes = rng.choice(300, 9, replace=False)
        values[nodes] = other(values[nodes])
        report = genval.validate(kernel, graph, {name: values})
        assert len(report.violations) == min(report.count, 20) > 0
        touched = graph.to_networkx().edges(nodes)
        near = {*nodes.tolist(), *(v for _, v in touched)}
        assert {v.node for v in report.violations} <= near


def test_violations_name_both_ends():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3])
    report = genval.validate("bf", graph, {"distance": [0, 1, 3, 4]})
    assert [str(v) for v in report.violations] == [
        "node 1: edge: expected neighbours at most 2 hops away, found node 2 at 3",
        "node 2: predecessor: expected a neighbour 2 hops away, found none",
    ]
    report = genval.validate("mis", graph, {"in_mis": [1, 1, 0, 0]})
    assert [str(v) for v in report.violations] == [
        "node 0: independence: expected no neighbour in the set, found node 1",
        "node 1: independence: expected no neighbour in the set, found node 0",
        "node 3: domination: expected itself or a neighbour in the set, found neither",
    ]


@pytest.mark.parametrize("dtype", ["u1", "u4", "u8", "i1", "i8"])
def test_whole_numbers_of_any_width(dtype):
    graph = Graph.from_edges([0, 1], [1, 2])
    tree = {"level": np.array([0, 1, 2], dtype), "parent": np.array([0, 0, 1], dtype)}
    assert genval.validate("bfs", graph, tree).ok
    assert genval.validate("bf", graph, {"distance": tree["level"]}).ok
    tree["level"][2] = 3
    assert not genval.validate("bfs", graph, tree).ok


def test_directed_edges_count_one_way():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 0], directed=True, clusters=2)
    assert genval.validate("bf", graph, {"distance": [0, 1, 2]}).ok
    assert not genval.validate("bf", graph, {"distance": [0, 1, 1]}).ok
    both = Graph.from_edges([0, 1, 2], [1, 2, 0], clusters=2)
    assert genval.validate("bf", both, {"distance": [0, 1, 1]}).ok


def test_the_root_is_that_of_the_results_or_the_graph():
    graph = Graph.from_edges([0, 1], [1, 2], attrs={"root": 2})
    assert genval.validate("bf", graph, {"distance": [2, 1, 0]}).ok
    assert genval.validate("bf", graph, {"distance": [0, 1, 2], "root": 0}).ok
    valid("bf", graph, root=1)
    for root in (3, -1, None, "0"):
        with pytest.raises(dgsuite.InputError, match="is not a node: nodes are 0 to 2"):
            genval.validate("bf", graph, {"distance": [0, 1, 2], "root": root})


def test_what_is_missing_is_named():
    graph = Graph.from_edges([0, 1], [1, 2])
    for results, message in (
        ({}, "no 'in_mis'"),
        ({"in_mis": np.ones(2, bool)}, "one value for each of 3 nodes"),
        ({"in_mis": np.ones((3, 1), bool)}, r"got shape \(3, 1\)"),
        ({"in_mis": [0.5, 1.0, np.nan]}, "must be integers or booleans, got dtype float64"),
    ):
        with pytest.raises(dgsuite.InputError, match=message):
            genval.validate("mis", graph, results)
    with pytest.raises(dgsuite.InputError, match="'distance' must be integers"):
        genval.validate("bf", graph, {"distance": [0, 1.9, 2.9]})
    with pytest.raises(dgsuite.InputError, match="no validator"):
        genval.validate("nope", graph, {})


@pytest.mark.parametrize("kernel", ["sssp", "bellman_ford"])
def test_the_sources_are_those_of_the_results(kernel):
    graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    ds = dgsuite.run(kernel, graph, sources=[0, 4], style="serial")
    found = {name: ds[name].values for name in ("distance", "parent", "source") if name in ds}
    assert genval.validate(kernel, graph, {**found, "sources": [0, 4]}).ok
    assert not genval.validate(kernel, graph, {**found, "sources": [0]}).ok
    assert not genval.validate(kernel, graph, found).ok
