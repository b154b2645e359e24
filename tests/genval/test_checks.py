"""Preconditions of algorithms: what passes, and what is named where something does not."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import genval
from dgsuite.base.errors import InputError
from dgsuite.partition.graph import checks
from dgsuite.partition.graph.graph import Graph
from tests.support.cases import cuts


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 20))
    graph = nx.gnm_random_graph(n, draw(st.integers(0, 2 * n)), seed=draw(st.integers(0, 999)))
    return graph, Graph.from_networkx(graph, **draw(cuts(n)))


def problem(graph, need):
    try:
        checks.check(graph, need)
    except InputError as error:
        return str(error)
    return None


@given(graphs())
def test_connected_and_trees_as_networkx_says(pair):
    graph, mine = pair
    found = problem(mine, "connected")
    assert (found is None) == nx.is_connected(graph)
    if found is not None:
        node = int(found.split(";")[0].split()[-1])
        assert node not in nx.node_connected_component(graph, 0)
    found = problem(mine, "tree")
    assert (found is None) == nx.is_tree(graph)


def test_on_workers(client):
    for need, good, bad, message in (
        ("connected", nx.path_graph(40), nx.disjoint_union(*[nx.path_graph(20)] * 2), "node 20"),
        ("tree", nx.star_graph(39), nx.cycle_graph(40), "it has a cycle"),
        ("ring", nx.cycle_graph(40), nx.path_graph(40), "node 39 is not on a ring"),
    ):
        for network in (good, bad):
            src, dst = np.array(network.edges).T
            lots = np.tile(src, 8000), np.tile(dst, 8000)
            lots = Graph.from_edges(*lots, n=40, clusters=3, client=client)
            assert not lots.local
            found = problem(lots, need)
            assert found is None if network is good else message in found
    src = np.tile(np.arange(39), 8000)
    graph = Graph.from_edges(src, src + 1, weights=src, clusters=3, client=client)
    assert problem(graph, "non-negative weights") is None
    graph = Graph.from_edges(src, src + 1, weights=-src, clusters=3, client=client)
    assert "negative weight" in problem(graph, "non-negative weights")


def test_large_graphs():
    graph = genval.graph("chain", 60_000)
    assert problem(graph, "tree") is None
    src = np.arange(60_000)
    ring = Graph.from_edges(src, (src + 1) % 60_000)
    assert "it has a cycle" in problem(ring, "tree")
    assert problem(ring, "connected") is None


TWO = nx.disjoint_union(nx.path_graph(3), nx.path_graph(2))
HUGE = nx.Graph([(0, 1, {"weight": 2**63 - 1}), (1, 2, {"weight": 3})])
BELOW = nx.Graph([(0, 1, {"weight": -3}), (1, 2, {"weight": 3})])
LATE = nx.compose(nx.empty_graph(3), nx.Graph([(0, 2), (1, 2)]))
PATH, SIXTEEN = nx.path_graph(3), nx.complete_graph(16)

BAD = {
    "a weight that stands for none": ("mst", HUGE, {}, f"weights must be below {2**63 - 1}"),
    "two components": ("dp", TWO, {}, "there is no path from node 0 to node 3"),
    "two components of voters": ("by", TWO, {}, "there is no path from node 0 to node 3"),
    "a tree with a cycle": ("vc", nx.cycle_graph(5), {}, "it has a cycle"),
    "a tree in two": ("vc", TWO, {}, "node 3"),
    "too many traitors": ("by", SIXTEEN, {"traitors": [1, 2]}, "2 traitors among 16 nodes"),
    "a traitor twice": ("by", nx.complete_graph(32), {"traitors": [1, 1]}, "named twice"),
    "no such traitor": ("by", SIXTEEN, {"traitors": [16]}, "traitors 16"),
    "a vote of two": ("by", nx.complete_graph(3), {"votes": [0, 1, 2]}, "votes must be 0 or 1"),
    "no committee": ("kc", PATH, {"k": 0}, "k must be at least 1"),
    "negative weights": ("dr", BELOW, {}, "edge (0, 1) has the negative weight -3"),
    "not a ring": ("hs", PATH, {}, "not on a ring"),
    "a strange parent": ("vc", PATH, {"parents": [0, 0, 0]}, "node 2 has no edge to"),
    "no parents": ("vc", LATE, {}, "node 1 has no edge to its parent"),
    "parents that lead nowhere": (
        *("vc", nx.path_graph(4), {"parents": [0, 2, 1, 2]}),
        "nodes 1 and 2 are each other's parents",
    ),
    "a label for a root": ("bf", PATH, {"root": "b"}, "root must be a node, got 'b'"),
    "no such root": ("dst", PATH, {"root": 3}, "root 3 is not a node"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case):
    kernel, network, options, message = BAD[case]
    network = nx.convert_node_labels_to_integers(network, ordering="sorted")
    for clusters in (1, 3):
        graph = Graph.from_networkx(network, clusters=clusters)
        with pytest.raises(InputError) as error:
            dgsuite.run(kernel, graph, style="serial", **options)
        assert message in str(error.value)
        assert f"kernel {kernel!r}" in str(error.value)


def test_repeated_identifiers_are_named():
    with pytest.raises(InputError, match="nodes 0 and 2 have the same identifier 5"):
        Graph.from_edges([0, 1], [1, 2], uid=[5, 6, 5])


def test_a_tree_whose_parents_are_not_its_smaller_neighbours_is_named():
    """By whichever cluster finds it first."""
    graph = Graph.from_edges([0, 1], [2, 2], partition=np.array([0, 1, 0]))
    with pytest.raises(InputError, match="node 2 has several neighbours with smaller ids: pass"):
        dgsuite.run("vc", graph, style="serial")
