"""Searches from many sources: samples, labels, and sources beyond the bits of a word."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import dgsuite
from dgsuite import genval
from dgsuite.base.errors import InputError
from dgsuite.partition.graph.graph import Graph
from tests.support.valid import valid


@pytest.mark.parametrize("directed", [False, True])
def test_more_sources_than_a_word_has_bits(directed):
    """On cuts whose searches go either way, among components of which one has no source."""
    net = nx.gnm_random_graph(300, 700, seed=2, directed=directed)
    net.add_edges_from([(300, 301), (301, 302)])
    starts = list(range(0, 300, 2))
    found = []
    for clusters in (1, 2, 5):
        graph = Graph.from_networkx(net, clusters=clusters)
        ds = valid("bfs_many", graph, sources=starts)
        level = dgsuite.run("all_pairs", graph, sources=starts, style="serial").level
        assert (level.where(level > 0, 0).sum("source") == ds.distance).all()
        found.append(ds[["distance", "reached", "eccentricity", "messages"]])
        assert not ds.reached.values[300:].any()
    assert found[0].equals(found[1])
    assert found[0].equals(found[2])


def test_both_ways_of_looking_agree(monkeypatch):
    from dgsuite.kernels.analytics import nearness

    graph = genval.graph("rmat", 2**9, clusters=3, client=None)
    found = []
    for look in (0, nearness.LOOK, 10**9):
        monkeypatch.setattr(nearness, "LOOK", look)
        found.append(valid("bfs_many", graph)[["distance", "reached", "eccentricity", "messages"]])
    assert found[0].equals(found[1])
    assert found[0].equals(found[2])


def test_samples_of_all_nodes_are_exact_and_of_some_near():
    graph = genval.graph("er", 400, m=2400, client=None)
    for kernel in ("closeness", "harmonic"):
        exact, whole, some = (
            valid(kernel, graph, samples=samples)[kernel].values for samples in (None, 400, 100)
        )
        np.testing.assert_array_equal(exact, whole)
        assert 0 < np.abs(some / exact - 1).max() < 0.25
        assert not np.array_equal(some, valid(kernel, graph, samples=100, seed=1)[kernel].values)


def test_by_default_64_sources():
    graph = genval.graph("ring", 100, client=None)
    assert int(valid("bfs_many", graph).source.sum()) == 64
    assert int(valid("bfs_many", genval.graph("ring", 9, client=None)).source.sum()) == 9


def test_sources_are_labels():
    graph = Graph.from_edges(["b", "a"], ["a", "c"], relabel=True)
    ds = valid("bfs_many", graph, sources=["b"])
    assert ds.distance.sel(node=["a", "b", "c"]).values.tolist() == [1, 0, 2]
    ds = valid("all_pairs", graph, sources=["c", "b"])
    assert ds.level.sel(source="c", node=["a", "b", "c"]).values.tolist() == [1, 2, 0]
    ds = valid("all_pairs", graph, sources=2)
    assert ds.sizes["source"] == 2


def test_levels_without_their_sources_cannot_be_checked():
    graph = genval.graph("ring", 9, client=None)
    level = dgsuite.run("all_pairs", graph, sources=[1, 2], style="serial").level.values
    with pytest.raises(InputError, match="'level' has 2 columns for 9 sources"):
        genval.validate("all_pairs", graph, {"level": level})
    with pytest.raises(InputError, match="sources must be nodes from 0 to 8"):
        genval.validate("all_pairs", graph, {"level": level, "source": np.array([1, 9])})
