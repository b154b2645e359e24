"""The echo algorithm."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite.partition.graph.graph import Graph
from tests.support.cases import graphs


@given(st.data())
def test_a_wave_costs_two_messages_for_each_edge(data):
    """Of the root's component; no wave algorithm for general graphs needs fewer than one for each."""
    _, graph = data.draw(graphs())
    root = data.draw(st.integers(0, graph.n - 1))
    ds = dgsuite.run("echo", graph, root=root, style="serial", check=True)
    net = graph.to_networkx()
    hops = nx.single_source_shortest_path_length(net, root)
    part = net.subgraph(hops)
    assert int(ds.messages.sum()) == 2 * part.number_of_edges()
    assert 2 * max(hops.values()) + 1 <= ds.sizes["round"] <= 2 * max(hops.values()) + 2
    assert int(ds["size"][root]) == len(part)
    assert int(ds.total[root]) == 2 * part.number_of_edges()
    assert ds.decided.values.tolist() == [v == root for v in range(graph.n)]
    assert ds.level.values.tolist() == [hops.get(v, -1) for v in range(graph.n)]


def test_identifiers_add_up():
    graph = Graph.from_edges([0, 1], [1, 2], uid=[7, 2**32 - 1, 0], clusters=2)
    ds = dgsuite.run("echo", graph, root=2, value="uid", style="serial")
    assert ds.total.values.tolist() == [7, 2**32 + 6, 2**32 + 6]
