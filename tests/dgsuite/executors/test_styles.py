"""The invariant, on real worker processes: style, clusters, workers and threads change nothing."""

import os
import time
from contextlib import nullcontext

import dask
import networkx as nx
import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import Graph, InputError, genval
from dgsuite.kernels import KERNELS, MIS, RECURSIVE, BellmanFord
from dgsuite.partition.client.session import Session
from tests.support import references, toys
from tests.support.cases import COMMUNITIES, TYPICAL, in_turn, inputs
from tests.support.cases import NAMES as ALL
from tests.support.clusters import client_of, counting, small_as_large
from tests.support.examples import examples
from tests.support.faulty import Sleeps

NAMES = [name for name in ALL if name not in COMMUNITIES]
"""Kernels with the same messages on any cut; `tests/kernels/test_leiden.py` runs the others in each style."""

COUNTED = ("messages", "remote_messages", "bytes", "active")
CLUSTERS = (1, 2, 3, 8, "n")


def assert_same(a: xr.Dataset, b: xr.Dataset, outputs) -> None:
    """Two runs give the same outputs, rounds and messages a round."""
    assert a.sizes["round"] == b.sizes["round"]
    for name in (*outputs, "messages", "bytes", "active"):
        np.testing.assert_array_equal(a[name].values, b[name].values, err_msg=name)
    one, other = (ds.remote_messages.sel(model="UP").values for ds in (a, b))
    np.testing.assert_array_equal(one, other)


@st.composite
def examples_of_toys(draw):
    """A toy and a graph."""
    n = draw(st.integers(1, 20))
    graph = nx.gnm_random_graph(n, draw(st.integers(0, 3 * n)), seed=draw(st.integers(0, 99)))
    kinds = toys.MutatesInPlace, toys.Order, toys.Reductions, toys.Votes
    return draw(st.sampled_from(kinds))(), lambda **how: Graph.from_networkx(graph, **how)


CASES = st.one_of(examples_of_toys(), *map(inputs, NAMES))


@pytest.fixture(scope="module", params=["1x1", "2x1", "1x3", "2x2", "2x2 in one process"])
def shape(request):
    """A client of some workers x threads; those of several threads take the way of large graphs."""
    size, _, where = request.param.partition(" ")
    n, threads = map(int, size.split("x"))
    options = {"threads": threads, "set_as_default": False, "processes": not where}
    with (
        client_of(n, **options) as client,
        small_as_large(client) if threads > 1 else nullcontext(),
    ):
        yield client


@pytest.mark.parametrize("style", ["finish_async", "clocked", "in_turn"])
@examples(2)
@given(case=CASES, clusters=st.sampled_from(CLUSTERS))
def test_style_clusters_workers_and_threads_change_nothing(shape, style, case, clusters):
    kernel, make = case
    graph = make(clusters=1)
    k = graph.n if clusters == "n" else clusters
    expected = dgsuite.run(kernel, graph, style="serial", clusters=1)
    serial = dgsuite.run(kernel, graph, style="serial", clusters=k, trace=True)
    assert_same(expected, serial, kernel.outputs)
    found = dgsuite.run(kernel, graph, style=style, clusters=k, client=shape, trace=True)
    assert_same(expected, found, kernel.outputs)
    for name in ("remote_messages", "traffic", "traffic_bytes"):
        np.testing.assert_array_equal(serial[name], found[name], err_msg=name)


@pytest.mark.parametrize(("name", "style"), in_turn(NAMES, ("clocked", "finish_async"), TYPICAL))
def test_threads_change_nothing_for_any_kernel(threaded, name, style):
    """The graphs take the way of large ones."""
    graph = references.mine(name, 6)
    expected = dgsuite.run(name, graph, style="serial")
    found = dgsuite.run(name, graph, style=style, client=threaded)
    assert_same(expected, found, KERNELS[name].outputs)


