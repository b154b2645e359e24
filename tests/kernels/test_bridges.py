"""Bridges, cut nodes and biconnected components: what they cost, and their tables."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite.base.errors import InputError
from dgsuite.kernels.analytics import _bridges
from tests.support.definitions import cut, networks

KERNELS = "bridges", "biconnected"


@st.composite
def thin(draw):
    """Networks with many cut nodes: trees with some more edges, in several parts."""
    n = draw(st.integers(1, 30))
    luck = np.random.default_rng(draw(st.integers(0, 10**6)))
    net = nx.empty_graph(n)
    reach = draw(st.sampled_from([1, 3, n]))
    net.add_edges_from(
        (v, int(luck.integers(max(0, v - reach), v))) for v in range(1, n) if luck.random() < 0.9
    )
    more = luck.integers(0, n, (draw(st.integers(0, n // 2)), 2))
    net.add_edges_from((u, v) for u, v in more.tolist() if u != v)
    return nx.relabel_nodes(net, dict(enumerate(luck.permutation(n).tolist())))


def ordered(net):
    """The same network with its nodes in ascending order."""
    found = nx.empty_graph(len(net))
    found.add_edges_from(net.edges)
    return found


@given(st.one_of(thin(), networks()).map(ordered))
def test_edges_that_matter_fall_into_the_same_parts_as_all(net):
    edges = np.array([*net.edges], np.int64).reshape(-1, 2)
    kept = nx.empty_graph(len(net))
    kept.add_edges_from(_bridges.certificate(*edges.T, len(net)).T.tolist())
    assert kept.number_of_edges() <= 2 * max(len(net) - 1, 0)
    assert {*map(frozenset, kept.edges)} <= {*map(frozenset, net.edges)}
    for node in net:
        ways = [nx.restricted_view(which, [node], []) for which in (net, kept)]
        first, second = ({*map(frozenset, nx.connected_components(way))} for way in ways)
        assert first == second
    for edge in kept.edges:
        ways = [nx.restricted_view(which, [], [edge]) for which in (net, kept)]
        first, second = ({*map(frozenset, nx.connected_components(way))} for way in ways)
        assert first == second


@pytest.mark.parametrize("kernel", KERNELS)
@given(net=st.one_of(thin(), networks()).map(ordered), data=st.data())
def test_messages_are_within_their_bounds(kernel, net, data):
    graph = cut(net, data.draw)
    ds = dgsuite.run(kernel, graph, style="serial")
    assert ds.sizes["round"] == 1
    more = {"bridges": 3, "biconnected": 2}[kernel]
    assert int(ds.messages.sum()) <= graph.m + more * graph.n


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_long_path_needs_no_recursion(kernel):
    n = 100_000
    graph = dgsuite.Graph.from_edges(np.arange(n - 1), np.arange(1, n), clusters=3)
    ds = dgsuite.run(kernel, graph)
    if kernel == "bridges":
        assert np.array_equal(ds.source, np.arange(n - 1))
        assert int(ds.articulation.sum()) == n - 2
        assert np.array_equal(ds.component, np.arange(n))
    else:
        assert np.array_equal(ds.block, np.repeat(np.arange(n - 1), 2))


def test_labels_name_nodes():
    graph = dgsuite.Graph.from_edges(["b", "a", "c", "c"], ["a", "c", "b", "d"], relabel=True)
    ds = dgsuite.run("bridges", graph)
    assert (ds.source.values.tolist(), ds.target.values.tolist()) == (["c"], ["d"])
    frame = dgsuite.to_dataframe(dgsuite.run("biconnected", graph)).compute()
    assert sorted(frame[frame.block == frame.block.max()].member) == ["c", "d"]


def test_each_output_of_a_kernel_with_a_table_has_a_frame():
    graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], clusters=2)
    ds = dgsuite.run("bridges", graph)
    assert [*dgsuite.to_dataframe(ds).columns] == ["source", "target"]
    nodes = dgsuite.to_dataframe(ds, ["articulation", "component"]).compute()
    assert [*nodes.columns] == ["node", "articulation", "component"]
    assert nodes.articulation.tolist() == [False, False, True, False]
    with pytest.raises(InputError, match="unknown output by pair 'component'"):
        dgsuite.to_dataframe(ds, ["source", "component"])


def test_directed_graphs_are_refused():
    with pytest.raises(InputError, match="undirected"):
        dgsuite.run("bridges", dgsuite.Graph.from_edges([0], [1], directed=True))
