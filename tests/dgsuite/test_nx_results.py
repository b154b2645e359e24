"""Results of the backend of networkx are those of networkx itself, on any graph that it takes."""

from __future__ import annotations

import itertools
from functools import partial
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dgsuite.faces.nx_backend.calls import LEIDEN, SAMPLES
from dgsuite.faces.nx_backend.offers import ANSWERS
from tests.support import nx_inputs
from tests.support.nx_inputs import by_node, first, from_first, graphs, outcome

known = nx_inputs.known


def last(graph):
    return [*graph, "none"][max(len(graph) - 1, 0)]


def from_ends(function, **keywords):
    return lambda graph, **backend: function(
        graph, [last(graph), first(graph)], **keywords, **backend
    )


def lowered(graph):
    """With whole weights, some of them negative."""
    made = graph.copy()
    for *_, data in made.edges(data=True):
        data["weight"] = int(10 * data.get("weight", 1)) - 9
    return made


def in_order(values, graph):
    """Values in the order of the nodes, where networkx promises none."""
    return {node: float(values[node]) for node in graph}


def sampled(function):
    """Centralities by paths from half of the nodes."""
    return lambda graph, **backend: function(graph, k=(len(graph) + 1) // 2, seed=3, **backend)


def predicted(function):
    """Similarities of all pairs of two nodes."""
    return lambda graph, **backend: {
        (u, v): value
        for u, v, value in function(graph, [*itertools.combinations(graph, 2)], **backend)
    }


BY_NODE = (
    *("is_directed_acyclic_graph", "is_bipartite", "has_bridges", "connected_components"),
    *("is_connected", "is_weakly_connected", "number_connected_components", "diameter", "radius"),
    *("number_weakly_connected_components", "weakly_connected_components", "is_strongly_connected"),
    *("number_strongly_connected_components", "periphery", "average_shortest_path_length"),
    *("core_number", "transitivity", "maximum_spanning_edges", "closeness_centrality"),
    *(
        "all_pairs_shortest_path_length",
        "eccentricity",
        "negative_edge_cycle",
        "average_clustering",
    ),
    *("clustering", "triangles", "minimum_spanning_edges"),
)
FROM_FIRST = (
    *("node_connected_component", "ancestors", "descendants", "eccentricity", "clustering"),
    *("single_source_bellman_ford_path_length", "single_source_dijkstra_path_length"),
    *("single_source_shortest_path_length", "triangles"),
)
OTHERS = {
    "color": lambda graph, **how: [nx.bipartite.color(graph, **how).get(node) for node in graph],
    "articulation_points": lambda graph, **how: {*nx.articulation_points(graph, **how)},
    "biconnected_components": (
        lambda graph, **how: {*map(frozenset, nx.biconnected_components(graph, **how))}
    ),
    "strongly_connected_components": (
        lambda graph, **how: {*map(frozenset, nx.strongly_connected_components(graph, **how))}
    ),
    "bridges": lambda graph, **how: {*map(frozenset, nx.bridges(graph, **how))},
    "square_clustering": (  # networkx has 0 or 0.0
        lambda graph, **how: in_order(nx.square_clustering(graph, **how), graph)
    ),
    "closeness_centrality": by_node(nx.closeness_centrality, wf_improved=False),
    "all_pairs_shortest_path_length": by_node(nx.all_pairs_shortest_path_length, cutoff=1),
    "center": lambda graph, **how: set(nx.center(graph, **how)),
    "descendants_at_distance": (
        lambda graph, **how: nx.descendants_at_distance(graph, first(graph), 1, **how)
    ),
    "dijkstra_path_length": (
        lambda graph, **how: nx.dijkstra_path_length(graph, first(graph), last(graph), **how)
    ),
    "multi_source_dijkstra_path_length": from_ends(nx.multi_source_dijkstra_path_length, cutoff=2),
    "negative_edge_cycle": lambda graph, **how: nx.negative_edge_cycle(lowered(graph), **how),
    "single_source_bellman_ford_path_length": (
        lambda graph, **how: nx.single_source_bellman_ford_path_length(
            lowered(graph), first(graph), **how
        )
    ),
    "single_source_dijkstra_path_length": (
        from_first(nx.single_source_dijkstra_path_length, cutoff=2, weight="none has it")
    ),
    "single_source_shortest_path_length": (
        from_first(nx.single_source_shortest_path_length, cutoff=1)
    ),
    "single_target_shortest_path_length": (
        lambda graph, **how: dict(
            nx.single_target_shortest_path_length(graph, first(graph), cutoff=2, **how)
        )
    ),
    "average_clustering": by_node(nx.average_clustering, count_zeros=False),
    "triangles": by_node(nx.triangles, ["none"]),
    "minimum_spanning_edges": by_node(nx.minimum_spanning_edges, "none such"),
}
CALLS = {
    name: (
        *(by_node(getattr(nx, each)) for each in BY_NODE if each == name),
        *(from_first(getattr(nx, each)) for each in FROM_FIRST if each == name),
        *(call for each, call in OTHERS.items() if each == name),
    )
    for name in dict.fromkeys([*BY_NODE, *FROM_FIRST, *OTHERS])
}
"""Calls whose results are the same, to the last bit."""

CLOSE = {
    "jaccard_coefficient": (predicted(nx.jaccard_coefficient),),
    "adamic_adar_index": (predicted(nx.adamic_adar_index),),
    "resource_allocation_index": (predicted(nx.resource_allocation_index),),
    "pagerank": (
        by_node(nx.pagerank),
        by_node(nx.pagerank, weight=None),
        by_node(nx.pagerank, max_iter=1),
        by_node(nx.pagerank, max_iter=4, tol=0.01),
        lambda graph, **backend: nx.pagerank(
            graph, 0.5, personalization={first(graph): 2, "none": 1}, **backend
        ),
    ),
    "eigenvector_centrality": (
        by_node(nx.eigenvector_centrality, max_iter=1000),
        by_node(nx.eigenvector_centrality, weight="weight", max_iter=20, tol=0.001),
    ),
    "katz_centrality": (
        by_node(nx.katz_centrality),
        by_node(nx.katz_centrality, 0.5, 2, max_iter=30, weight="weight"),
        by_node(nx.katz_centrality, normalized=False),
    ),
    "harmonic_centrality": (
        lambda graph, **backend: in_order(nx.harmonic_centrality(graph, **backend), graph),
        lambda graph, **backend: nx.harmonic_centrality(graph, [first(graph)], **backend),
    ),
    "betweenness_centrality": (
        by_node(nx.betweenness_centrality),
        by_node(nx.betweenness_centrality, normalized=False),
        by_node(nx.betweenness_centrality, endpoints=True),
        by_node(nx.betweenness_centrality, weight="weight", normalized=False),
        *([sampled(nx.betweenness_centrality)] if SAMPLES else []),
    ),
    "edge_betweenness_centrality": (
        by_node(nx.edge_betweenness_centrality),
        by_node(nx.edge_betweenness_centrality, normalized=False),
        by_node(nx.edge_betweenness_centrality, weight="weight", normalized=False),
        *([sampled(nx.edge_betweenness_centrality)] if SAMPLES else []),
    ),
}
"""Calls whose results are floats that are added up in another order than networkx's."""


def plain(graph):
    """Whether a graph is one that every function takes."""
    return not (graph.is_multigraph() or graph.is_directed() or nx.number_of_selfloops(graph))


def answered(call, graph):
    """The backend's outcome, or None where it leaves a graph to networkx."""
    try:
        return outcome(call, graph, backend="dgsuite")
    except NotImplementedError:
        zero = any(w == 0 for *_, w in graph.edges(data="weight"))
        assert not plain(graph) or zero
        return None


@pytest.mark.parametrize("name", CALLS)
@given(graph=graphs())
def test_results_are_those_of_networkx(name, graph):
    """Values and types; keys of paths may come in another order where distances are equal."""
    for call in CALLS[name]:
        found = answered(call, graph)
        if found is None:
            continue
        assert found == (wanted := outcome(call, graph))
        if isinstance(found, dict) and "path" not in name:
            assert list(found) == list(wanted)
            assert list(map(type, found.values())) == list(map(type, wanted.values()))


@pytest.mark.parametrize("name", CLOSE)
@given(graph=graphs())
def test_centralities_are_those_of_networkx(name, graph):
    for call in CLOSE[name]:
        found = answered(call, graph)
        if found is None:
            continue
        wanted = outcome(call, graph)
        if not isinstance(wanted, dict):
            assert found == wanted
            continue
        assert list(found) == list(wanted)
        assert list(found.values()) == pytest.approx(list(wanted.values()), abs=1e-9, nan_ok=True)
        assert list(map(type, found.values())) == list(map(type, wanted.values()))


def test_hubs_and_authorities_are_those_of_networkx():
    graph = nx.gnp_random_graph(40, 0.1, seed=1, directed=True)
    found, wanted = nx.hits(graph, backend="dgsuite"), nx.hits(graph)
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours == pytest.approx(theirs, abs=1e-6)
        assert list(ours) == list(graph)
    # networkx before 3.7 takes fewer iterations, so the call is left to it
    with pytest.raises((NotImplementedError, nx.PowerIterationFailedConvergence)):
        nx.hits(graph, max_iter=2, backend="dgsuite")
    with pytest.raises(NotImplementedError):
        nx.hits(nx.empty_graph(3), backend="dgsuite")


@given(graph=graphs())
def test_paths_are_shortest(graph):
    """Of several shortest paths networkx, too, gives any."""
    for name in (
        "single_source_shortest_path",
        "single_target_shortest_path",
        "single_source_dijkstra_path",
        "single_source_dijkstra",
    ):
        call = from_first(getattr(nx, name))
        found, wanted = answered(call, graph), outcome(call, graph)
        if found is None or not isinstance(wanted, dict | tuple):
            assert found in (None, wanted)
            continue
        if isinstance(wanted, tuple):
            assert found[0] == wanted[0]
            found, wanted = found[1], wanted[1]
        assert set(found) == set(wanted)
        weight = "weight" if "dijkstra" in name else None
        for node, path in found.items():
            assert (path[0], path[-1]) == (wanted[node][0], wanted[node][-1])
            assert length(graph, path, weight) == pytest.approx(length(graph, wanted[node], weight))


@given(graph=graphs())
def test_cells_are_those_of_networkx_where_no_two_centers_are_as_near(graph):
    call = from_ends(nx.voronoi_cells)
    found, wanted = answered(call, graph), outcome(call, graph)
    if not isinstance(wanted, dict) or found is None:
        assert found in (None, wanted)
        return
    assert {*itertools.chain(*found.values())} == {*graph}
    for center, nodes in found.items():
        for node in nodes - wanted.get(center, set()):
            (other,) = (c for c, cell in wanted.items() if node in cell)
            assert nx.dijkstra_path_length(graph, center, node) == pytest.approx(
                nx.dijkstra_path_length(graph, other, node)
            )


def length(graph, path, weight):
    """How long a path is."""
    steps = itertools.pairwise(path)
    several = graph.is_multigraph()
    return sum(
        min(data.get(weight, 1) for data in (graph[u][v].values() if several else [graph[u][v]]))
        for u, v in steps
    )


@given(graph=graphs((nx.Graph,), loops=False), seed=st.integers(0, 9))
def test_spanning_trees_are_those_of_networkx(graph, seed):
    """With all attributes, and of equal edges the same."""
    graph.graph["name"] = "a graph"
    for node in graph:
        graph.nodes[node]["colour"] = seed
    for name in ("minimum_spanning_tree", "maximum_spanning_tree"):
        found = getattr(nx, name)(graph, backend="dgsuite")
        wanted = getattr(nx, name)(graph)
        assert nx.utils.graphs_equal(found, wanted)
        assert list(found.edges) == list(wanted.edges)


@given(graph=graphs((nx.Graph, nx.MultiGraph), loops=False), seed=st.integers(0, 9))
def test_sets_are_independent_and_maximal(graph, seed):
    mine = partial(nx.maximal_independent_set, graph, backend="dgsuite")
    if not len(graph):
        with pytest.raises(IndexError):
            mine()
        return
    for wanted in (None, [first(graph)]):
        found = mine(wanted, seed=seed)
        assert found == mine(wanted, seed=seed)
        assert type(found) is type(nx.maximal_independent_set(graph, wanted, seed=seed))
        assert set(wanted or ()) <= set(found)
        assert len(found) == len(set(found))
        assert not graph.subgraph(found).edges
        assert set(found).union(*(graph[node] for node in found)) == set(graph)
    for wrong in (["none"], next(([u, v] for u, v in graph.edges()), ["none"])):
        with pytest.raises(nx.NetworkXUnfeasible):
            mine(wrong)


@given(graph=graphs((nx.Graph,)))
def test_colours_and_matchings_are_valid(graph):
    colour = nx.greedy_color(graph, "random_sequential", backend="dgsuite")
    assert list(colour) == list(graph)
    for node in graph:
        taken = {colour[other] for other in graph[node] if other != node}
        assert colour[node] not in taken
        assert taken >= set(range(colour[node]))
    matching = nx.maximal_matching(graph, backend="dgsuite")
    assert nx.is_maximal_matching(graph, matching)


METRICS = [{"metric": "modularity"}, {"metric": "cpm"}] if LEIDEN else [{}]
"""Of Leiden's method; networkx before 3.7 names none, which means the first."""

leiden_there = pytest.mark.skipif(
    not hasattr(nx.community, "leiden_communities"), reason="networkx 3.4 has no such function"
)


@leiden_there
@given(graph=graphs((nx.Graph,)))
def test_communities_are_connected_and_a_partition(graph):
    for metric in METRICS:
        how = {"weight": None, "seed": 5, **metric, "backend": "dgsuite"}
        found = nx.community.leiden_communities(graph, **how)
        assert nx.community.is_partition(graph, found)
        assert all(nx.is_connected(graph.subgraph(nodes)) for nodes in found)
        assert found == nx.community.leiden_communities(graph, **how)


@pytest.mark.skipif(not LEIDEN, reason="networkx before 3.7 has no such argument")
def test_communities_are_those_of_the_metric():
    """By default networkx's."""
    graph = nx.barbell_graph(3, 4)
    leiden = partial(nx.community.leiden_communities, graph, seed=1, backend="dgsuite")
    few = [{0, 1, 2}, {3, 4, 5, 6}, {7, 8, 9}]
    assert leiden(resolution=0.2, metric="cpm") == few
    assert leiden(resolution=3, metric="cpm") == [{node} for node in graph]
    assert leiden(resolution=0.2) == few != leiden(resolution=0.2, metric="modularity")
    theirs = nx.community.leiden_communities(graph, resolution=0.2, seed=1)
    assert sorted(map(sorted, theirs)) == [*map(sorted, few)]
    with pytest.raises(NotImplementedError):
        leiden(metric="other")
    with pytest.raises(NotImplementedError) as refused:
        leiden(theta=1)
    assert "in weights of edges, and the kernel's is 0.01 mean degrees" in str(
        refused.value.__cause__
    )


@leiden_there
def test_communities_follow_weights_and_arguments():
    graph = nx.path_graph("abcd")
    graph.edges["b", "c"]["weight"] = 100
    leiden = partial(nx.community.leiden_communities, graph, **METRICS[0], backend="dgsuite")
    assert any({"b", "c"} <= found for found in leiden())
    assert {"a", "b"} in leiden(weight=None)
    assert len(leiden(resolution=1e-3)) == 1
    for wrong in ({"max_level": 1}, {"resolution": 0}):
        with pytest.raises(NotImplementedError):
            leiden(**wrong)
    assert {"a"} not in leiden()
    graph.add_edge("a", "a", weight=1000)
    assert {"a"} in leiden()
    graph.remove_edge("a", "a")
    graph.edges["a", "b"]["weight"] = -1
    with pytest.raises(NotImplementedError):
        leiden()


def test_every_function_is_tested():
    text = Path(__file__).read_text()
    assert [name for name in ANSWERS if name not in text] == []
