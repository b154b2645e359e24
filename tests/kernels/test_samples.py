"""Samples and neighbourhoods of nodes are those of the definition, on any cut."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dgsuite.base.errors import InputError
from dgsuite.partition.graph.graph import Graph
from tests.support.definitions import cut, networks

NETS = st.one_of(networks(), networks(directed=True))


@st.composite
def nets_with_seeds(draw):
    net = draw(NETS)
    return net, draw(st.lists(st.integers(0, len(net) - 1), min_size=1, unique=True))


@given(nets_with_seeds(), st.integers(0, 4), st.data())
def test_neighbourhoods_are_networkx_ego_graphs(case, hops, data):
    net, seeds = case
    graph = cut(net, data.draw)
    near = {u: nx.single_source_shortest_path_length(net, u, hops) for u in seeds}
    table = graph.within(seeds, hops).compute(scheduler="threads")
    rows = table.itertuples(index=False, name=None)
    assert sorted(rows) == sorted(
        (u, v, hop) for u, hops in near.items() for v, hop in hops.items()
    )
    found = graph.neighbourhood(seeds, hops)
    right = net.subgraph(set().union(*near.values()))
    assert list(found.labels) == sorted(right)
    assert nx.utils.graphs_equal(
        found.to_networkx(), nx.Graph(right) if not net.is_directed() else right
    )


def sampled(graph, *arguments, **how):
    """A sample that the rule accepts, checked against what it says of itself."""
    sample = graph.sample(*arguments, **how)
    matrix = graph.to_scipy()
    ends = np.repeat(np.arange(graph.n), np.diff(matrix.indptr)), matrix.indices
    assert (sample.node[sample.col] == ends[0][sample.edge]).all()
    assert (sample.node[sample.row] == ends[1][sample.edge]).all()
    assert len(np.unique(sample.node)) == len(sample.node) == sum(sample.num_sampled_nodes)
    assert sum(sample.num_sampled_edges) == len(sample.edge)
    last = sum(sample.num_sampled_nodes)
    for block, layer in zip(sample.blocks(), reversed(sample.num_sampled_edges), strict=True):
        assert len(block.source) == last
        assert (block.source[: len(block.target)] == block.target).all()
        assert block.row.max(initial=-1) < len(block.source)
        assert block.col.max(initial=-1) < len(block.target)
        assert layer <= len(block.edge)
        last = len(block.target)
    assert last == sample.num_sampled_nodes[0]
    return sample


@given(
    nets_with_seeds(),
    st.lists(st.integers(-1, 4), min_size=1, max_size=3),
    st.booleans(),
    st.data(),
)
def test_samples_do_not_depend_on_the_cut(case, fanouts, replace, data):
    net, seeds = case
    how = {"fanouts": fanouts, "replace": replace, "seed": 3}
    whole = sampled(Graph.from_networkx(net, clusters=1), seeds, **how)
    parts = sampled(cut(net, data.draw), seeds, **how)
    for name in ("node", "row", "col", "edge", "num_sampled_nodes", "num_sampled_edges"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name))
    assert whole.node[: len(seeds)].tolist() == seeds


@given(nets_with_seeds(), st.data())
def test_a_sample_of_all_edges_is_the_neighbourhood(case, data):
    net, seeds = case
    graph = cut(net, data.draw)
    sample = sampled(graph, seeds, fanouts=(-1, -1))
    near = graph.within(seeds, 2).compute(scheduler="threads")
    assert set(sample.node.tolist()) == set(near.node)
    assert sample.num_sampled_edges[0] == sum(len(net[u]) for u in seeds)


def shares(graph, draws=3000, **how):
    """How often each edge of a star's centre was among those drawn."""
    counts = np.zeros(graph.n - 1)
    for seed in range(draws):
        drawn = graph.sample([0], seed=seed, **how)
        np.add.at(counts, drawn.edge, 1)
    return counts / draws


@pytest.mark.few(1)
@pytest.mark.parametrize("replace", [False, True])
def test_all_edges_are_as_likely(replace):
    star = Graph.from_edges(np.zeros(6, int), np.arange(1, 7), directed=True)
    found = shares(star, draws=400, fanouts=[2], replace=replace)
    assert found.sum() == pytest.approx(2)
    assert np.abs(found - 1 / 3).max() < 5 * np.sqrt(1 / 3 / 400)


