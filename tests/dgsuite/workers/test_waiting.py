"""Waits end: the error names the lost, frozen, paused or closed worker, and turns pass on."""

import asyncio
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from itertools import pairwise

import dask
import networkx as nx
import numpy as np
import psutil
import pytest
from distributed import Client
from distributed.comm import connect, listen
from distributed.core import Status

import dgsuite
from dgsuite import Graph, InputError, genval
from dgsuite.base.once import Once
from dgsuite.core.engine.program import Step
from dgsuite.core.engine.run_spec import PLAIN
from dgsuite.core.exchange.mesh import Mesh
from dgsuite.core.results.provenance import machine_of
from dgsuite.core.workers import placement as tasks
from dgsuite.core.workers import plugin as worker
from dgsuite.core.workers.part import Bundle, open_part, phase
from dgsuite.kernels.bsp import Vote
from dgsuite.partition.client import session
from dgsuite.partition.client.tasks import TOGETHER
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.client.workers import worker_addresses
from dgsuite.studies.chem import counters
from tests.support.clusters import assert_nothing_held, client_of, commands, heed_signals, held
from tests.support.faulty import Sleeps
from tests.support.paths import ROOT
from tests.support.patience import PATIENCE, until

STYLES = ["finish_async", "clocked"]


# State is fenced.


def test_a_task_for_another_process_is_refused(client, ring):
    """A worker that was started anew at the same address has the address, and not the state."""
    worker.install(client)
    place = worker_addresses(client)[0]
    for task in (
        lambda: open_part("run", Sleeps(), [0, 1], ["before"], 0, PLAIN, ring.parts),
        lambda: counters.counter("run", place, "before", 0)()(),
    ):
        done = client.submit(task, workers=[place], pure=False)
        with pytest.raises(dgsuite.RunError, match=f"{place} was lost; a new one has started"):
            done.result()
    del done
    assert_nothing_held(client)


CHANGES = ["repeated", "of an older phase", "of another process", "of a run that is over"]


@pytest.mark.parametrize("change", CHANGES)
def test_phases_and_messages_out_of_order_are_refused(client, ring, change):
    worker.install(client)
    place = worker_addresses(client)[0]
    epoch = session.Session.of(client).workers()[place]["epoch"]
    (cluster,) = ring.repartition(1).parts

    def submit(function, *arguments, run="run"):
        return client.submit(function, run, *arguments, workers=[place], pure=False)

    opened = submit(open_part, Sleeps(), [0, 1], [epoch], 0, PLAIN, [cluster])
    opened.result()
    steps = [Step(number, "send", True, number) for number in range(2)]
    first = submit(phase, steps[0], 0, 0, []).result()
    assert first == Bundle(0, 0, epoch, {})
    second = {
        "repeated": (steps[0], 0, 0, []),
        "of an older phase": (steps[1], 1, 0, [first._replace(number=-1)]),
        "of another process": (steps[1], 1, 0, [first._replace(epoch="another")]),
        "of a run that is over": (steps[1], 1, 0, [first]),
    }[change]
    run, said = ("gone", "run gone") if "over" in change else ("run", f"worker {place} .* phase")
    with pytest.raises(dgsuite.RunError, match=said):
        submit(phase, *second, run=run).result()
    del opened
    assert_nothing_held(client)


# The scheduler.


SCHEDULERS = [(signal.SIGKILL, "is gone"), (signal.SIGSTOP, "has not answered for 2 s")]


@pytest.mark.few(1)
@pytest.mark.parametrize("style", STYLES[::-1])
@pytest.mark.parametrize(("number", "how"), SCHEDULERS)
def test_a_scheduler_that_ends_is_named(ring, style, number, how):
    """And its workers end by themselves."""
    # a busy machine may take seconds to tell the client that the scheduler is gone
    timeout = "60 s" if number == signal.SIGKILL else "2 s"
    with commands(1) as (client, (scheduler, own_worker)):
        worker_addresses(client)  # the scheduler imports dgsuite, slowly on a busy machine

        def on_round(rounds):
            scheduler.send_signal(number)

        with (
            dask.config.set({"dgsuite.timeout": timeout}),
            pytest.raises(dgsuite.RunError, match=f"at {client.scheduler.address} {how}"),
        ):
            dgsuite.run(Sleeps(rounds=10_000), ring, style=style, client=client, on_round=on_round)
        scheduler.kill()
        own_worker.wait(PATIENCE)


