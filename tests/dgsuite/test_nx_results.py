"""Results of the backend of networkx are those of networkx itself, on any graph that it takes."""

import itertools
from functools import partial

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dgsuite.faces.nx_backend.calls import LEIDEN
from tests.support import nx_inputs
from tests.support.nx_inputs import first, from_first, graphs, outcome

known = nx_inputs.known


def last(graph):
    return [*graph, "none"][max(len(graph) - 1, 0)]


def from_ends(function, **more):
    return lambda graph, **backend: function(graph, [last(graph), first(graph)], **more, **backend)


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


@given(graph=graphs())
def test_paths_are_shortest(graph):
    """Of several shortest paths networkx, too, gives any."""
    plain = ("single_source_shortest_path", "single_target_shortest_path")
    for name in (*plain, "single_source_dijkstra_path", "single_source_dijkstra"):
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
            near, far = (nx.dijkstra_path_length(graph, c, node) for c in (center, other))
            assert near == pytest.approx(far)


def length(graph, path, weight):
    """How long a path is."""
    steps = itertools.pairwise(path)
    several = graph.is_multigraph()
    return sum(
        min(data.get(weight, 1) for data in (graph[u][v].values() if several else [graph[u][v]]))
        for u, v in steps
    )


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
    assert "in weights of edges, and the kernel's is 0.01 mean" in str(refused.value.__cause__)


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
