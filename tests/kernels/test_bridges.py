"""Bridges, cut nodes and biconnected components: what they cost, and their tables."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite.base.errors import InputError
from dgsuite.kernels import KERNELS
from tests.support.definitions import cut
from tests.support.small_graphs import assert_only

NAMES = "bridges", "biconnected"


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
    number = luck.permutation(n).tolist()
    found = nx.empty_graph(n)  # its nodes ascend
    found.add_edges_from((number[u], number[v]) for u, v in net.edges)
    return found


@pytest.mark.parametrize("kernel", NAMES)
@given(net=thin(), data=st.data())
def test_networks_with_many_cut_nodes(kernel, net, data):
    ds = dgsuite.run(kernel, cut(net, data.draw), style="serial")
    assert_only(net, KERNELS[kernel](), None, ds)


@pytest.mark.parametrize("kernel", NAMES)
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