def test_a_scheduler_that_freezes_before_the_first_request_is_named():
    with commands(0) as (client, (scheduler,)), dask.config.set({"dgsuite.timeout": "2s"}):
        scheduler.send_signal(signal.SIGSTOP)
        address = client.scheduler.address
        with pytest.raises(dgsuite.RunError, match=f"{address} has not answered for 2 s"):
            worker_addresses(client)
        scheduler.kill()


# Clients.


def test_a_client_that_is_closed_in_a_run(client, ring):
    for style in STYLES:
        another = Client(client.scheduler.address)
        closing = threading.Thread(target=another.close)

        def on_round(rounds, closing=closing):
            if not closing.ident:
                closing.start()

        with pytest.raises(dgsuite.RunError, match="the client was closed"):
            dgsuite.run(Sleeps(rounds=10_000), ring, style=style, client=another, on_round=on_round)
        closing.join()
    assert_nothing_held(client)


def test_a_client_of_the_process_that_forked_this_one(client, ring):
    """A graph in this process needs none; one that is on its workers is out of reach."""
    there = ring.persist(client)
    ends, other_end = multiprocessing.Pipe()

    def child():
        path = Graph.from_edges(np.arange(5000), np.arange(1, 5001))
        found = [path.local, dgsuite.run("bfs", path, root=0).attrs["style"]]
        for graph, options in ((there, {"style": "serial"}), (path, {"client": client})):
            try:
                dgsuite.run("mis", graph, **options)
            except InputError as error:
                found.append(str(error))
        other_end.send(found)

    process = multiprocessing.get_context("fork").Process(target=child)
    with client.as_current():
        process.start()
    try:
        assert ends.poll(60)
        found = ends.recv()
    finally:
        process.kill()
        process.join()
    assert found[:2] == [True, "serial"]
    assert len(found) == 4
    assert all("made before this process was forked" in error for error in found[2:])
    assert dgsuite.run("mis", there, client=client, style="clocked").in_mis.any()


async def test_an_asynchronous_client_is_refused(client, ring):
    async with Client(client.scheduler.address, asynchronous=True) as own:
        for style in STYLES:
            with pytest.raises(InputError, match="asynchronous=True"):
                dgsuite.run("lcr", ring, style=style, client=own)
        assert dgsuite.run("lcr", ring, style="serial", client=own).sizes["node"] == 12


def test_a_run_within_on_round_is_refused(client, ring):
    refused = []

    def on_round(rounds):
        with pytest.raises(InputError):
            dgsuite.run("lcr", ring, style="clocked", client=client)
        refused.append(rounds)

    how = {"clusters": 2, "style": "clocked", "client": client}
    dgsuite.run(Sleeps(rounds=60), ring, on_round=on_round, **how)
    assert refused


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ZeroDivisionError, OSError])
@pytest.mark.parametrize("style", [*STYLES, "in_turn", "serial", "session"])
def test_what_on_round_raises_ends_the_run(client, ring, style, error):
    """In the thread that called the run; the client's loop goes on."""
    called = []

    def on_round(rounds):
        called.append(rounds)
        raise error("by on_round")

    run = partial(dgsuite.run, graph=ring, style=style, client=client)
    with ring.session(client) as session:
        run = session.run if style == "session" else run
        with pytest.raises(error, match="by on_round"):
            run(Sleeps(rounds=10_000), clusters=2, on_round=on_round)
    assert len(called) == 1
    assert client.submit(abs, -1, pure=False).result(timeout=PATIENCE) == 1
    assert_nothing_held(client)


