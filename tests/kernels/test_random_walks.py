"""Random walks and samples go where their parameters send them; FastRP's vectors are as defined."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dgsuite.base.errors import InputError
from dgsuite.partition.graph.graph import Graph
from tests.support.definitions import cut, networks
from tests.support.valid import valid


def walks(net, **parameters):
    """The walks of a run that the rule accepts."""
    graph = net if isinstance(net, Graph) else Graph.from_networkx(net, clusters=2)
    ds = valid("random_walks", graph, **parameters)
    return ds.walk.values


def test_all_neighbours_are_as_likely():
    """Of 200 first steps to four neighbours, within five standard deviations."""
    net = nx.star_graph(4)
    first = [walks(net, length=1, seed=seed)[0, 1] for seed in range(200)]
    counts = np.bincount(first, minlength=5)[1:]
    assert abs(counts - 50).max() < 5 * np.sqrt(200 * 0.25 * 0.75)


def test_walkers_return_or_do_not():
    """On a ring, where a walker has two ways and none leads to a common neighbour."""
    ring = nx.cycle_graph(40)
    for p, share in ((0.01, 100 / 101), (1.0, 1 / 2), (100.0, 1 / 101)):
        found = walks(ring, length=20, p=p)
        returns = (found[:, 2:] == found[:, :-2]).mean()
        assert abs(returns - share) < 5 * np.sqrt(share * (1 - share) / 760)


def test_walkers_stay_near_or_go_away():
    """In triangles whose nodes have a leaf each, from which a walker must return."""
    net = nx.disjoint_union_all([nx.complete_graph(3)] * 100)
    net.add_edges_from((v, v + 300) for v in range(300))
    for q, share in ((100.0, 0.01 / 1.02), (1.0, 1 / 2.01), (0.01, 100 / 101.01)):
        found = walks(net, length=2, p=100.0, q=q)
        second = found[:300][found[:300, 1] < 300, 2]
        assert abs((second >= 300).mean() - share) < 5 * np.sqrt(share * (1 - share) / len(second))
    assert (found[300:, 1] == np.arange(300)).all()


def test_restarts_are_as_likely_as_said():
    """On a ring, where no edge leads from a node to itself."""
    net = nx.DiGraph([(v, (v + 1) % 1000) for v in range(1000)])
    found = walks(net, length=1, restart=0.25)
    assert abs((found[:, 1] == found[:, 0]).mean() - 0.25) < 5 * np.sqrt(0.25 * 0.75 / 1000)
    assert (walks(net, length=3, restart=1.0) == np.arange(1000)[:, None]).all()


@pytest.mark.parametrize("p", [1.0, 0.5])
def test_steps_by_weight(p):
    """Of 2000 first steps, within five standard deviations; an edge of weight 0 is no way to go."""
    net = nx.star_graph(4)
    shares = np.array([0.0, 1.0, 2.0, 5.0]) / 8
    nx.set_edge_attributes(net, {(0, v): 8 * shares[v - 1] for v in range(1, 5)}, "weight")
    found = walks(net, length=1, walks=2000, weighted=True, p=p)
    counts = np.bincount(found[0, :, 1], minlength=5)[1:] / 2000
    assert (abs(counts - shares) <= 5 * np.sqrt(shares * (1 - shares) / 2000)).all()
    assert (found[1, :, 1] == -1).all()


def test_weights_and_node2vec():
    """On a ring whose edges alternate between weights 1 and 3, with p = 1/2: back with weight times 2."""
    net = nx.cycle_graph(40)
    nx.set_edge_attributes(net, {e: 1.0 + 2 * (min(e) % 2) for e in net.edges}, "weight")
    net.edges[0, 39]["weight"] = 3.0
    found = walks(net, length=2, walks=100, weighted=True, p=0.5)
    before, here, after = found.reshape(-1, 3).T
    heavy = np.array([net.edges[e]["weight"] == 3 for e in zip(before, here, strict=True)])
    for came, share in ((heavy, 6 / 7), (~heavy, 2 / 5)):
        returns = (after == before)[came]
        assert abs(returns.mean() - share) < 5 * np.sqrt(share * (1 - share) / came.sum())


def embedding(graph, **how):
    """The vectors of a run that the rule accepts."""
    ds = valid("fastrp", graph, **how)
    return ds.embedding.values


def test_it_is_linear_in_its_powers():
    """Without normalisation; each power is the mean over the neighbours of the one before."""
    net = nx.gnm_random_graph(60, 240, seed=1)
    graph = Graph.from_networkx(net, clusters=3)
    first, second, both = (
        embedding(graph, normalise=False, dimensions=16, powers=powers)
        for powers in ([1.0], [0.0, 1.0], [2.0, -1.0])
    )
    assert both.dtype == np.float32
    np.testing.assert_allclose(both, 2 * first - second, atol=1e-6)
    ways = nx.to_numpy_array(net)
    ways /= np.maximum(ways.sum(axis=1, keepdims=True), 1)
    np.testing.assert_allclose(second, ways @ first, atol=1e-6)


def test_weights_count_as_parallel_edges_do():
    """A neighbour with weight 3 counts three times; with equal weights the graph is as without."""
    star = Graph.from_edges([0, 0], [1, 2], weights=[3.0, 1.0])
    plain = {"normalise": False, "dimensions": 64, "powers": [1.0]}
    alone = embedding(Graph.from_edges([0, 1], [1, 2]), **plain)  # its ends see the middle alone
    mine = embedding(star, **plain)
    assert mine.shape == alone.shape
    middle = embedding(star, weighted=False, **plain)[0]
    ends = [embedding(Graph.from_edges([v], [0], n=3), **plain)[0] for v in (1, 2)]
    np.testing.assert_allclose(mine[0], (3 * ends[0] + ends[1]) / 4, atol=1e-6)
    np.testing.assert_allclose(middle, (ends[0] + ends[1]) / 2, atol=1e-6)


@pytest.mark.parametrize("sparsity", [1.0, 3.0, 10.0])
def test_entries_are_as_sparse_as_said(sparsity):
    """Node v's neighbour has the random vector of v as its first power."""
    pairs = np.arange(2000)
    graph = Graph.from_edges(pairs, pairs + 2000)
    found = embedding(graph, normalise=False, powers=[1.0], dimensions=8, sparsity=sparsity).ravel()
    size = np.float32(np.sqrt(sparsity))
    assert np.isin(found, [-size, 0, size]).all()
    share = 1 / (2 * sparsity)
    most = 5 * np.sqrt(share * (1 - share) / found.size)
    for sign in (-1, 1):
        assert abs((np.sign(found) == sign).mean() - share) < most


