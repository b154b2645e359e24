"""A run ends with a right answer or with an error that says what happened; it never hangs."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from types import SimpleNamespace

import networkx as nx
import pytest
from distributed.core import rpc

import dgsuite
from dgsuite.base.errors import WorkerLost
from dgsuite.core.workers.placement import cause
from dgsuite.core.workers.plugin import PeerLost
from dgsuite.partition.client.session import POLL_SECONDS, Session
from dgsuite.partition.client.waiting import ACTOR_LOST
from dgsuite.partition.client.workers import worker_addresses
from dgsuite.partition.graph.graph import Graph
from tests.support.clusters import (
    assert_nothing_held,
    assert_nothing_kept,
    heed_signals,
    killed,
    script,
    stored,
    tasks,
)
from tests.support.faulty import Fails, Refuses, Sleeps, Slow
from tests.support.patience import PATIENCE

STYLES = ["finish_async", "clocked"]


@pytest.mark.parametrize("style", STYLES)
def test_a_failing_kernel_is_named(client, ring, style):
    """The error holds nothing on the workers."""
    before = tasks(client)
    message = r"round 3, phase 'send', cluster 1: ZeroDivision"
    with pytest.raises(dgsuite.RunError, match=message) as kept:
        dgsuite.run(Fails(), ring, clusters=2, style=style, client=client)
    assert_nothing_kept(client, before)
    assert_nothing_held(client)
    assert kept.tb is not None


def failed(error):
    return SimpleNamespace(status="error", exception=lambda: error)


def test_of_failed_tasks_the_cause_is_named():
    """A lost peer is mostly a consequence: of another error, or of a worker that the scheduler names."""
    watch = SimpleNamespace(doing="a run", check_workers=lambda: None)
    lost, own = PeerLost("worker b was lost", "b"), dgsuite.RunError("round 3 failed")
    assert cause([failed(lost), failed(own)], watch) is own
    assert str(cause([failed(lost), failed(KeyError("x"))], watch)) == "a run: KeyError: 'x'"
    assert str(cause([failed(lost)], watch)) == "a run: worker b was lost"
    assert str(cause([], watch)) == "a run: its tasks were cancelled"
    actor = RuntimeError(ACTOR_LOST)
    assert cause([failed(actor), failed(own)], watch) is own
    assert isinstance(cause([failed(actor)], watch), WorkerLost)

    def gone():
        raise WorkerLost("worker a is gone", "a")

    watch.check_workers = gone
    assert cause([failed(own)], watch) is own
    for futures in ([failed(lost)], []):
        with pytest.raises(WorkerLost, match="worker a is gone"):
            cause(futures, watch)


def seeking(dask_worker):
    """On a worker: requests for where a run's task listens that have no answer yet, and open comms."""
    waiting = [task for task in asyncio.all_tasks() if "RunPlugin._meet" in str(task.get_stack())]
    return len(waiting), len(dask_worker._comms)


def test_a_task_that_fails_before_its_peers_find_it_leaves_nothing(client, ring):
    """Neither do the requests of its peers, nor does one of a peer of which no task has come."""

    async def seek(dask_worker):
        async with rpc(dask_worker.address) as there:
            request = there.dgsuite_meet(run="no-such-run", epoch=dask_worker.id)
            with suppress(TimeoutError):
                await asyncio.wait_for(request, 0.1)

    dgsuite.run("lcr", ring, clusters=2, style="clocked", client=client)
    assert_nothing_held(client)
    before = client.run(seeking)
    for _ in range(3):
        with pytest.raises(dgsuite.InputError, match="refuses node 0"):
            dgsuite.run(Refuses(), ring, clusters=2, style="clocked", client=client)
        client.run(seek)
    assert_nothing_held(client)
    deadline = time.monotonic() + PATIENCE
    while client.run(seeking) != before:
        assert time.monotonic() < deadline, (before, client.run(seeking))
        time.sleep(0.05)