@pytest.mark.parametrize("style", STYLES)
def test_runs_within_tasks(client, style):
    """Each worker has one thread, which the outer tasks hold while they wait for the inner ones."""
    graph = dgsuite.Graph.from_networkx(nx.cycle_graph(12), client=None, clusters=2)

    def one(seed, style=style):
        return int(dgsuite.run("mis", graph, style=style, seed=seed).in_mis.sum())

    found = client.gather(client.map(one, range(4), pure=False))
    assert found == [one(seed, "serial") for seed in range(4)]


CLIENT = """
import sys
import networkx as nx, dgsuite
from distributed import Client
from tests.support.faulty import Sleeps
ring = dgsuite.Graph.from_networkx(nx.cycle_graph(12), client=None)
how = {{"style": "{style}", "client": Client(sys.argv[1])}}
dgsuite.run(Sleeps(rounds={rounds}), ring, clusters=2, on_round=lambda _: print(flush=True), **how)
"""


ENDS = [(signal.SIGSTOP, "clocked"), (signal.SIGINT, "clocked"), (signal.SIGKILL, "finish_async")]
ENDS += [(signal.SIGKILL, "clocked"), (signal.SIGINT, "finish_async")]


@pytest.mark.few(1)
@pytest.mark.parametrize(("how", "style"), ENDS)
def test_a_client_that_ends_leaves_nothing_running(client, ring, how, style):
    """One that was killed has no connection; one that is frozen has no tasks under way in the end."""
    timeout, rounds = ("5 s", 300) if how == signal.SIGSTOP else ("60 s", 100_000)
    dgsuite.run(Sleeps(), ring, clusters=2, style=style, client=client)
    code = CLIENT.format(rounds=rounds, style=style)
    command = [sys.executable, "-c", code, client.scheduler.address]
    there = {"cwd": ROOT, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, preexec_fn=heed_signals, **there) as process:
        process.stdout.readline()
        process.send_signal(how)
        try:
            with dask.config.set({"dgsuite.timeout": timeout}):
                found = dgsuite.run(Sleeps(), ring, clusters=2, style=style, client=client)
            assert found.sizes["round"] == 3
            assert_nothing_held(client)
        finally:
            process.kill()


def test_tasks_that_need_all_workers_begin_one_graph_after_the_other(client):
    """Those that fail, or that nobody wants any more, pass their turn on."""
    places = worker_addresses(client)

    def span(turn):
        begin = time.time()
        time.sleep(0.2)
        if turn == [1]:
            raise ValueError("as wanted")
        return begin, time.time()

    made = []
    for turn in range(5):
        run = {f"turn-{turn}-{rank}": (place, span, [turn]) for rank, place in enumerate(places)}
        made.append(tasks.submit(client, run, **{TOGETHER: True}))
    client.cancel(made[2])
    spans = [client.gather(made[turn]) for turn in (0, 3, 4)]
    for before, after in pairwise(spans):
        assert max(end for _, end in before) <= min(begin for begin, _ in after)
    assert {future.status for future in made[1]} == {"error"}
    left = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.plugins["dgsuite"].queue)
    assert not left


# Workers.


@pytest.mark.parametrize("tries", [0, 3])
def test_a_worker_that_has_died_when_the_plugin_is_registered(own_client, ring, tries):
    """A scheduler that does not know it yet sends the plugin to the dead worker too. A run that may begin
    again does without it.
    """
    place = worker_addresses(own_client)[0]
    pid = own_client.run(os.getpid, workers=[place])[place]
    os.kill(pid, signal.SIGKILL)
    outcome = "right"
    try:
        with dask.config.set({"dgsuite.recovery.tries": tries}):
            dgsuite.run("lcr", ring, clusters=2, style="clocked", client=own_client)
    except dgsuite.RunError as error:
        outcome = "lost" if f"worker {place} was lost" in str(error) else str(error)
    assert outcome in ("right", *([] if tries else ["lost"]))


@pytest.fixture
def frozen(client):
    """Freezes a worker until the test ends; returns its address."""
    place = worker_addresses(client)[0]
    pid = client.run(os.getpid, workers=[place])[place]

    def freeze():
        os.kill(pid, signal.SIGSTOP)
        return place

    yield freeze
    os.kill(pid, signal.SIGCONT)
    until(lambda: session.Session.of(client).workers()[place]["silent"] <= 1)


