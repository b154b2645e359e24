"""Components of long chains take few rounds; those of examples, and of chains of cycles."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite.partition.graph.graph import Graph
from tests.support.definitions import cut, example
from tests.support.valid import valid


def smallest(found, n):
    """For each node the smallest of its component."""
    label = {v: min(nodes) for nodes in found for v in nodes}
    return [label[v] for v in range(n)]


def right(kernel, graph):
    """The output of a serial run, which the rule accepts."""
    ds = valid(kernel, graph)
    return ds.component.values.tolist()


@given(st.lists(st.integers(1, 8), min_size=1, max_size=9), st.data())
def test_strong_components_of_chains_of_cycles(lengths, data):
    """A cycle leads to the next, and the last node to none."""
    nodes = np.random.default_rng(data.draw(st.integers(0, 99))).permutation(sum(lengths))
    cycles = [part.tolist() for part in np.split(nodes, np.cumsum(lengths)[:-1])]
    net = nx.DiGraph()
    net.add_nodes_from(range(len(nodes)))
    for cycle in cycles:
        net.add_edges_from(zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    net.add_edges_from((a[0], b[-1]) for a, b in pairwise(cycles))
    net.remove_edges_from([*nx.selfloop_edges(net)])
    assert right("scc", cut(net, data.draw)) == smallest(cycles, len(nodes))


@given(st.lists(st.integers(1, 60), min_size=1, max_size=6), st.booleans(), st.data())
def test_components_of_chains(lengths, directed, data):
    """Chains are longer than the search goes, and their nodes are in any order."""
    nodes = np.random.default_rng(data.draw(st.integers(0, 99))).permutation(sum(lengths))
    net = nx.DiGraph() if directed else nx.Graph()
    net.add_nodes_from(range(len(nodes)))
    for chain in np.split(nodes, np.cumsum(lengths)[:-1]):
        nx.add_path(net, chain.tolist())
    found = nx.connected_components(net.to_undirected())
    assert right("wcc", cut(net, data.draw)) == smallest(found, len(net))


@pytest.mark.parametrize("order", ["ascending", "random", "even, then odd"])
def test_chains_take_a_logarithm_of_rounds(order):
    n = 30_000
    nodes = {
        "ascending": np.arange(n),
        "random": np.random.default_rng(1).permutation(n),
        "even, then odd": np.argsort(np.arange(n) % 2, kind="stable"),
    }[order]
    graph = Graph.from_edges(nodes[:-1], nodes[1:], clusters=2)
    ds = dgsuite.run("wcc", graph, style="serial")
    assert not ds.component.any()
    assert ds.sizes["round"] <= 3 * n.bit_length()


@pytest.mark.parametrize("directed", [False, True])
def test_components_of_the_example(directed):
    graph = example(directed, clusters=3)
    assert set(right("wcc", graph)) == ({1} if directed else {2})


def test_components_have_labels():
    graph = Graph.from_edges(list("bdfa"), list("ceeb"), relabel=True)
    ds = dgsuite.run("wcc", graph)
    assert dict(zip(ds.node.values.tolist(), ds.component.values.tolist(), strict=True)) == {
        **dict.fromkeys("abc", "a"),
        **dict.fromkeys("def", "d"),
    }


def test_nodes_without_edges_are_components():
    assert right("wcc", Graph.from_edges([], [], n=4, clusters=2)) == [0, 1, 2, 3]
    assert right("wcc", Graph.from_edges([], [], n=1)) == [0]
