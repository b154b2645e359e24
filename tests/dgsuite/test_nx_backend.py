"""The backend of networkx: graphs, settings, what it leaves to networkx, and how it is installed."""

import logging
import os
import re
import tomllib
from importlib import import_module
from importlib.metadata import metadata

import dask
import networkx as nx
import pytest
from hypothesis import given
from networkx.utils.backends import _registered_algorithms

from dgsuite.faces import nx_backend
from dgsuite.faces.nx_backend.calls import LEIDEN, Offered
from dgsuite.faces.nx_backend.graph import ConvertedGraph, Held
from dgsuite.faces.nx_backend.offers import HOMES
from dgsuite.partition.client.settings import GATHER
from dgsuite.partition.construction import distribute
from tests import networkx_suite
from tests.support import nx_inputs
from tests.support.nx_inputs import by_node, from_first, graphs, outcome
from tests.support.paths import ROOT
from tests.support.processes import python

GROUPS = ("networkx.backends", "networkx.backend_info")
POINTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]

known = nx_inputs.known


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """The path of a process in which the project is installed as pyproject.toml has it now."""
    folder = tmp_path_factory.mktemp("site")
    described = folder / "dgsuite-0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: dgsuite\nVersion: 0\n")
    lines = [f"[{group}]\ndgsuite = {POINTS[group]['dgsuite']}\n" for group in GROUPS]
    (described / "entry_points.txt").write_text("".join(lines))
    return os.pathsep.join([str(folder), str(ROOT), str(ROOT / "tests")])


@given(graph=graphs())
def test_graphs_come_back(graph):
    """Conversion, and back, with nodes, edges in order, keys and attributes."""
    kept = {f"preserve_{what}_attrs": True for what in ("edge", "node", "graph")}
    back = nx_backend.convert_to_nx(nx_backend.convert_from_nx(graph, **kept))
    assert type(back) is type(graph)
    assert nx.utils.graphs_equal(back, graph)
    assert list(back.edges) == list(graph.edges)


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


def test_small_graphs_are_left_to_networkx(caplog):
    """A graph that has been converted is worth more."""
    graph = nx.gnm_random_graph(50, 100, seed=1)
    caplog.set_level(logging.DEBUG, "networkx")
    with nx.config.backend_priority(algos=["dgsuite"]):
        nx.pagerank(graph)
        nx.is_connected(graph)
        assert "dgsuite" not in graph.__networkx_cache__.get("backends", {})
        assert "this graph has 150" in caplog.text
        assert "no longer than conversion" in caplog.text
        assert (nx_backend.should_run("leiden_communities", (graph,), {}) is True) == (not LEIDEN)
        with nx.config.backends.dgsuite(threshold=150):
            nx.is_connected(graph)
    assert "dgsuite" in graph.__networkx_cache__["backends"]
    larger = nx.gnm_random_graph(2000, 9000, seed=1)
    assert nx_backend.should_run("is_connected", (larger,), {}) is not True
    nx.triangles(larger, backend="dgsuite")
    assert nx_backend.should_run("is_connected", (larger,), {}) is True


FRESH = """
import sys, networkx as nx
graph = nx.gnm_random_graph(20_000, 100_000, seed=1)
for _ in range(int(sys.argv[1])):
    nx.pagerank(graph)
if "k" in sys.argv[2]:
    nx.betweenness_centrality(graph, k=20)
nx.number_connected_components(graph)
print("xarray" in sys.modules)
"""


@pytest.mark.parametrize(("calls", "k", "heavy"), [(1, "", False), (5, "", True), (0, "k", True)])
def test_a_new_process_leaves_to_networkx_what_takes_less_than_imports(calls, k, heavy):
    """Until what it asks for is worth them; until then nothing heavy is imported."""
    found = python("-c", FRESH, calls, k, NETWORKX_BACKEND_PRIORITY="dgsuite")
    assert found.stdout.split() == [str(heavy)], found.stderr


def test_the_log_names_a_graph_in_short(caplog):
    """networkx logs the arguments of each call that dgsuite answers."""
    graph = nx.gnm_random_graph(1000, 5000, seed=1)
    caplog.set_level(logging.DEBUG, "networkx")
    nx.pagerank(graph, backend="dgsuite")
    (said,) = [line for line in caplog.messages if "ConvertedGraph" in line]
    assert "ConvertedGraph(nodes=1000, edges=5000, directed=False, multigraph=False)" in said
    assert len(said) < 300


def test_each_call_takes_the_weights_that_it_names():
    """Also of a converted graph that has been read with others."""
    graph = nx.path_graph(4)
    nx.set_edge_attributes(graph, 2, "near")
    nx.set_edge_attributes(graph, 5, "far")
    named = {"edge_attrs": {"near": None, "far": None}, "preserve_edge_attrs": True}
    converted = nx_backend.convert_from_nx(graph, **named)
    for weight, each in (("near", 2), ("far", 5), (None, 1), ("near", 2)):
        found = nx.single_source_dijkstra_path_length(converted, 0, weight=weight)
        assert found == {v: each * v for v in graph}


