"""The backend of networkx: the same results as networkx itself, on any graph that it takes."""

from __future__ import annotations

import itertools
import logging
import math
import os
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import dask
import networkx as nx
import networkx_suite
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from networkx.utils import backends as dispatch

from dgsuite import nx_backend
from dgsuite.nx_backend import info
from dgsuite.nx_backend.graph import ConvertedGraph, Held
from dgsuite.nx_backend.offers import HOMES
from partition import distribute
from partition.client.gather import SETTING

ROOT = Path(__file__).parents[1]
GROUPS = ("networkx.backends", "networkx.backend_info")
POINTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]


class Point:
    """As an entry point: networkx then needs no installation that has it."""

    def load(self):
        return nx_backend


@pytest.fixture(scope="module", autouse=True)
def known():
    """networkx knows the backend, and does not warn that it uses what it has converted."""
    with pytest.MonkeyPatch.context() as patch:
        if "dgsuite" not in dispatch.backends:
            patch.setitem(dispatch.backends, "dgsuite", Point())
            patch.setitem(dispatch.backend_info, "dgsuite", info.get_info())
            patch.setattr(nx.config, "backends", nx.utils.Config(dgsuite=info.Settings()))
            call = dispatch._dispatchable._call_if_any_backends_installed
            patch.setattr(dispatch._dispatchable, "__call__", call)
        patch.setattr(nx.config, "warnings_to_ignore", {"cache"})
        yield


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Variables of a process in which the project is installed as pyproject.toml has it now."""
    folder = tmp_path_factory.mktemp("site")
    described = folder / "dgsuite-0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: dgsuite\nVersion: 0\n")
    lines = [f"[{group}]\ndgsuite = {POINTS[group]['dgsuite']}\n" for group in GROUPS]
    (described / "entry_points.txt").write_text("".join(lines))
    path = os.pathsep.join([str(folder), str(ROOT), str(ROOT / "tests")])
    return {**os.environ, "PYTHONPATH": path}


LABELS = (int, str, lambda i: ("node", i), lambda i: 7 - i, lambda i: 1000 * i)


@st.composite
def graphs(draw, kinds=(nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph), loops=True):
    """Graphs of up to seven nodes, some with weights; edges are in any order."""
    graph = draw(st.sampled_from(kinds))()
    label = draw(st.sampled_from(LABELS))
    n = draw(st.integers(0, 7))
    graph.add_nodes_from(map(label, range(n)))
    weights = draw(
        st.sampled_from(
            (
                st.just({}),
                st.fixed_dictionaries({"weight": st.integers(1, 4)}),
                st.fixed_dictionaries({"weight": st.sampled_from((0.1, 0.2, 0.3, 1.5))}),
                st.fixed_dictionaries({}, optional={"weight": st.integers(0, 3)}),
            )
        )
    )
    nodes = st.integers(0, max(n - 1, 0))
    for u, v, data in draw(st.lists(st.tuples(nodes, nodes, weights), max_size=14 if n else 0)):
        if loops or u != v:
            graph.add_edge(label(u), label(v), **data)
    return graph


def first(graph):
    return next(iter(graph), "none")


def last(graph):
    return [*graph, "none"][max(len(graph) - 1, 0)]


def by_node(function, *arguments, **keywords):
    """A call on a graph alone, with these arguments."""
    return lambda graph, **backend: function(graph, *arguments, **keywords, **backend)


def from_first(function, **keywords):
    return lambda graph, **backend: function(graph, first(graph), **keywords, **backend)


def in_order(values, graph):
    """Values in the order of the nodes, where networkx promises none."""
    return {node: float(values[node]) for node in graph}


def sampled(graph, **backend):
    k = (len(graph) + 1) // 2
    return nx.betweenness_centrality(graph, k=k, seed=3, **backend)


CALLS = {
    "connected_components": (by_node(nx.connected_components),),
    "is_connected": (by_node(nx.is_connected),),
    "is_weakly_connected": (by_node(nx.is_weakly_connected),),
    "node_connected_component": (from_first(nx.node_connected_component),),
    "number_connected_components": (by_node(nx.number_connected_components),),
    "number_weakly_connected_components": (by_node(nx.number_weakly_connected_components),),
    "weakly_connected_components": (by_node(nx.weakly_connected_components),),
    "is_strongly_connected": (by_node(nx.is_strongly_connected),),
    "number_strongly_connected_components": (by_node(nx.number_strongly_connected_components),),
    "closeness_centrality": (
        by_node(nx.closeness_centrality),
        by_node(nx.closeness_centrality, wf_improved=False),
    ),
    "all_pairs_shortest_path_length": (
        by_node(nx.all_pairs_shortest_path_length),
        by_node(nx.all_pairs_shortest_path_length, cutoff=1),
    ),
    "eccentricity": (by_node(nx.eccentricity), from_first(nx.eccentricity)),
    "diameter": (by_node(nx.diameter),),
    "radius": (by_node(nx.radius),),
    "periphery": (by_node(nx.periphery),),
    "center": (lambda graph, **backend: set(nx.center(graph, **backend)),),
    "average_shortest_path_length": (by_node(nx.average_shortest_path_length),),
    "ancestors": (from_first(nx.ancestors),),
    "descendants": (from_first(nx.descendants),),
    "descendants_at_distance": (
        lambda graph, **backend: nx.descendants_at_distance(graph, first(graph), 1, **backend),
    ),
    "dijkstra_path_length": (
        lambda graph, **backend: nx.dijkstra_path_length(
            graph, first(graph), last(graph), **backend
        ),
    ),
    "single_source_bellman_ford_path_length": (
        from_first(nx.single_source_bellman_ford_path_length),
    ),
    "single_source_dijkstra_path_length": (
        from_first(nx.single_source_dijkstra_path_length),
        from_first(nx.single_source_dijkstra_path_length, cutoff=2),
        from_first(nx.single_source_dijkstra_path_length, weight=None),
        from_first(nx.single_source_dijkstra_path_length, weight="none has it"),
    ),
    "single_source_shortest_path_length": (
        from_first(nx.single_source_shortest_path_length),
        from_first(nx.single_source_shortest_path_length, cutoff=1),
    ),
    "single_target_shortest_path_length": (
        lambda graph, **backend: dict(
            nx.single_target_shortest_path_length(graph, first(graph), cutoff=2, **backend)
        ),
    ),
    "average_clustering": (
        by_node(nx.average_clustering),
        by_node(nx.average_clustering, count_zeros=False),
    ),
    "clustering": (by_node(nx.clustering), from_first(nx.clustering)),
    "core_number": (by_node(nx.core_number),),
    "transitivity": (by_node(nx.transitivity),),
    "triangles": (
        by_node(nx.triangles),
        from_first(nx.triangles),
        by_node(nx.triangles, ["none"]),
    ),
    "maximum_spanning_edges": (by_node(nx.maximum_spanning_edges),),
    "minimum_spanning_edges": (
        by_node(nx.minimum_spanning_edges),
        by_node(nx.minimum_spanning_edges, data=False),
        by_node(nx.minimum_spanning_edges, weight=None),
        by_node(nx.minimum_spanning_edges, "none such"),
    ),
}
"""Calls whose results are the same, to the last bit."""

CLOSE = {
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
        sampled,
    ),
}
"""Calls whose results are floats that are added up in another order than networkx's."""