@pytest.mark.few(4)
@pytest.mark.parametrize("style", ["clocked", "finish_async"])
@pytest.mark.parametrize("name", sorted(RECURSIVE))
def test_threads_change_nothing_for_any_recursive_form(threaded, name, style):
    graph = references.mine(name, 6)
    expected = dgsuite.run(name, graph, style="serial", form="recursive")
    how = {"style": style, "form": "recursive", "client": threaded}
    found = dgsuite.run(name, graph, **how)
    for output in (*RECURSIVE[name].outputs, *(["messages"] if style == "clocked" else [])):
        np.testing.assert_array_equal(expected[output], found[output], err_msg=output)


@pytest.fixture(scope="module")
def client_of_three():
    """A client of three worker processes: a first, a middle and a last."""
    with client_of(3) as client:
        yield client


@pytest.mark.parametrize("kernel", ["bf", "dst", "mst"])
def test_recursive_kernels_in_turn(client_of_three, kernel):
    graph = genval.graph("mx", 16, family="paper", kernel=kernel).repartition(5)
    how = {"form": "recursive", "faithful": True}
    expected = dgsuite.run(kernel, graph, style="serial", **how)
    found = dgsuite.run(kernel, graph, style="in_turn", client=client_of_three, **how)
    for name in (*RECURSIVE[kernel].outputs, "messages", "bytes", "active", "remote_messages"):
        np.testing.assert_array_equal(expected[name], found[name], err_msg=name)


def test_in_turn_one_worker_computes_at_a_time(client_of_three):
    """In the order of places, and each access to another place is confirmed before the next begins."""
    graph = Graph.from_networkx(nx.cycle_graph(6))
    ds = dgsuite.run(toys.Stamps(), graph, style="in_turn", clusters=6, client=client_of_three)
    for name in ("send", "read"):
        begin, end = ds[f"{name}_begin"].values, ds[f"{name}_end"].values
        assert (begin[1:] >= end[:-1]).all()
    assert ds.read_begin.values[0] >= ds.send_end.values[-1]
    assert (ds.attrs["runtime_model"], ds.attrs["workers"]) == ("MP", 3)
    how = {"style": "in_turn", "clusters": 6, "client": client_of_three}
    lcr = dgsuite.run("lcr", graph, **how)
    assert lcr.comm.sum() == lcr.asyncs.sum() == lcr.finishes.sum() == 0
    assert dgsuite.run("lcr", graph, count_as="clocked", **how).asyncs.sum() > 0
    with (
        dask.config.set({"dgsuite.clocked.transport": "mpi"}),
        pytest.raises(InputError, match="over mpi tasks"),
    ):
        dgsuite.run(toys.Stamps(), graph, style="in_turn", client=client_of_three)


@pytest.mark.few(1)
@pytest.mark.parametrize(("style", "clusters"), in_turn(["finish_async", "clocked"], [5, 2]))
def test_large_graph_on_workers(client, style, clusters):
    """Large enough for compiled reductions, halo bitmaps and clusters that are sent once."""
    rng = np.random.default_rng(4)
    n = 60_000
    src, dst = rng.integers(0, n, (2, 5 * n))
    here = Graph.from_edges(src, dst, n=n, clusters=1, client=client)
    for kernel in (MIS(seed=3), BellmanFord(root=7)):
        expected = dgsuite.run(kernel, here, style="serial")
        found = dgsuite.run(kernel, here, style=style, clusters=clusters, client=client)
        assert_same(expected, found, kernel.outputs)
        assert found.wire_bytes.sum() > 0


def test_wire_bytes_stay_near_the_halo(client):
    """A dense graph's broadcasts travel as one value a node and worker, not one an edge."""
    n = 2000
    graph = Graph.from_networkx(nx.gnp_random_graph(n, 0.1, seed=1), clusters=2, client=client)
    ds = dgsuite.run("mis", graph, client=client)
    first = int(ds.wire_bytes[0])
    assert int(ds.messages[0]) > 190_000
    assert first < 3 * 8 * n + 4096


