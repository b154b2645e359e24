"""Partitioners and what is said of their partitions."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import genval, partition
from dgsuite.partition.graph.graph import Graph


@given(st.integers(1, 30), st.integers(0, 60), st.integers(0, 99), st.integers(1, 6), st.booleans())
def test_counts_are_those_of_networkx(n, m, seed, clusters, dealt):
    network = nx.gnm_random_graph(n, m, seed=seed)
    how = {"partition": "hash"} if dealt else {}
    graph = Graph.from_networkx(network, clusters=clusters, **how)
    found = partition.describe(graph)
    owner = graph.partition.owner(np.arange(n))
    cut = [(u, v) for u, v in network.edges if owner[u] != owner[v]]
    assert found.attrs["cut_edges"] == len(cut)
    assert found.nodes.values.tolist() == np.bincount(owner, minlength=clusters).tolist()
    halo = {(owner[u], v) for u, v in cut} | {(owner[v], u) for u, v in cut}
    assert int(found.halo.sum()) == len(halo)
    assert found.halo.values.tolist() == [
        sum(k == cluster for k, _ in halo) for cluster in range(clusters)
    ]
    assert int(found.ends.sum()) == 2 * network.number_of_edges()


def test_metis_takes_no_more_edges_than_it_can_count(monkeypatch):
    pytest.importorskip("pymetis")
    ring = {"src": np.arange(8), "dst": (np.arange(8) + 1) % 8, "partition": "metis", "clusters": 2}
    monkeypatch.setattr("dgsuite.partition.clusters.partitioners.MOST_OF_METIS", 16)
    assert Graph.from_edges(**ring).m == 8
    monkeypatch.setattr("dgsuite.partition.clusters.partitioners.MOST_OF_METIS", 15)
    with pytest.raises(
        dgsuite.InputError, match=r"takes at most 15 .* has 8 nodes and 16 edge ends"
    ):
        Graph.from_edges(**ring)


def test_metis_cuts_less_and_hash_deals_evenly(client):
    pytest.importorskip("pymetis")
    cuts = {}
    for how in ("nodes", "edges", "hash", "metis"):
        graph = genval.graph("grid", 10_000, clusters=4, client=client, partition=how)
        found = partition.describe(graph)
        cuts[how] = found.attrs["cut_edges"]
        assert found.attrs["node_balance"] < 1.1
        ds = dgsuite.run("bfs", graph, client=client, root=7)
        assert genval.validate("bfs", graph, ds).ok
    assert cuts["metis"] < cuts["nodes"] < cuts["hash"]
    assert cuts["metis"] < 300