def outcome(call, graph, **backend):
    """The result of a call, or the type of its error."""
    try:
        found = call(graph, **backend)
        return found if isinstance(found, dict | tuple | float | int | set) else list(found)
    except (nx.NetworkXException, ArithmeticError, LookupError, ValueError) as error:
        return type(error)


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
@settings(max_examples=15)
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
@settings(max_examples=25)
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
    with pytest.raises(NotImplementedError):
        nx.hits(graph, max_iter=2, backend="dgsuite")
    with pytest.raises(NotImplementedError):
        nx.hits(nx.empty_graph(3), backend="dgsuite")


def test_distances_that_are_not_exact_are_left_to_networkx():
    graph = nx.path_graph(3)
    nx.set_edge_attributes(graph, 2**52, "weight")
    with pytest.raises(NotImplementedError):
        nx.single_source_dijkstra_path_length(graph, 0, backend="dgsuite")


@settings(max_examples=30)
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


def length(graph, path, weight):
    """How long a path is."""
    steps = itertools.pairwise(path)
    several = graph.is_multigraph()
    return sum(
        min(data.get(weight, 1) for data in (graph[u][v].values() if several else [graph[u][v]]))
        for u, v in steps
    )


@settings(max_examples=30)
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


@settings(max_examples=30)
@given(graph=graphs((nx.Graph, nx.MultiGraph), loops=False), seed=st.integers(0, 9))
def test_sets_are_independent_and_maximal(graph, seed):
    if not len(graph):
        with pytest.raises(IndexError):
            nx.maximal_independent_set(graph, backend="dgsuite")
        return
    for wanted in (None, [first(graph)]):
        found = nx.maximal_independent_set(graph, wanted, seed=seed, backend="dgsuite")
        assert found == nx.maximal_independent_set(graph, wanted, seed=seed, backend="dgsuite")
        assert set(wanted or ()) <= set(found)
        assert len(found) == len(set(found))
        assert not graph.subgraph(found).edges
        assert set(found).union(*(graph[node] for node in found)) == set(graph)
    for wrong in (["none"], next(([u, v] for u, v in graph.edges()), ["none"])):
        with pytest.raises(nx.NetworkXUnfeasible):
            nx.maximal_independent_set(graph, wrong, backend="dgsuite")


