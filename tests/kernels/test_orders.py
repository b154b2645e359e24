"""Cycles of any length, and loops, under kernels that look for cycles."""

from __future__ import annotations

import numpy as np
import pytest

from dgsuite import genval
from dgsuite.partition.graph.graph import Graph
from tests.support.valid import valid


def run(kernel, graph, **how):
    ds = valid(kernel, graph, **how)
    return [ds[name].values for name in ("generation", "colour", "cycle") if name in ds]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("n", [2, 3, 200, 201])
def test_long_cycles(n, directed):
    order = np.random.default_rng(n).permutation(n)
    graph = Graph.from_edges(order, np.roll(order, 1), directed=directed, clusters=3)
    if directed or n == 2:
        generation, cycle = run("topological", graph)
        assert (generation == -1).all()
        assert sorted(cycle) == [*range(n)]
    colour, cycle = run("bipartite", graph)
    assert sorted(cycle) == [*range(n)] if n % 2 else (cycle == -1).all()
    assert colour.sum() == (-n if n % 2 else n // 2)


def test_an_undirected_edge_is_a_cycle():
    generation, cycle = run("topological", Graph.from_edges([0, 1], [1, 2], n=4))
    assert generation.tolist() == [-1, -1, -1, 0]
    assert sorted(cycle) == [-1, -1, 0, 1]


def test_loops_do_not_count():
    graph = genval.rmat(n=6, clusters=2)
    assert graph.to_scipy().diagonal().any()
    for kernel in ("topological", "bipartite"):
        *_, cycle = run(kernel, graph)
        assert cycle.max() > 0