@pytest.mark.few(1)
@pytest.mark.parametrize("style", STYLES)
def test_a_long_run_leaves_nothing(client, ring, style, request):
    """Its results go with it, and not only when the client's process collects garbage."""
    request.addfinalizer(gc.enable)
    gc.disable()
    before = tasks(client)
    dgsuite.run(Sleeps(rounds=80), ring, clusters=2, style=style, client=client)
    assert_nothing_kept(client, before)
    assert_nothing_held(client)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("style", "workers"),
    [("clocked", 2), ("finish_async", 1), ("in_turn", 2), ("clocked", 1), ("finish_async", 2)],
)
def test_a_killed_worker_is_named(own_client, ring, style, workers):
    """Also where all of the run is on that worker, so that no peer notices."""
    client = own_client
    dgsuite.run(Sleeps(), ring, clusters=workers, style=style, client=client)
    address = worker_addresses(client)[0]
    victim = client.run(os.getpid, workers=[address])[address]
    with pytest.raises(dgsuite.WorkerLost, match=rf"worker {address} was lost") as error:
        dgsuite.run(
            Sleeps(rounds=10_000),
            ring,
            clusters=workers,
            style=style,
            client=client,
            on_round=lambda rounds: killed(victim),
        )
    assert error.value.worker == address
    assert "Dask killed" not in str(error.value)  # no word of memory
    client.wait_for_workers(2, timeout=PATIENCE)
    again = dgsuite.run(Sleeps(), ring, clusters=2, style=style, client=client)
    assert again.sizes["round"] == 3
    assert_nothing_held(client)


@pytest.mark.few(1)
@pytest.mark.parametrize("style", ["clocked", "finish_async", "serial"])
def test_a_graph_that_lost_a_cluster(own_client, style):
    """No worker can give it back: a run says so, and does not wait for it."""
    graph = Graph.from_networkx(nx.cycle_graph(12), clusters=2, client=None).persist(own_client)
    dgsuite.run("lcr", graph, style=style, client=own_client)
    pid = own_client.run(os.getpid)[worker_addresses(own_client)[1]]
    os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE
    while own_client.futures[graph._parts[1].key].status == "finished":
        assert time.monotonic() < deadline
        time.sleep(0.05)
    own_client.wait_for_workers(2, timeout=PATIENCE)
    assert "2 clusters on the workers, not recoverable" in repr(graph)
    with pytest.raises(
        dgsuite.RunError, match=r"cluster 1 of the graph was lost .* build the graph"
    ):
        dgsuite.run("lcr", graph, style=style, client=own_client)


def test_a_worker_killed_when_its_task_is_done(own_client):
    """Its result would be waited for for ever: no other worker may do the task again."""
    from dgsuite.core.workers import placement as tasks
    from dgsuite.partition.client.waiting import Watch

    where = worker_addresses(own_client)
    watch = Watch(own_client, "napping", where)
    watch.check_workers()
    pid = own_client.run(os.getpid)[where[0]]
    futures = [
        own_client.submit(time.sleep, nap, workers=[place], pure=False)
        for nap, place in zip((0, POLL_SECONDS * 0.8), where, strict=True)
    ]
    futures[0].result()
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(dgsuite.RunError, match=f"worker {where[0]} was lost"):
        tasks.ended(futures, watch, 0)


def test_a_worker_killed_before_a_run_began(own_client, ring, tmp_path):
    """The other worker ends the run, although its own part has not begun when the run fails."""
    client = own_client
    dgsuite.run(Sleeps(), ring, clusters=2, style="clocked", client=client)
    survivor, address = worker_addresses(client)
    victim = client.run(os.getpid, workers=[address])[address]
    begun = tmp_path / "begun"
    os.mkfifo(begun)
    pipe = os.open(begun, os.O_RDWR)

    def kill():
        os.read(pipe, 1)
        killed(victim)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(dgsuite.RunError, match=rf"worker {address} was lost"):
        dgsuite.run(Slow(begun=str(begun)), ring, clusters=2, style="clocked", client=client)
    killer.join()
    os.close(pipe)
    free = client.submit(os.getpid, workers=[survivor], pure=False)
    assert free.result(timeout=PATIENCE) != victim


def test_what_needs_a_lost_actor_leaves_nothing(own_client, ring):
    """A graph that needs it fails: then Dask forgets that workers have it, and does not tell them."""
    dgsuite.run("lcr", ring, clusters=2, style="clocked", client=own_client)
    lost, *_, kept = worker_addresses(own_client)
    actor = own_client.submit(Owner, actor=True, workers=[lost], pure=False)
    needs = own_client.submit(Owner.whole, actor, workers=[kept], pure=False)
    assert needs.result() == 1
    pid = own_client.run(os.getpid, workers=[lost])[lost]
    killed(pid)
    deadline = time.monotonic() + PATIENCE
    while actor.status != "error":
        assert time.monotonic() < deadline
        time.sleep(0.01)
    last = own_client.submit(abs, needs, pure=False)
    while needs.status != "error":
        assert time.monotonic() < deadline
        time.sleep(0.01)
    del last, needs, actor
    while left := stored(own_client):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


