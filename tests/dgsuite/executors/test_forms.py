"""The form and the style that run where nobody chooses one: small graphs run in this process."""

import gc

import dask.array as da
import networkx as nx
import numpy as np
import pytest

import dgsuite
from dgsuite import Graph, genval
from dgsuite.core.engine.broadcasts import Broadcasts
from dgsuite.core.engine.mailbox import Mailbox
from dgsuite.core.engine.site import Site
from dgsuite.core.running import forms
from dgsuite.kernels import KERNELS, BreadthFirst


@pytest.fixture(autouse=True)
def _small_graphs_are_looked_at(monkeypatch):
    monkeypatch.setattr(forms, "LARGE", 500)


def path(n=1000, numbers=None, **how):
    numbers = np.arange(n) if numbers is None else numbers
    return Graph.from_edges(numbers[:-1], numbers[1:], **how)


@pytest.mark.parametrize("name", ["bfs", "wcc"])
@pytest.mark.parametrize("workers", [False, True])
def test_a_deep_graph_runs_in_block_form(name, workers, client):
    graph = path(clusters=4).persist(client) if workers else path(clusters=4)
    ds = dgsuite.run(name, graph, style="clocked" if workers else "serial")
    assert ds.attrs["form"] == "block"
    assert ds.attrs["form_reason"] == "searches within clusters take more than 64 hops"
    iterative = dgsuite.run(name, graph, style="serial", form="iterative")
    assert "form_reason" not in iterative.attrs
    assert all(np.array_equal(ds[output], iterative[output]) for output in KERNELS[name].outputs)
    assert genval.validate(name, graph, ds).ok


IN_ROUNDS = [
    (lambda: genval.graph("er", 1024, m=8192), "16 edge ends per node: paths have few hops"),
    (lambda: genval.graph("tree", 1024, max=2), "searches within clusters end after at most"),
    (lambda: path(numbers=np.random.default_rng(1).permutation(1000), clusters=8), "end after"),
    (lambda: genval.graph("star", 1000), "end after at most 64 hops"),
    (lambda: Graph.from_edges([0], [1], n=1000, clusters=3), "end after at most 64 hops"),
]


@pytest.mark.parametrize(("graph", "reason"), IN_ROUNDS)
def test_others_run_in_rounds(graph, reason):
    ds = dgsuite.run("bfs", graph())
    assert ds.attrs["form"] == "iterative"
    assert reason in ds.attrs["form_reason"]


def test_components_are_found_by_blocks_where_clusters_hold_together():
    graph = genval.graph("er", 1024, m=8192, clusters=2)
    ds = dgsuite.run("wcc", graph)
    assert ds.attrs["form"] == "block"
    assert ds.attrs["form_reason"].endswith("in other clusters alone are 0 % of a sample")
    across = Graph.from_edges(np.arange(500), np.arange(500, 1000), clusters=2)
    ds = dgsuite.run("wcc", across)
    assert ds.attrs["form"] == "iterative"
    assert ds.attrs["form_reason"].endswith("in other clusters alone are 100 % of a sample")


def test_eccentricities_are_found_by_one_worker_that_can_hold_the_graph(monkeypatch):
    graph = genval.graph("er", 1024, m=8192, clusters=2).component()
    monkeypatch.setattr(forms, "GATHERED_FROM", graph.n)
    ds = dgsuite.run("eccentricity", graph, of="radius")
    assert (ds.attrs["form"], ds.sizes["round"]) == ("block", 1)
    monkeypatch.setattr(forms, "GATHERED", 1)
    monkeypatch.setattr(forms, "GATHERED_DEEP", 2 * graph.m - 1)
    other = dgsuite.run("eccentricity", graph.repartition(3), of="radius")
    assert other.attrs["form"] == "iterative"
    assert other.attrs["form_reason"] == f"the graph has {2 * graph.m} edge ends"
    monkeypatch.setattr(forms, "GATHERED_DEEP", 2 * graph.m)
    shallow = dgsuite.run("eccentricity", graph.repartition(5), of="radius")
    assert shallow.attrs["form"] == "iterative"
    assert shallow.attrs["form_reason"].endswith("paths have few hops")
    assert ds.limit.equals(other.limit)
    assert ds.eccentricity.equals(other.eccentricity)


BY_ROUNDS = [{"form": "iterative"}, {"clusters": 2}, {"trace": True}, {"congest": 1}]
BY_ROUNDS += [{"direction": "top-down"}, {"workload": {"operations": 1}}]


