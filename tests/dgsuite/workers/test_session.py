"""Sessions: runs one after another on the same graph."""

import os
import pickle
import signal
from concurrent.futures import ThreadPoolExecutor

import dask
import numpy as np
import pytest

import dgsuite
from dgsuite import Graph, InputError, RunError, genval
from dgsuite.core.workers import placement
from dgsuite.kernels import KERNELS
from dgsuite.kernels.bsp import COUNTS
from tests.support.clusters import stored
from tests.support.patience import until


def same(one, other, names=("level", "parent")):
    counts = {*COUNTS, "round", *names} & {*one.variables}
    return all(np.array_equal(one[name], other[name]) for name in counts)


@pytest.fixture
def graph(client):
    return genval.graph("rmat", 2**12, clusters=4).persist(client)


def test_runs_have_the_results_of_others(client, graph):
    with graph.session() as session:
        for root in (0, 7, 9):
            ds = session.run("bfs", root=root)
            expected = dgsuite.run("bfs", graph, root=root, style="serial", count_as="clocked")
            assert same(ds, expected)
            assert ds.attrs["style"] == "clocked"
        assert repr(session) == "<dgsuite session on 4096 nodes: open>"
        runs = session.run_each("wcc", [{}, {}])
        assert np.array_equal(runs[0].component, runs[1].component)
    assert repr(session) == "<dgsuite session on 4096 nodes: closed>"


def test_kernels_that_look_at_the_graph_in_other_ways(client):
    """Directed, weighted: each way has clusters of its own."""
    src, dst = np.random.default_rng(1).integers(0, 300, (2, 2000))
    weights = np.arange(2000) % 9
    graph = Graph.from_edges(src, dst, weights=weights, directed=True, duplicates="min")
    with graph.persist(client).session() as session:
        for name in ("wcc", "pagerank", "sssp", "wcc", "scc"):
            ds = session.run(name)
            expected = dgsuite.run(name, graph, style="serial")
            assert same(ds, expected, KERNELS[name].outputs)


def test_large_outputs_stay_on_the_workers(client, graph):
    with dask.config.set({"dgsuite.gather-limit": 1000}), graph.session() as session:
        first, second = session.run("bfs", root=3), session.run("bfs", root=4)
        assert hasattr(first.level.data, "dask")
        for ds, root in ((second, 4), (first, 3)):
            assert same(ds.load(), dgsuite.run("bfs", graph, root=root, style="serial"))


def test_threads_take_turns(client, graph):
    with graph.session() as session, ThreadPoolExecutor(4) as pool:
        found = [*pool.map(lambda root: session.run("bfs", root=root), range(4))]
    for root, ds in enumerate(found):
        assert same(ds, dgsuite.run("bfs", graph, root=root, style="serial", count_as="clocked"))


def test_a_run_that_fails_is_that_run_alone(client, graph):
    with graph.session() as session:
        session.run("bfs")
        with pytest.raises(RunError, match="max_rounds"):
            session.run("bfs", max_rounds=1)
        with pytest.raises(InputError, match="unknown parameter"):
            session.run("bfs", rot=1)
        assert session.run("bfs").sizes["round"] > 1


@pytest.mark.parametrize("most", [placement.EMBED, 0])
def test_a_graph_of_this_process_is_sent_once(client, most, monkeypatch):
    """For all runs, whatever it is cut into for each of them; its clusters go with the graph."""
    monkeypatch.setattr(placement, "EMBED", most)
    graph, first = genval.graph("rmat", 2**10), stored(client)
    how = {"client": client, "style": "clocked"}
    expected = dgsuite.run("bfs", graph, **how)
    until(lambda: len(stored(client) - first) == 2)
    there = stored(client) - first
    assert same(dgsuite.run("bfs", graph, **how), expected)
    dgsuite.run("mis", graph, client=client, style="finish_async")
    until(lambda: stored(client) - first == there)
    dgsuite.run("bfs", graph, clusters=3, **how)
    until(lambda: len(stored(client) - first) == 2)
    assert not there & stored(client)  # one cut at a time
    assert same(dgsuite.run("bfs", pickle.loads(pickle.dumps(graph)), **how), expected)
    del graph
    until(lambda: not stored(client) - first)


@pytest.mark.few(1)
@pytest.mark.parametrize("most", [placement.EMBED, 0])
def test_a_graph_of_this_process_is_sent_again(own_client, most, monkeypatch):
    """To other workers, when one is lost, or all of them: also if it is too large to go with the tasks."""
    monkeypatch.setattr(placement, "EMBED", most)
    graph = genval.graph("rmat", 2**10)
    expected = dgsuite.run("bfs", genval.graph("rmat", 2**10, clusters=2), style="serial")
    with dask.config.set({"dgsuite.recovery.tries": 3}), graph.session(own_client) as session:
        assert same(session.run("bfs"), expected)
        (victim, *_) = own_client.run(os.getpid).values()
        os.kill(victim, signal.SIGKILL)
        assert same(session.run("bfs"), expected)
        assert session.graph.recoverable
        own_client.restart()
        assert same(session.run("bfs"), expected)
    assert same(dgsuite.run("bfs", graph, style="clocked", client=own_client), expected)


def test_without_a_client_it_runs_here():
    graph = Graph.from_edges([0, 1], [1, 2])
    session = graph.session()
    ds = session.run("bfs", style="serial")
    assert ds.attrs["style"] == "serial"
    session.close()
    with pytest.raises(InputError, match="the session is closed"):
        session.run("bfs")


def test_the_client_is_that_of_the_session(client, graph):
    with graph.session() as session, pytest.raises(InputError, match="a session has its own"):
        session.run("bfs", client=client)