@pytest.mark.long
def test_edges_by_weight():
    """With replacement in proportion; without, the first as well, and the second among those left."""
    weights = np.array([1.0, 2.0, 3.0, 0.0, 4.0])
    star = Graph.from_edges(np.zeros(5, int), np.arange(1, 6), weights=weights, directed=True)
    chance = weights / weights.sum()
    bound = 5 * np.sqrt(2 * 0.25 / 400)
    found = shares(star, draws=400, fanouts=[2], replace=True, weighted=True)
    assert np.abs(found - 2 * chance).max() < bound
    second = [
        sum(chance[j] * chance[i] / (1 - chance[j]) for j in range(5) if j != i) for i in range(5)
    ]
    found = shares(star, draws=400, fanouts=[2], weighted=True)
    assert np.abs(found - chance - second).max() < bound
    assert found[3] == 0
    every = star.sample([0], fanouts=[9], weighted=True)
    assert sorted(every.edge) == [0, 1, 2, 4]
    assert sorted(star.sample([0], fanouts=[-1], weighted=True).edge) == [0, 1, 2, 4]


def test_labels_and_seeds():
    graph = Graph.from_edges(["ann", "bob"], ["bob", "cid"], relabel=True, clusters=2)
    sample = graph.sample(iter(["bob"]), fanouts=[-1])
    assert [graph.labels[v] for v in sample.node] == ["bob", "ann", "cid"]
    assert list(graph.neighbourhood(["ann"]).labels) == ["ann", "bob"]
    assert set(graph.within(["ann"]).compute(scheduler="threads").node) == {"ann", "bob"}


@pytest.mark.parametrize("labels", [None, ["ann", "bob", "cid"]])
@pytest.mark.parametrize("kind", [list, tuple, np.array, iter, pd.Series])
def test_a_seed_that_is_named_again_is_one_node(labels, kind):
    graph = Graph.from_edges([0, 1], [1, 2], labels=labels, clusters=2)
    names = labels or [0, 1, 2]
    seeds = [names[i] for i in (2, 1, 2, 1)]
    sample, once = graph.sample(kind(seeds), [1, 1]), graph.sample(seeds[:2], [1, 1])
    assert sample.node[sample.seed].tolist() == [2, 1, 2, 1]
    assert once.seed.tolist() == [0, 1]
    for name in ("node", "row", "col", "edge", "num_sampled_nodes", "num_sampled_edges"):
        assert np.array_equal(getattr(sample, name), getattr(once, name))


@pytest.mark.parametrize(
    ("seeds", "how", "says"),
    [
        ([9], {}, "9"),
        ([], {}, "seeds must be at least one node"),
        ([0], {"fanouts": ()}, "fanouts must name at least one hop"),
        (
            [0],
            {"fanouts": (2, -2)},
            "fanouts must be whole numbers from 0, or -1 for all edges, got -2",
        ),
        ([0], {"fanouts": (1.5,)}, "got 1.5"),
        ([0], {"weighted": True}, "weights must be from 0 to 2\\^900 to draw by them, got -1"),
    ],
)
def test_bad_arguments(seeds, how, says):
    graph = Graph.from_edges([0, 1], [1, 2], weights=[-1, 2])
    with pytest.raises(InputError, match=says):
        graph.sample(seeds, **how)


def test_negative_hops():
    with pytest.raises(InputError, match="hops must be at least 0, got -1"):
        Graph.from_edges([0], [1]).neighbourhood([0], -1)


def test_on_workers(client):
    """The same sample, neighbourhood and table where the workers of a client hold the graph."""
    net = nx.gnm_random_graph(60, 200, seed=2)
    here = Graph.from_networkx(net, clusters=1, client=None)
    there = here.persist(client)
    one, other = here.sample([5, 3, 50]), there.sample([5, 3, 50])
    assert np.array_equal(one.edge, other.edge)
    assert np.array_equal(one.node, other.node)
    assert there.neighbourhood([5], 2).client is client
    assert list(there.neighbourhood([5], 2).labels) == list(here.neighbourhood([5], 2).labels)
    assert there.within([5, 3]).compute().equals(here.within([5, 3]).compute(scheduler="threads"))
