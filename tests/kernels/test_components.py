"""Components of long chains take few rounds; those of examples, and of chains of cycles."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.support.definitions import cut
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