@pytest.mark.parametrize("style", ["serial", "finish_async", "clocked"])
def test_what_is_known_need_not_travel(client, style):
    graph = Graph.from_networkx(nx.gnm_random_graph(40, 70, seed=8), clusters=4)
    for node in (0, 25):
        telling, knowing = toys.Calls(node=node, anyway=False), toys.Calls(node=node)
        told = dgsuite.run(telling, graph, style="clocked", client=client)
        knew = dgsuite.run(knowing, graph, style=style, client=client)
        assert_same(told, knew, ["got"])
        assert int(knew.wire_bytes.sum()) < int(told.wire_bytes.sum())


def test_mapped_partition(client):
    graph = nx.gnm_random_graph(50, 150, seed=5)
    owner = np.random.default_rng(5).integers(0, 3, 50)
    plain = dgsuite.run("mis", Graph.from_networkx(graph), style="serial")
    for style in ("serial", "finish_async", "clocked"):
        mapped = Graph.from_networkx(graph, partition=owner)
        assert_same(plain, dgsuite.run("mis", mapped, style=style, client=client), ["in_mis"])


@pytest.mark.few(2)
@pytest.mark.parametrize("style", ["serial", "finish_async", "clocked"])
@pytest.mark.parametrize("form", ["iterative", "recursive"])
def test_runs_that_follow_one_another_are_as_if_alone(client, style, form, monkeypatch):
    graph = Graph.from_networkx(nx.gnm_random_graph(40, 70, seed=8), clusters=3)
    roots = [3, 0, 17, 3]
    how = {"style": style, "form": form, "client": client}
    alone = [dgsuite.run("bf", graph, root=root, **how) for root in roots]
    get, sent = client.get, []
    monkeypatch.setattr(client, "get", lambda new, *a, **k: sent.extend(new) or get(new, *a, **k))
    found = dgsuite.run_each("bf", graph, [{"root": root} for root in roots], **how)
    assert [ds.attrs["root"] for ds in found] == roots
    index = "depth" if form == "recursive" else "round"
    for one, other in zip(alone, found, strict=True):
        np.testing.assert_array_equal(one.distance, other.distance)
        if not (form == "recursive" and style == "finish_async"):  # there depths may differ
            assert one.sizes[index] == other.sizes[index]
            np.testing.assert_array_equal(one.messages, other.messages)
    if (style, form) == ("clocked", "iterative"):
        assert len(sent) == 2  # one task a worker for all


def test_one_wrong_run_among_several_is_named(client):
    graph = Graph.from_networkx(nx.cycle_graph(6))
    for style in ("serial", "finish_async", "clocked"):
        with pytest.raises(dgsuite.InputError, match="kernel 'bf': root 6 is not a node"):
            dgsuite.run_each("bf", graph, [{"root": 1}, {"root": 6}], style=style, client=client)
    with pytest.raises(dgsuite.InputError, match="at least one run"):
        dgsuite.run_each("bf", graph, [], client=client)
    with pytest.raises(dgsuite.InputError, match="unknown parameter of 'bf' 'rot'"):
        dgsuite.run_each("bf", graph, [{"root": 1}, {"rot": 2}], client=client)
    assert dgsuite.run("bf", graph, root=1, client=client).distance.values[4] == 3


def test_progress_is_reported(client):
    graph = Graph.from_networkx(nx.cycle_graph(4), clusters=2)
    for style in ("serial", "finish_async", "clocked"):
        seen: list[int] = []
        dgsuite.run(Sleeps(rounds=60), graph, style=style, client=client, on_round=seen.append)
        assert seen
        assert seen == sorted(seen)
        assert 0 < seen[-1] <= 60


def test_a_graph_of_another_cluster_is_refused(client, client_of_one):
    nodes = np.arange(200_000)
    there = Graph.from_edges(nodes, (nodes + 1) % len(nodes), client=client_of_one)
    with pytest.raises(dgsuite.InputError, match="another cluster"):
        dgsuite.run("mis", there, client=client)