@pytest.mark.few(1)
@pytest.mark.parametrize("request_", ["machines", "building", "validating", "gathering"])
def test_a_request_to_a_frozen_worker_ends(client, frozen, request_, monkeypatch):
    """Also where no run has begun: what is asked or sent comes to nothing."""
    nodes = np.arange(200_000)
    path = nodes[:-1], nodes[1:]
    requests = {
        "machines": lambda: machine_of(client),
        "building": lambda: Graph.from_edges(*path, client=client),
        "validating": lambda: genval.validate("mis", graph, {"in_mis": nodes % 2}),
        "gathering": lambda: Watch(client, "gathering").gather(results),
    }
    graph = Graph.from_edges(*path, client=client) if request_ == "validating" else None
    results = [
        client.submit(np.ones, size, workers=[each], pure=False)
        for size, each in enumerate(worker_addresses(client))
    ]
    Watch(client, "computing").wait(results)
    monkeypatch.setattr(session.Session.of(client), "kept", Once())
    place = frozen()
    with (
        dask.config.set({"dgsuite.timeout": "4s"}),  # others may be slow on a busy machine
        pytest.raises(dgsuite.RunError, match=f"worker {place} is frozen"),
    ):
        requests[request_]()


PIECE = 1 << 13
"""Bytes of an array that stays in use between those that are freed."""