@pytest.mark.few(3)
@pytest.mark.parametrize("asked", BY_ROUNDS)
def test_what_goes_by_rounds_is_iterative(asked):
    ds = dgsuite.run("bfs", path(), max_rounds=1002, **asked)
    assert ds.attrs["form"] == "iterative"
    assert ds.sizes["round"] >= 999


def test_other_kernels_and_small_graphs_are_iterative(monkeypatch):
    assert dgsuite.run("sssp", path()).attrs["form"] == "iterative"  # its tree is another one
    assert dgsuite.run(BreadthFirst, path()).attrs["form"] == "iterative"
    monkeypatch.setattr(forms, "LARGE", 1001)
    assert "form_reason" not in dgsuite.run("bfs", path()).attrs


def test_all_runs_of_a_call_have_one_form():
    runs = dgsuite.run_each("bfs", path(), [{"root": 1}, {"root": 2}])
    assert {ds.attrs["form"] for ds in runs} == {"block"}
    runs = dgsuite.run_each("bfs", path(), [{"root": 1}, {"root": 2, "direction": "top-down"}])
    assert {ds.attrs["form"] for ds in runs} == {"iterative"}


COUNTS = ("comm", "mutexes", "finishes", "asyncs", "barriers", "messages")


@pytest.fixture
def tasks(client):
    """Counts the tasks that the scheduler was given so far."""

    def given(dask_scheduler):
        return dask_scheduler.transition_counter

    return lambda: client.run_on_scheduler(given)


@pytest.mark.parametrize("form", [None, "recursive"])
def test_a_small_graph_runs_here(client, tasks, form):
    """Without a task, and the dataset says so; what is counted is as on workers."""
    graph = Graph.from_networkx(nx.les_miserables_graph(), weight="none", client=client)
    before = tasks()
    ds = dgsuite.run("bf", graph, form=form, client=client)
    assert tasks() == before
    assert ds.attrs["style"] == "serial"
    assert ds.attrs["workers"] == 0
    assert "the graph is small" in ds.attrs["style_reason"]
    style = "clocked" if form is None else "finish_async"
    assert ds.attrs["counted_as"] == style
    there = dgsuite.run("bf", graph, form=form, style=style, client=client, clusters=1)
    assert tasks() > before
    assert there.attrs["style"] == style
    assert "style_reason" not in there.attrs
    assert (there.distance == ds.distance).all()
    for name in COUNTS if form is None else COUNTS[:1]:
        assert (there[name] == ds[name]).all(), name


def test_a_small_graph_on_workers_is_brought_here(client):
    nodes = da.arange(77, chunks=40)
    graph = Graph.from_edges(nodes, (nodes + 1) % 77, n=77, client=client)
    assert not graph.local
    ds = dgsuite.run("lcr", graph, client=client)
    assert ds.attrs["style"] == "serial"
    assert (ds.leader == 76).all()


def test_what_is_given_is_done(client):
    """A style, a workload; and what is not small."""
    ring = Graph.from_networkx(nx.cycle_graph(12), client=None)
    for style in ("serial", "finish_async", "clocked"):
        ds = dgsuite.run("lcr", ring, style=style, client=client)
        assert ds.attrs["style"] == style
        assert "style_reason" not in ds.attrs
    assert dgsuite.run("lcr", ring, workload={"operations": 1}, client=client).style == "clocked"
    counted = dgsuite.run("lcr", ring, count_as="finish_async", client=client)
    assert (counted.style, counted.counted_as) == ("serial", "finish_async")


@pytest.mark.few(1)
@pytest.mark.parametrize("kernel", ["mst", "pagerank", "by", "kc", "matching", "scc"])
def test_nothing_of_a_run_is_garbage_in_cycles(kernel):
    """What a run takes is free at its end, without a collection."""
    graph = genval.graph("er", 60, m=200, weights=100, seed=2, client=None)

    def engine():
        kinds = map(type, gc.get_objects())  # isinstance fails for a proxy of what is gone
        return sum(issubclass(kind, (Site, Mailbox, Broadcasts)) for kind in kinds)

    gc.collect()
    gc.disable()
    try:
        before = engine()
        dgsuite.run(kernel, graph, style="serial")
        assert engine() == before
    finally:
        gc.enable()


@pytest.mark.parametrize(("n", "style"), [(1366, "serial"), (1367, "clocked")])
def test_how_small(client, n, style):
    """Nodes and edge ends together: 4096 on a path of 1366 nodes."""
    path = Graph.from_networkx(nx.path_graph(n), client=None)
    assert dgsuite.run("mis", path, client=client).style == style