LEFT = [
    (by_node(nx.pagerank, nstart={0: 1}), "nstart"),
    (by_node(nx.greedy_color), "random_sequential"),
    (by_node(nx.diameter, usebounds=True), "usebounds"),
    (by_node(nx.closeness_centrality, distance="weight"), "distance"),
    (by_node(nx.minimum_spanning_edges, "prim"), "Kruskal"),
    (from_first(nx.single_source_dijkstra_path_length, weight=lambda u, v, d: 1), "function"),
]


@pytest.mark.parametrize(("call", "reason"), LEFT)
def test_a_call_that_cannot_be_says_why(call, reason, caplog):
    caplog.set_level(logging.DEBUG, "networkx")
    with pytest.raises(NotImplementedError):
        outcome(call, nx.path_graph(4), backend="dgsuite")
    assert re.search(f"because: .*{reason}", caplog.text)


@pytest.mark.parametrize("name", sorted(HOMES.keys() & _registered_algorithms.keys()))
def test_arguments_are_those_of_networkx(name):
    """Each that the networkx that is installed has; no kernel has the like of some, and of no new one."""
    without = "nstart dangling normalized u distance sp sources e usebounds weight root interchange edge_key"
    assert getattr(nx_backend, name).further <= {*without.split()}


def test_arguments_that_only_networkx_knows_are_left_to_it():
    def pagerank(G, max_iter=7, alpha=0.5, **how):
        return alpha, max_iter

    offered = Offered(pagerank)
    assert offered("graph") == (0.85, 100)  # networkx's defaults
    assert offered("graph", 0.7, None) == (0.7, 100)  # and its order
    assert offered.reason("graph", tol=1e-6) is None
    assert offered("graph", tol=1e-6, style="serial") == (0.85, 100)
    for wrong in ({"tol": 1e-7}, {"dangling": {}}):
        assert "only networkx knows" in offered.reason("graph", **wrong)
        with pytest.raises(NotImplementedError):
            offered("graph", **wrong)


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
    if type(nx.config.backends.dgsuite).__name__ != "Settings":
        pytest.skip("networkx 3.4 makes a configuration that checks nothing")
    with pytest.raises(ValueError, match=f"{key} must be None or"):
        setattr(nx.config.backends.dgsuite, key, value)


def test_a_graph_on_a_closed_client_is_built_again(client):
    from distributed import Client

    graph = nx.gnm_random_graph(300, 500, seed=2)
    wanted = nx.single_source_shortest_path_length(graph, 0)
    converted = nx_backend.convert_from_nx(graph)
    lengths = nx_backend.single_source_shortest_path_length
    with Client(client.cluster, set_as_default=False) as other:
        held = converted.graph(Held(None, False, 2, other))
        held._parts = other.scatter(held._parts)
        assert lengths(converted, 0, client=other, clusters=2) == wanted
    assert lengths(converted, 0, style="serial") == wanted
    assert all(graph.local for graph in converted._held.values())


def test_large_results_are_gathered_from_a_client_that_is_not_the_current_one(client):
    from distributed import Client

    graph = nx.path_graph(30)
    here = {GATHER: 0, "scheduler": "synchronous"}  # what computes collections otherwise
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
        "print([m for m in ('numpy', 'scipy', 'dask', 'xarray', 'numba', 'dgsuite.partition.graph.graph', "
        "'dgsuite.core.running.runner') if m in sys.modules])"
    )
    found = python("-c", code, PYTHONPATH=environment)
    assert found.stdout.strip() == "[]", found.stderr


@pytest.mark.long
def test_the_tests_of_networkx_pass(environment):
    """Its own tests of the functions that are offered, each of which kernels answer at least once, but for
    `bridges`: they give it a root, or a multigraph.
    """
    found = python("-m", networkx_suite.__name__, PYTHONPATH=environment)
    assert found.returncode == 0, found.stdout + found.stderr
    counts = re.findall(r"^(\w+) (\d+)$", found.stdout, re.MULTILINE)
    assert {name for name, count in counts if int(count)} == set(HOMES) - {"bridges"}


def test_the_examples_of_the_page_run():
    """All but the one that starts a cluster. It lists all functions."""
    text = (ROOT / "docs" / "networkx.md").read_text()
    assert set(HOMES) <= set(re.findall(r"`(\w+)`", text))
    call, setting, made, _ = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    with nx.config.backend_priority(algos=[]):
        space: dict = {}
        exec(call + setting, space)
    assert not nx.config.backend_priority.algos
    (converted,) = space["graph"].__networkx_cache__["backends"]["dgsuite"].values()
    assert isinstance(converted, ConvertedGraph)
    exec(made, space)


def test_networkx_documents_the_functions(monkeypatch):
    """Each with the kernel that answers it, and its page where the package says where its pages are."""
    from dgsuite.faces.nx_backend import info

    said = metadata("dgsuite")
    said["Project-URL"] = "Documentation, https://example.org/dgsuite/"
    monkeypatch.setattr(info, "metadata", lambda name: said)
    info.documentation.cache_clear()
    functions = info.get_info()["functions"]
    info.documentation.cache_clear()
    assert functions["pagerank"]["url"] == "https://example.org/dgsuite/networkx.html"
    assert "clusters : int, optional" in functions["pagerank"]["additional_parameters"]
    assert "Answered by the kernel ``bc``" in nx.betweenness_centrality.__doc__
