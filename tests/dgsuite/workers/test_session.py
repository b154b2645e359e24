"""Sessions: runs one after another in the same tasks."""

from __future__ import annotations

import os
import signal
import threading
import time

import dask
import numpy as np
import pytest
from distributed import Client, Event, Future

import dgsuite
from dgsuite import InputError, RunError, genval
from dgsuite.core.executors import session_tasks
from dgsuite.core.executors.session_tasks import SessionTasks, _identity
from dgsuite.core.running import runner
from dgsuite.core.workers import recovery
from dgsuite.core.workers.orders import Order
from dgsuite.core.workers.plugin import install, plugin, task_key
from dgsuite.kernels import KERNELS
from dgsuite.kernels.bsp import COUNTS
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.graph.graph import Graph
from tests.support.clusters import client_of
from tests.support.patience import PATIENCE


def same(one, other, names=("level", "parent")):
    counts = {*COUNTS, "round", *names} & {*one.variables}
    return all(np.array_equal(one[name], other[name]) for name in counts)


def tasks_of(client):
    """Keys of tasks of sessions that the scheduler knows."""
    keys = client.run_on_scheduler(lambda dask_scheduler: [*map(str, dask_scheduler.tasks)])
    return sorted(key for key in keys if key.startswith("session-"))


def until(condition, seconds=10):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def graph(client):
    return genval.graph("rmat", 2**12, clusters=4).persist(client)


def test_a_run_goes_by_its_own_client(client, monkeypatch):
    """Whatever it requests, while another one is the default."""
    seen = []

    def noted(attempt, given, doing):
        if given is not None:  # what looks at a graph of this process requests nothing
            seen.append(Client.current())
        return recovery.recovered(attempt, given, doing)

    monkeypatch.setattr(runner, "recovered", noted)
    ring = genval.graph("ring", 12, clusters=2)
    with client_of(1, set_as_default=False) as other:
        dgsuite.run("bfs", ring, style="clocked", client=other)
        assert Client.current() is client
    assert seen == [other]


def test_runs_have_the_results_of_others_and_one_set_of_tasks(client, graph):
    with graph.session() as session:
        seen = set()
        for root in (0, 7, 9):
            ds = session.run("bfs", root=root)
            assert same(
                ds, dgsuite.run("bfs", graph, root=root, style="serial", count_as="clocked")
            )
            assert ds.attrs["style"] == "clocked"
            seen.add(tuple(tasks_of(client)))
        assert len(seen) == 1
        assert len(*seen) == 2
        assert "tasks on the workers" in repr(session)
        runs = session.run_each("wcc", [{}, {}])
        assert np.array_equal(runs[0].component, runs[1].component)
        assert tuple(tasks_of(client)) in seen
    assert repr(session) == "<dgsuite session on 4096 nodes: closed>"
    until(lambda: not tasks_of(client))


def test_workers_with_threads_give_the_same(threaded):
    graph = genval.graph("rmat", 2**11, clusters=5).persist(threaded)
    with graph.session() as session:
        for name in ("bfs", "pagerank", "wcc"):
            ds = session.run(name)
            expected = dgsuite.run(name, graph, style="serial", count_as="clocked")
            assert same(ds, expected, KERNELS[name].outputs)


def test_kernels_that_look_at_the_graph_in_other_ways(client):
    """Directed, weighted: each way has clusters of its own, and the tasks are started for them."""
    src, dst = np.random.default_rng(1).integers(0, 300, (2, 2000))
    weights = np.arange(2000) % 9
    graph = Graph.from_edges(src, dst, weights=weights, directed=True, duplicates="min").persist(
        client
    )
    with graph.session() as session:
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


def test_outputs_of_some_size_are_gathered(client):
    graph = genval.graph("grid", 10**5).persist(client)
    with graph.session() as session:
        ds = session.run("wcc")
        assert isinstance(ds.component.data, np.ndarray)
        assert not ds.component.values.any()


def test_other_tasks_run_meanwhile(client, graph):
    """Each worker has one thread, and its task of the session does not keep it."""
    with graph.session() as session:
        session.run("bfs")
        assert client.submit(sum, [1, 2], pure=False).result(timeout=60) == 3
        assert int(graph.degree.sum().compute()) == 2 * graph.m
        session.run("bfs")


def test_other_runs_get_the_workers(client, graph):
    with graph.session() as session:
        session.run("bfs")
        before = tasks_of(client)
        other = dgsuite.run("bfs", graph, style="clocked", client=client)
        assert same(session.run("bfs"), other)
        assert tasks_of(client) != before


def test_tasks_end_after_some_time_and_come_again(client, graph):
    def unfinished(dask_scheduler):
        tasks = dask_scheduler.tasks.values()
        mine = [task for task in tasks if str(task.key).startswith("session-")]
        return sum(task.state != "memory" for task in mine)

    with graph.session(idle=0.2) as session:
        first = session.run("bfs")
        until(lambda: not client.run_on_scheduler(unfinished))
        assert same(session.run("bfs"), first)