@settings(max_examples=30)
@given(graph=graphs((nx.DiGraph, nx.MultiDiGraph)))
def test_strong_components_are_those_of_networkx(graph):
    found = list(nx.strongly_connected_components(graph, backend="dgsuite"))
    wanted = list(nx.strongly_connected_components(graph))
    assert sorted(map(sorted, found)) == sorted(map(sorted, wanted))


@settings(max_examples=30)
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


def test_every_function_is_tested():
    text = Path(__file__).read_text()
    assert [name for name in HOMES if name not in text] == []


@given(graph=graphs())
def test_graphs_come_back(graph):
    """Conversion, and back, with nodes, edges in order, keys and attributes."""
    back = nx_backend.convert_to_nx(
        nx_backend.convert_from_nx(
            graph, preserve_edge_attrs=True, preserve_node_attrs=True, preserve_graph_attrs=True
        )
    )
    assert type(back) is type(graph)
    assert nx.utils.graphs_equal(back, graph)
    assert list(back.edges) == list(graph.edges)


def test_a_view_is_converted():
    graph = nx.MultiGraph(nx.path_graph(6))
    view = nx.subgraph_view(graph, filter_edge=lambda u, v, key: {u, v} != {2, 3})
    found = nx.number_connected_components(view, backend="dgsuite")
    assert found == nx.number_connected_components(view) == 2


def test_a_conversion_is_kept_until_the_graph_changes():
    graph = nx.path_graph(4)
    assert nx.is_connected(graph, backend="dgsuite")
    (converted,) = graph.__networkx_cache__["backends"]["dgsuite"].values()
    nx.triangles(graph, backend="dgsuite")
    (same,) = graph.__networkx_cache__["backends"]["dgsuite"].values()
    assert same is converted
    assert len(same._held) == 1
    graph.add_node("beside")
    assert not nx.is_connected(graph, backend="dgsuite")


def test_a_converted_graph_may_be_given_itself():
    graph = nx.path_graph(4)
    converted = nx_backend.convert_from_nx(graph)
    assert nx.triangles(converted) == nx.triangles(graph)
    with nx.config(fallback_to_nx=True):
        assert nx.degree_centrality(converted) == nx.degree_centrality(graph)


@pytest.mark.parametrize("value", ["text", None, math.inf, math.nan, 2**70])
def test_weights_that_are_no_numbers_are_left_to_networkx(value):
    graph = nx.path_graph(3)
    graph.edges[0, 1]["weight"] = value
    with pytest.raises(NotImplementedError, match="raised NotImplementedError"):
        nx.single_source_dijkstra_path_length(graph, 0, backend="dgsuite")
    assert nx.is_connected(graph, backend="dgsuite")


@pytest.mark.parametrize("weight", [-1, -0.5])
def test_negative_weights_are_left_to_networkx(weight):
    graph = nx.DiGraph([(0, 1, {"weight": 2}), (1, 2, {"weight": weight})])
    with nx.config.backend_priority(algos=["dgsuite"]), nx.config.backends.dgsuite(threshold=0):
        assert nx.single_source_bellman_ford_path_length(graph, 0) == {0: 0, 1: 2, 2: 2 + weight}


def test_small_graphs_are_left_to_networkx(caplog):
    graph = nx.gnm_random_graph(50, 100, seed=1)
    caplog.set_level(logging.DEBUG, "networkx")
    with nx.config.backend_priority(algos=["dgsuite"]):
        nx.pagerank(graph)
        nx.is_connected(graph)
        assert "dgsuite" not in graph.__networkx_cache__.get("backends", {})
        assert "this graph has 150" in caplog.text
        assert "no longer than conversion" in caplog.text
        with nx.config.backends.dgsuite(threshold=150):
            nx.is_connected(graph)
    assert "dgsuite" in graph.__networkx_cache__["backends"]


def test_a_graph_that_has_been_converted_is_worth_more():
    graph = nx.gnm_random_graph(2000, 9000, seed=1)
    assert nx_backend.should_run("is_connected", (graph,), {}) is not True
    nx.triangles(graph, backend="dgsuite")
    assert nx_backend.should_run("is_connected", (graph,), {}) is True


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (by_node(nx.pagerank, nstart={0: 1}), "nstart"),
        (by_node(nx.greedy_color), "random_sequential"),
        (by_node(nx.diameter, usebounds=True), "few searches"),
        (by_node(nx.closeness_centrality, distance="weight"), "without weights"),
        (by_node(nx.pagerank, dangling={0: 1}), "dangling"),
        (by_node(nx.clustering, weight="weight"), "without weights"),
        (by_node(nx.minimum_spanning_edges, "prim"), "Kruskal"),
        (from_first(nx.single_source_dijkstra_path_length, weight=lambda u, v, d: 1), "function"),
    ],
)
def test_a_call_that_cannot_be_says_why(call, reason, caplog):
    caplog.set_level(logging.DEBUG, "networkx")
    with pytest.raises(NotImplementedError):
        outcome(call, nx.path_graph(4), backend="dgsuite")
    assert re.search(f"because: .*{reason}", caplog.text)


