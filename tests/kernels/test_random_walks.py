"""Random walks go where their parameters send them, and FastRP's vectors are those of the definition."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import dgsuite
from dgsuite.base.errors import InputError
from dgsuite.partition.graph.graph import Graph
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


def test_node2vec_needs_an_undirected_graph():
    with pytest.raises(InputError, match="p and q must be 1 on a directed graph"):
        dgsuite.run("random_walks", Graph.from_edges([0], [1], directed=True), q=2.0)


def test_several_walks_from_a_node():
    """They differ."""
    found = walks(nx.complete_graph(40), length=5, walks=3)
    assert found.shape == (40, 3, 6)
    assert (found[:, :, 0] == np.arange(40)[:, None]).all()
    assert (found[:, 0] != found[:, 1]).any(axis=1).all()


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
    for sign in (-1, 1):
        assert abs((np.sign(found) == sign).mean() - share) < 5 * np.sqrt(
            share * (1 - share) / found.size
        )


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
