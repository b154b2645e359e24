"""FastRP's vectors are those of the definition, on any cut, and separate communities."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from dgsuite.partition.graph.graph import Graph
from tests.support.valid import valid


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