def test_settings_and_arguments_say_how_it_runs(client):
    graph = nx.gnm_random_graph(40, 80, seed=2)
    wanted = nx.number_connected_components(graph)
    function = nx.number_connected_components
    for how in ({"style": "serial"}, {"style": "clocked", "client": client, "clusters": 3}):
        assert function(graph, backend="dgsuite", **how) == wanted
        with nx.config.backends.dgsuite(**how):
            assert function(graph, backend="dgsuite") == wanted
    (converted,) = graph.__networkx_cache__["backends"]["dgsuite"].values()
    assert {held.clusters for held in converted._held} == {None, 3}
    with pytest.raises(TypeError, match="'stile'; those of the backend dgsuite are style, client"):
        function(graph, backend="dgsuite", stile="serial")


@pytest.mark.parametrize(("key", "value"), [("style", "fast"), ("clusters", 0), ("threshold", 1.5)])
def test_wrong_settings_are_refused(key, value):
    with pytest.raises(ValueError, match=f"{key} must be None or"):
        setattr(nx.config.backends.dgsuite, key, value)


def test_a_graph_on_a_closed_client_is_built_again(client):
    from distributed import Client

    graph = nx.gnm_random_graph(300, 500, seed=2)
    wanted = nx.single_source_shortest_path_length(graph, 0)
    converted = nx_backend.convert_from_nx(graph)
    with Client(client.cluster, set_as_default=False) as other:
        held = converted.graph(Held(None, False, 2, other))
        held._parts = other.scatter(held._parts)
        assert (
            nx_backend.single_source_shortest_path_length(converted, 0, client=other, clusters=2)
            == wanted
        )
    assert nx_backend.single_source_shortest_path_length(converted, 0, style="serial") == wanted
    assert all(graph.local for graph in converted._held.values())


def test_large_results_are_gathered_from_a_client_that_is_not_the_current_one(client):
    from distributed import Client

    graph = nx.path_graph(30)
    here = {SETTING: 0, "scheduler": "synchronous"}  # what computes collections otherwise
    with Client(client.cluster, set_as_default=False) as other, dask.config.set(here):
        how = {"client": other, "clusters": 2, "style": "clocked"}
        found = nx.single_source_shortest_path_length(graph, 0, backend="dgsuite", **how)
    assert found == dict(enumerate(range(30)))


def test_a_serial_run_leaves_the_current_client_alone(client, monkeypatch):
    """Large graphs are built on workers where there is a current client."""
    monkeypatch.setattr(distribute, "SMALL", 10)
    converted = nx_backend.convert_from_nx(nx.path_graph(20))
    assert not converted.graph(Held(None, False, None, client)).local
    assert nx_backend.is_connected(converted, style="serial")
    assert converted.graph(Held(None, False, None, None)).local


def test_entry_points_lead_somewhere():
    for group in GROUPS:
        module, _, attribute = POINTS[group]["dgsuite"].partition(":")
        found = import_module(module)
        assert not attribute or callable(getattr(found, attribute))


def test_networkx_stays_quick_to_import(environment):
    code = (
        "import sys, networkx as nx; assert 'dgsuite' in nx.config.backends; "
        "print([m for m in ('numpy', 'scipy', 'dask', 'xarray', 'numba', 'partition.graph', "
        "'dgsuite.runner') if m in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == "[]"


def test_the_tests_of_networkx_pass(environment):
    """Its own tests of the functions that are offered, each of which kernels answer at least once."""
    found = subprocess.run(
        [sys.executable, networkx_suite.__file__],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    counts = re.findall(r"^(\w+) (\d+)$", found.stdout, re.MULTILINE)
    assert {name for name, count in counts if int(count)} == set(HOMES)


def test_the_examples_of_the_page_run():
    """All but the one that starts a cluster."""
    text = (ROOT / "docs" / "networkx.md").read_text()
    call, setting, _ = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    with nx.config.backend_priority(algos=[]):
        space: dict = {}
        exec(call + setting, space)
    assert not nx.config.backend_priority.algos
    (converted,) = space["graph"].__networkx_cache__["backends"]["dgsuite"].values()
    assert isinstance(converted, ConvertedGraph)


def test_the_page_lists_all_functions():
    text = (ROOT / "docs" / "networkx.md").read_text()
    listed = set(re.findall(r"`(\w+)`", text))
    assert set(HOMES) <= listed