class Owner:
    """What an actor is of."""

    @staticmethod
    def whole(actor):
        return 1


@pytest.mark.parametrize("style", STYLES)
def test_concurrent_runs_do_not_mix(client, ring, style):
    found: dict[int, int] = {}

    def one(rounds: int) -> None:
        ds = dgsuite.run(Sleeps(rounds=rounds), ring, clusters=2, style=style, client=client)
        found[rounds] = ds.sizes["round"]

    threads = [threading.Thread(target=one, args=(r,)) for r in (5, 9, 14)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert found == {5: 5, 9: 9, 14: 14}
    assert_nothing_held(client)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("style", "how"),
    [
        ("clocked", signal.SIGINT),
        ("finish_async", signal.SIGKILL),
        ("clocked", signal.SIGKILL),
        ("finish_async", signal.SIGINT),
    ],
)
def test_an_interrupted_client_leaves_nothing_running(client, ring, style, how, tmp_path):
    """Ctrl-C, and a client that is gone altogether: its tasks end, others can run."""
    dgsuite.run(Sleeps(), ring, clusters=2, style=style, client=client)
    program = tmp_path / "program.py"
    program.write_text(
        script(
            f"dgsuite.run(Sleeps(rounds=100_000), ring, clusters=2, style={style!r}, "
            f"client=client, on_round=on_round)"
        )
    )
    process = subprocess.Popen(
        [sys.executable, str(program), client.scheduler.address],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        preexec_fn=heed_signals,
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(how)
    process.wait(PATIENCE)
    ds = dgsuite.run(Sleeps(), ring, clusters=2, style=style, client=client)
    assert ds.sizes["round"] == 3
    assert_nothing_held(client)


def test_a_stale_task_is_refused(client):
    """A task of a run that is over finds nothing, and says so."""
    from dgsuite.core.engine.program import Step
    from dgsuite.core.workers import plugin as worker
    from dgsuite.core.workers.part import phase

    worker.install(client)
    late = client.submit(phase, "no-such-run", Step(0, "send", True, 0), 0, 0, [], pure=False)
    with pytest.raises(dgsuite.RunError, match="no-such-run"):
        late.result()


def test_a_late_request_for_a_run_that_is_over_leaves_nothing(client, ring):
    """Of a task that has lost its connection, and asks where its peer is when that has ended already."""
    dgsuite.run("lcr", ring, clusters=2, style="clocked", client=client)

    async def ask(dask_worker):
        from dgsuite.core.workers.plugin import PeerLost

        plugin = dask_worker.plugins["dgsuite"]
        try:
            await plugin._meet(run=plugin.over[-1], epoch=dask_worker.id)
        except PeerLost as error:
            return str(error)

    assert all("is over on worker tcp" in said for said in client.run(ask).values())
    assert_nothing_held(client)


def test_worker_internals_are_where_we_expect(client):
    """Fails loudly when the few internals of distributed that we use move."""

    def look(dask_worker):
        return {
            "handlers": isinstance(dask_worker.handlers, dict),
            "plugins": isinstance(dask_worker.plugins, dict),
            "connection_args": isinstance(dask_worker.connection_args, dict),
            "listen": isinstance(dask_worker.security.get_listen_args("worker"), dict),
            "loop": hasattr(dask_worker.loop, "add_callback"),
            "threads": isinstance(dask_worker.state.nthreads, int),
            "meet": "dgsuite_meet" in dask_worker.handlers,
        }

    from dgsuite.core.workers import plugin as worker

    worker.install(client)
    for found in client.run(look).values():
        assert all(found.values()), found


def test_workers_are_always_seen(client):
    """The client's own updates of what it knows of the scheduler must not hide its workers."""
    for _ in range(200):
        client.loop.add_callback(client._update_scheduler_info)
        assert len(Session.of(client).workers()) == len(worker_addresses(client)) == 2


def test_inproc_and_threads(ring):
    """Workers in this process, and with two threads each."""
    from distributed import Client, LocalCluster

    for options in ({"processes": False}, {"processes": True, "threads_per_worker": 2}):
        with (
            LocalCluster(
                n_workers=2, dashboard_address=None, **{"threads_per_worker": 1, **options}
            ) as c,
            Client(c) as client,
        ):
            for style in STYLES:
                ds = dgsuite.run("lcr", ring, clusters=4, style=style, client=client)
                assert int(ds.messages.sum()) == 35
                assert (ds.leader == 11).all()
