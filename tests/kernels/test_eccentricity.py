"""Eccentricities, diameter and radius are networkx's, by few searches."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import genval
from dgsuite.base.errors import InputError
from tests.support.definitions import cut, networks
from tests.support.valid import valid


@given(st.data(), st.sampled_from(["nodes", "diameter", "radius"]))
def test_they_are_networkxs(data, of):
    net = data.draw(networks(False))
    net.add_edges_from(
        (min(net), v) for v in data.draw(st.permutations(sorted(net)))[: len(net) // 2]
    )
    for part in [*nx.connected_components(net)]:
        net.add_edge(min(part), max(net))
    net.remove_edges_from([*nx.selfloop_edges(net)])
    graph = cut(net, data.draw)
    ds = valid("eccentricity", graph, of=of)
    right = nx.eccentricity(net)
    least, most = ds.eccentricity.values, ds.limit.values
    each = np.array([right[v] for v in net])
    assert (least <= each).all()
    assert (each <= most).all()
    if of == "nodes":
        np.testing.assert_array_equal(least, each)
    elif of == "diameter":
        assert least.max() == each.max()
    else:
        assert most.min() == each.min()


def test_social_networks_take_few_searches_on_any_cut():
    found = []
    for clusters in (1, 4):
        graph = genval.graph("rmat", 2**11, clusters=clusters, client=None).component()
        ds = dgsuite.run("eccentricity", graph, of="diameter", style="serial")
        exact = dgsuite.run("bfs_many", graph, sources=graph.n, style="serial").eccentricity
        assert ds.eccentricity.values.max() == exact.values.max()
        assert ds.messages.values.sum() < 20 * 2 * graph.m
        found.append((ds.messages.values.tolist(), int(ds.limit.sum())))
    assert found[0] == found[1]


def test_a_graph_must_be_connected():
    graph = dgsuite.Graph.from_edges([0, 2], [1, 3])
    with pytest.raises(InputError, match=r"not connected: .*graph\.component\(\) is its largest"):
        dgsuite.run("eccentricity", graph)
    assert dgsuite.run("eccentricity", graph.component()).eccentricity.values.tolist() == [1, 1]