def test_threads_take_turns(client, graph):
    found = {}
    with graph.session() as session:

        def run(root):
            found[root] = session.run("bfs", root=root)

        threads = [threading.Thread(target=run, args=(root,)) for root in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for root, ds in found.items():
        assert same(ds, dgsuite.run("bfs", graph, root=root, style="serial", count_as="clocked"))


def test_a_run_that_fails_is_that_run_alone(client, graph):
    with graph.session() as session:
        session.run("bfs")
        with pytest.raises(RunError, match="max_rounds"):
            session.run("bfs", max_rounds=1)
        with pytest.raises(InputError, match="unknown parameter"):
            session.run("bfs", rot=1)
        assert session.run("bfs").sizes["round"] > 1


def test_a_worker_that_is_lost_is_done_without():
    with client_of(
        3, {"distributed.deploy.lost-worker-timeout": "5 minutes"}, set_as_default=False
    ) as own:
        graph = genval.graph("rmat", 2**12, clusters=4, client=own)
        with graph.session() as session:
            first = session.run("bfs")
            own.cluster.scale(2)
            until(lambda: len(own.scheduler_info()["workers"]) == 2, 30)
            assert same(session.run("bfs"), first)


@pytest.mark.few(1)
@pytest.mark.parametrize("n", [2**10, 2**15])
def test_a_graph_of_this_process_is_sent_again(own_client, n):
    """To other workers, when one is lost, or all of them: also if it was too large to go with the tasks."""
    graph = genval.graph("rmat", n, client=None)
    expected = dgsuite.run("bfs", graph, style="serial")
    with (
        dask.config.set({"dgsuite.recovery.tries": 3}),
        graph.session(own_client, idle="10 minutes") as session,
    ):
        assert same(session.run("bfs"), expected)
        (victim, *_) = own_client.run(os.getpid).values()
        os.kill(victim, signal.SIGKILL)
        assert same(session.run("bfs"), expected)
        assert session.graph.recoverable
        own_client.restart()
        assert same(session.run("bfs"), expected)
    assert same(dgsuite.run("bfs", graph, style="clocked", client=own_client), expected)


def test_a_client_that_closes_takes_the_tasks_along(client, graph):
    from distributed import Client

    with Client(client.scheduler.address, set_as_default=False) as own:
        there = genval.graph("rmat", 2**12, clusters=4, client=own)
        session = there.session(own)
        session.run("bfs")
        assert tasks_of(client)
    until(lambda: not tasks_of(client))
    assert dgsuite.run("bfs", graph, style="clocked").sizes["round"]


def test_without_a_client_it_runs_here():
    graph = Graph.from_edges([0, 1], [1, 2])
    session = graph.session()
    ds = session.run("bfs", style="serial")
    assert ds.attrs["style"] == "serial"
    session.close()
    with pytest.raises(InputError, match="the session is closed"):
        session.run("bfs")


@pytest.mark.parametrize("idle", [0, "never", -1])
def test_a_wrong_time_is_refused(idle):
    with pytest.raises(InputError, match="idle must be a time above 0"):
        Graph.from_edges([0], [1]).session(idle=idle)


def test_the_client_is_that_of_the_session(client, graph):
    with graph.session() as session, pytest.raises(InputError, match="a session has its own"):
        session.run("bfs", client=client)


def test_clusters_are_known_by_their_keys(client):
    """Not by the objects that stand for them here."""
    cluster = client.submit(int, 7, key="a cluster")
    again = Future("a cluster", client=client)
    assert again is not cluster
    assert _identity(cluster) == _identity(again) == "a cluster"
    assert _identity([cluster]) == _identity([again]) != _identity([object()])


def test_the_error_of_a_task_is_waited_for(client, monkeypatch):
    """That a task has failed may be known before its error is."""
    ends = Event(client=client)

    def fail():
        ends.wait(PATIENCE)
        raise ValueError("this one")

    session = object.__new__(SessionTasks)
    session._futures = [client.submit(fail, pure=False)]
    monkeypatch.setattr(session_tasks, "sleep", lambda seconds: ends.set())
    monkeypatch.setattr(session_tasks, "SETTLING", PATIENCE)
    try:
        with pytest.raises(RunError, match="this one"):
            session._raise(Watch(client, "a session"))
    finally:
        ends.set()


def serving(seconds):
    """In a task: run orders until one says to end."""
    found = []
    orders = plugin().orders
    orders.serve(task_key(), Order("first", b""), seconds, found.append)
    return [order.name for order in found]


def ordered(dask_worker, key, **order):
    """On a worker: an order comes for a task. Returns the tasks that have a queue of orders."""
    orders = dask_worker.plugins["dgsuite"].orders
    orders.receive(key, **order)
    return [*orders._queues]


def test_orders_for_tasks_that_have_ended_are_dropped(client):
    """Those of tasks that have not begun are kept."""
    install(client)
    place = min(client.scheduler_info()["workers"])
    begun, go = Event("begun", client=client), Event("go", client=client)

    def hold():
        begun.set()
        go.wait(PATIENCE)

    def tell(key, **order):
        return client.run(ordered, key=key, workers=[place], **order)[place]

    (threads,) = client.run(
        lambda dask_worker: dask_worker.state.nthreads, workers=[place]
    ).values()
    assert tell("unknown", name="x", plan=b"") == []
    block = [client.submit(hold, pure=False, workers=[place]) for _ in range(threads)]
    assert begun.wait(PATIENCE)
    waits = client.submit(serving, PATIENCE, key="serving", workers=[place])
    until(lambda: "serving" in client.processing()[place], PATIENCE)
    until(lambda: tell("serving", name="second", plan=b"") == ["serving"], PATIENCE)
    assert tell("serving") == ["serving"]  # to end
    go.set()
    assert waits.result(PATIENCE)[0] == "first"
    assert set(waits.result()) == {"first", "second"}
    client.gather(block)
    assert tell("serving", name="third", plan=b"") == []