@pytest.mark.parametrize("seed", range(3))
def test_planted_communities_are_separated(seed):
    """The most similar node of nearly all nodes is of their community; of random vectors, of a quarter."""
    net = nx.planted_partition_graph(4, 50, 0.3, 0.02, seed=seed)
    vectors = embedding(Graph.from_networkx(net, clusters=2), dimensions=32, seed=seed)
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    likeness = vectors @ vectors.T
    np.fill_diagonal(likeness, -1)
    community = np.arange(200) // 50
    assert (community[likeness.argmax(axis=1)] == community).mean() > 0.97


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
    assert sorted(rows) == sorted((u, v, hop) for u in near for v, hop in near[u].items())
    found = graph.neighbourhood(seeds, hops)
    right = net.subgraph(set().union(*near.values()))
    assert list(found.labels) == sorted(right)
    assert nx.utils.graphs_equal(found.to_networkx(), type(net)(right))


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


FANOUTS = st.lists(st.integers(-1, 4), min_size=1, max_size=3)
DRAWN = ("node", "row", "col", "edge", "num_sampled_nodes", "num_sampled_edges")


@given(nets_with_seeds(), FANOUTS, st.booleans(), st.data())
def test_samples_do_not_depend_on_the_cut(case, fanouts, replace, data):
    net, seeds = case
    how = {"fanouts": fanouts, "replace": replace, "seed": 3}
    whole = sampled(Graph.from_networkx(net, clusters=1), seeds, **how)
    parts = sampled(cut(net, data.draw), seeds, **how)
    for name in DRAWN:
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
    odds = chance / (1 - chance)
    second = chance * (odds.sum() - odds)
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
    for name in DRAWN:
        assert np.array_equal(getattr(sample, name), getattr(once, name))


@pytest.mark.parametrize(
    ("seeds", "how", "says"),
    [
        ([9], {}, "9"),
        ([], {}, "seeds must be at least one node"),
        ([0], {"fanouts": ()}, "fanouts must name at least one hop"),
        ([0], {"fanouts": (2, -2)}, "fanouts must be whole numbers from 0, or -1 for al.* got -2"),
        ([0], {"fanouts": (1.5,)}, "got 1.5"),
        ([0], {"weighted": True}, "weights must be from 0 to 2\\^900 to draw by them, got -1"),
    ],
)
def test_bad_arguments(seeds, how, says):
    graph = Graph.from_edges([0, 1], [1, 2], weights=[-1, 2])
    with pytest.raises(InputError, match=says):
        graph.sample(seeds, **how)

    with pytest.raises(InputError, match="hops must be at least 0, got -1"):
        graph.neighbourhood([0], -1)


def test_samples_on_workers(client):
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