def fragment(size, limit):
    """On a worker: fill its memory up to where Dask pauses it, and free all but small pieces in between, so
    that nothing goes back by itself. The share of the limit that was used goes with the pieces.
    """
    small, large = [], []
    for _ in range(int(0.85 * limit - psutil.Process().memory_info().rss) // (size + PIECE)):
        large.append(np.ones(size, np.uint8))
        small.append(np.ones(PIECE, np.uint8))
    return psutil.Process().memory_info().rss / limit, small


def test_memory_that_was_freed_is_given_back_before_it_pauses_a_worker(ring):
    with client_of(1, {"dgsuite.timeout": "10s"}, memory_limit=700_000_000) as client:
        dgsuite.run("lcr", ring, style="clocked", client=client)
        (place,) = worker_addresses(client)
        limit = session.Session.of(client).workers()[place]["memory_limit"]
        kept = client.submit(fragment, 1 << 16, limit)
        assert client.submit(lambda filled: filled[0], kept).result() > 0.8
        other = genval.graph("ring", 12)  # the halo of the first graph is kept
        assert dgsuite.run("lcr", other, style="clocked", client=client).sizes["node"] == 12
        (used,) = client.run(lambda: psutil.Process().memory_info().rss).values()
        assert used < 0.8 * limit


def freed(dask_worker=None):
    """On a worker: bytes that its process has after 64 MiB of arrays were freed."""
    arrays = [np.ones(1 << 20, np.uint8) for _ in range(64)]
    del arrays
    return psutil.Process().memory_info().rss


def test_memory_is_kept_for_runs_alone(ring):
    def idle(dask_worker):
        dask_worker.plugins["dgsuite"]._used -= worker.IDLE

    with client_of(1, set_as_default=False) as client:
        dgsuite.run("lcr", ring, style="clocked", client=client)
        (most,) = client.run(freed).values()
        client.run(idle)
        until(lambda: client.run(freed).popitem()[1] <= most - (1 << 25))


def test_a_paused_worker_is_named(own_client, ring):
    def pause(dask_worker):
        dask_worker.periodic_callbacks["memory_monitor"].stop()
        dask_worker.status = Status.paused

    dgsuite.run("lcr", ring, clusters=2, style="clocked", client=own_client)
    place = worker_addresses(own_client)[1]
    pid = own_client.run(os.getpid, workers=[place])[place]
    own_client.run(pause, workers=[place])
    with (
        dask.config.set({"dgsuite.timeout": "4s"}),  # others may be slow on a busy machine
        pytest.raises(dgsuite.RunError, match=f"worker {place} is paused by Dask.* of its limit"),
    ):
        dgsuite.run("lcr", ring, clusters=2, style="clocked", client=own_client)
    os.kill(pid, signal.SIGKILL)


def test_workers_are_waited_for(ring, caplog):
    """An adaptive cluster has none before it has tasks; one that gets none is an error in the end."""
    with client_of(0, set_as_default=False) as client:
        session.Session.of(client).workers()  # the first request is slow on a busy machine
        with (
            dask.config.set({"dgsuite.timeout": "100ms"}),
            pytest.raises(InputError, match=r"has no workers, and none came within 0\.1 s;"),
        ):
            dgsuite.run("mis", ring, style="clocked", client=client)
        until(lambda: not client.futures)  # the error keeps no task that waits
        client.cluster.adapt(minimum=0, maximum=2, interval="50ms", wait_count=2000)
        found = dgsuite.run("mis", ring, style="clocked", client=client)
    assert "has no workers; waiting for some, for 30 s at most" in caplog.text
    expected = dgsuite.run("mis", ring, style="serial")
    assert found.in_mis.values.tolist() == expected.in_mis.values.tolist()


def test_long_tasks_are_waited_for(client):
    """Longer than the bound: what counts is whether the worker gives signs of life."""
    with dask.config.set({"dgsuite.timeout": "3s"}):
        place = worker_addresses(client)[0]
        long = client.submit(time.sleep, 5, workers=[place], pure=False)
        watch = Watch(client, "napping", [place])
        tasks.finish([long], watch)


# The mesh.


def test_tasks_meet_if_one_comes_as_its_peers_have_waited_long_enough(client):
    """A worker that was frozen finds both at once: a task's address, and the ends of requests for it."""

    async def meet(key, dask_worker):
        plugin, epoch = dask_worker.plugins[worker.NAME], dask_worker.id

        async def asked():
            for _ in range(4):
                if (where := await plugin._meet("a run", epoch)) is not None:
                    return where
            return None

        asks = [asyncio.ensure_future(asked()) for _ in range(2)]
        await asyncio.sleep(0.8 * session.POLL_SECONDS)
        plugin.enter(key, "a run", "the address", lambda: None)
        time.sleep(0.4 * session.POLL_SECONDS)
        found = await asyncio.gather(*asks)
        plugin.leave(key, "a run")
        return found

    worker.install(client)
    place = worker_addresses(client)[0]
    task = client.submit(time.sleep, 0.2, workers=[place], pure=False)
    assert client.run(meet, task.key, workers=[place]) == {place: ["the address"] * 2}


def test_a_full_mesh_accepts_no_connections(client, ring):
    how = {"clusters": 2, "style": "clocked", "client": client}
    dgsuite.run("lcr", ring, **how)
    before, running = client.run(listening), threading.Event()
    how["on_round"] = lambda rounds: running.set()
    run = threading.Thread(target=dgsuite.run, args=(Sleeps(rounds=300), ring), kwargs=how)
    run.start()
    assert running.wait(PATIENCE)
    during = client.run(listening)
    assert any(any(h) for h in client.run(held).values())
    run.join()
    assert during == before


def listening():
    """On a worker: at how many sockets it listens."""
    return sum(c.status == psutil.CONN_LISTEN for c in psutil.Process().net_connections())


def test_a_lost_peer_leaves_no_error_unheard():
    """Of two peers that are gone one is named; the other's error is no surprise later."""
    unheard: list[dict] = []

    async def main():
        asyncio.get_running_loop().set_exception_handler(lambda _, context: unheard.append(context))
        mesh = Mesh("0", [f"tcp://127.0.0.1:{rank}" for rank in (1, 2, 3)], ["a", "b", "c"], 0)

        async def handle(comm):
            comm.abort()

        async with listen("tcp://127.0.0.1", handle) as listener:
            for peer in (1, 2):
                mesh._join(peer, await connect(listener.contact_address))
            parcels = dict.fromkeys((1, 2), np.zeros(1 << 21, np.uint8))
            with pytest.raises(worker.PeerLost, match="was lost"):
                await mesh.exchange(parcels, Vote())
        for _ in range(10):
            await asyncio.sleep(0.01)
        gc.collect()

    asyncio.run(main())
    gc.collect()
    assert not unheard
