"""Generations and two colours are networkx's, and cycles are cycles, on every cut."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import genval
from dgsuite.partition.graph.graph import Graph
from tests.support.definitions import cut


@st.composite
def networks(draw):
    """Small graphs, with cycles or without, of one component or two."""
    n, seed = draw(st.integers(1, 20)), draw(st.integers(0, 999))
    net = nx.gnp_random_graph(n, draw(st.sampled_from([0.05, 0.1, 0.2])), seed, draw(st.booleans()))
    kept = draw(st.sampled_from(["all", "ascending", "odd sums"]))
    if kept == "ascending":
        net.remove_edges_from([(u, v) for u, v in net.edges if u > v])
    elif kept == "odd sums":
        net.remove_edges_from([(u, v) for u, v in net.edges if (u + v) % 2 == 0])
    return nx.disjoint_union(net, net) if draw(st.booleans()) else net


def run(kernel, graph, **how):
    ds = dgsuite.run(kernel, graph, **{"style": "serial", **how})
    report = genval.validate(kernel, graph, ds)
    assert report.ok, str(report)
    return [ds[name].values for name in ("generation", "colour", "cycle") if name in ds]


def in_order(cycle):
    return np.argsort(cycle, kind="stable")[np.count_nonzero(cycle < 0) :].tolist()


@given(networks(), st.data())
def test_generations_or_a_cycle(net, data):
    net = net.to_directed()
    generation, cycle = run("topological", cut(net, data.draw))
    if nx.is_directed_acyclic_graph(net):
        for number, nodes in enumerate(nx.topological_generations(net)):
            assert np.flatnonzero(generation == number).tolist() == sorted(nodes)
        assert (cycle < 0).all()
        return
    for part in nx.strongly_connected_components(net):
        assert len(part) == 1 or (generation[[*part]] < 0).all()
    around = in_order(cycle)
    assert len(around) > 1
    assert all(net.has_edge(*edge) for edge in zip(around, around[1:] + around[:1], strict=True))


@given(networks(), st.data())
def test_two_colours_or_an_odd_cycle(net, data):
    colour, cycle = run("bipartite", cut(net, data.draw))
    plain = net.to_undirected()
    for part in nx.connected_components(plain):
        some = plain.subgraph(part)
        if nx.is_bipartite(some):
            hops = nx.single_source_shortest_path_length(some, min(part))
            assert {v: int(colour[v]) for v in part} == {v: h % 2 for v, h in hops.items()}
        else:
            assert (colour[[*part]] == -1).all()
    around = in_order(cycle)
    assert nx.is_bipartite(plain) == (not around)
    assert all(plain.has_edge(*edge) for edge in zip(around, around[1:] + around[:1], strict=True))
    assert not around or len(around) % 2


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
