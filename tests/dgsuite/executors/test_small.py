"""Small graphs run in this process by default, also where there are workers."""

from __future__ import annotations

import gc

import dask.array as da
import networkx as nx
import pytest

import dgsuite
from dgsuite import genval
from dgsuite.core.engine.broadcasts import Broadcasts
from dgsuite.core.engine.mailbox import Mailbox
from dgsuite.core.engine.site import Site
from dgsuite.partition.graph.graph import Graph

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