def test_clients_that_cannot_run_are_refused(client):
    from distributed import Client

    nodes = np.arange(200_000)
    here = Graph.from_networkx(nx.cycle_graph(4))
    with Client(client.scheduler.address, set_as_default=False) as closed:
        there = Graph.from_edges(nodes, (nodes + 1) % len(nodes), client=closed)
    for style in ("serial", "finish_async", "clocked"):
        for bad, message in (
            (closed, "the client is closed; make a new Client"),
            (client.cluster, "client must be a distributed.Client, got LocalCluster"),
            ("tcp://127.0.0.1:9", "client must be a distributed.Client, got str"),
        ):
            with pytest.raises(dgsuite.InputError, match=message):
                dgsuite.run("mis", here, style=style, client=bad)
        for good in (None, client):
            with pytest.raises(dgsuite.InputError, match=r"built with is closed; .* again"):
                dgsuite.run("mis", there, style=style, client=good)


def test_threads_are_bound_while_a_run_lasts(client):
    """Each worker of a run on a processor of its own; all processors allowed again afterwards."""
    if not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two processors")
    graph = Graph.from_networkx(nx.cycle_graph(4))
    ds = dgsuite.run(toys.Where, graph, style="clocked", clusters=2, client=client)
    assert ds.got.values[0] == ds.got.values[1] != ds.got.values[2] == ds.got.values[3]
    with dask.config.set({"dgsuite.clocked.bind": False}):
        free = dgsuite.run(toys.Where, graph, style="clocked", clusters=2, client=client)
    everything = sum(1 << cpu for cpu in os.sched_getaffinity(0))
    assert (free.got == everything).all()
    found = client.submit(os.sched_getaffinity, 0, pure=False).result()
    assert found == os.sched_getaffinity(0)


@pytest.mark.parametrize("on_workers", [False, True])
def test_a_short_run_takes_the_scheduler_few_requests(client, monkeypatch, on_workers):
    graph = dgsuite.Graph.from_edges(np.zeros(399, np.int64), np.arange(1, 400), n=400, clusters=2)
    if on_workers:
        graph = graph.persist(client)
    requests, start = [], Session.start

    def counted(session, request):
        requests.append(request)
        return start(session, request)

    def last_gather():  # Dask keeps some of the last events
        events = client.cluster.scheduler.get_events("all")
        return max((at for at, event in events if event.get("action") == "gather"), default=0)

    monkeypatch.setattr(Session, "start", counted)
    # on a busy machine a request ends before there is an answer, and is made again
    monkeypatch.setattr("dgsuite.core.workers.placement.POLL_SECONDS", 60)
    dgsuite.run("bf", graph, style="clocked", client=client)
    begin = time.time()
    for most in ("16 MiB", 0):
        requests.clear()
        with dask.config.set({"dgsuite.gather-limit": most}):
            ds = dgsuite.run("bf", graph, style="clocked", client=client)
        assert len(requests) == 2, requests  # states of the workers, the results
    assert last_gather() < begin  # workers sent the results without being asked
    assert ds.distance.chunks == ((200, 200),)


@pytest.mark.parametrize("clusters", [2, 3, 64, 512])
def test_a_phase_costs_the_scheduler_what_there_is_to_do(client, clusters):
    """Tasks and dependencies depend on workers, not on clusters."""
    ring = dgsuite.Graph.from_networkx(nx.cycle_graph(512), clusters=clusters)
    with counting(client) as counts:
        ds = dgsuite.run(toys.EmptyInbox(), ring, style="finish_async", client=client)
    assert (ds.got == 2).all()
    assert len(counts.tasks) == 3 * 2
    assert sum(counts.tasks.values()) == 2 * 4  # the first phase gets nothing


def test_it_has_no_checkpoints(client, ring, tmp_path):
    with pytest.raises(dgsuite.InputError, match="'finish_async' has no checkpoints"):
        dgsuite.run("mis", ring, style="finish_async", client=client, checkpoint=tmp_path)
