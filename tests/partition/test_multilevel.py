"""The partition by labels on several levels."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import dgsuite
from dgsuite import genval, partition
from dgsuite.partition.clusters import cutting
from dgsuite.partition.construction import distribute
from dgsuite.partition.graph.graph import Graph


def shuffled(network, seed=0, **how):
    """A networkx graph whose nodes are numbered at random."""
    ends = np.array(nx.convert_node_labels_to_integers(network).edges)
    names = np.random.default_rng(seed).permutation(len(network))
    return Graph.from_edges(*names[ends].T, n=len(network), **how)


@given(st.integers(1, 60), st.integers(0, 150), st.integers(0, 99), st.integers(1, 7))
def test_every_node_has_a_cluster(n, m, seed, clusters):
    network = nx.gnm_random_graph(n, m, seed=seed)
    graph = Graph.from_networkx(network, partition="multilevel", clusters=clusters)
    assert graph.partition.clusters == clusters
    assert sorted(np.concatenate([part.ids for part in graph.parts])) == list(range(n))
    assert genval.validate("wcc", graph, dgsuite.run("wcc", graph)).ok


@pytest.mark.parametrize("clusters", [2, 4, 7])
def test_few_edges_are_cut_whatever_the_numbers_of_the_nodes(clusters):
    network = nx.grid_2d_graph(64, 64)
    found = partition.describe(shuffled(network, partition="multilevel", clusters=clusters)).attrs
    assert found["cut_edges"] < 110 * clusters  # a straight cut takes 64
    assert found["edge_balance"] < 1.05
    dealt = partition.describe(shuffled(network, partition="hash", clusters=clusters)).attrs
    assert dealt["cut_edges"] > 10 * found["cut_edges"]


def test_communities_stay_together():
    network = nx.planted_partition_graph(32, 60, 0.3, 0.003, seed=3)
    found = partition.describe(shuffled(network, partition="multilevel", clusters=4)).attrs
    across = sum(u // 60 != v // 60 for u, v in network.edges)
    assert found["cut_edges"] < across


def test_the_map_is_that_of_the_function():
    graph = shuffled(nx.grid_2d_graph(20, 20), partition="multilevel", clusters=3)
    matrix: csr_array = graph.to_scipy()
    assert partition.multilevel(matrix.indptr, matrix.indices, 3) == graph.partition


def test_workers_make_the_partition_that_this_process_makes(client, three, monkeypatch):
    monkeypatch.setattr(cutting, "NODES", 300)  # of 2,500: nine blocks
    network = nx.grid_2d_graph(50, 50)
    here = shuffled(network, partition="multilevel", clusters=4)
    monkeypatch.setattr(distribute, "SMALL", 10)
    for workers in (client, three):
        there = shuffled(network, partition="multilevel", clusters=4, client=workers)
        assert there.client is workers
        assert there.partition == here.partition
    assert partition.describe(here).attrs["cut_share"] < 0.15


def test_directions_and_weights_do_not_count():
    network = nx.grid_2d_graph(30, 30)
    plain = shuffled(network, partition="multilevel", clusters=3)
    heavy = shuffled(
        network,
        partition="multilevel",
        clusters=3,
        directed=True,
        weights=np.arange(network.number_of_edges()),
    )
    assert heavy.directed
    assert heavy.partition == plain.partition
