"""Workloads take time, and change no count and no output."""

import re

import networkx as nx
import numpy as np
import pytest

import dgsuite
from dgsuite.core.engine._compiled import spin
from dgsuite.core.engine.run_spec import RunSpec
from dgsuite.core.engine.site import Site
from dgsuite.core.engine.workload import CONSTANTS, Workload, WorkloadRunner
from dgsuite.kernels import KERNELS
from dgsuite.studies.experiment.clusters import local
from tests.support.cases import in_turn

GRAPH = nx.random_regular_graph(4, 60, seed=2)
LOADS = [
    {"operations": 100_000},
    {"cache_bytes": 1 << 18},
    {"packets": 3, "bytes": 700},
    {"operations": 1001, "cache_bytes": 64, "packets": 9, "bytes": 1},
]
STYLES = ["serial", "finish_async", "clocked"]
COUNTS = ("messages", "comm", "mutexes", "finishes", "asyncs", "barriers", "bytes", "active")


@pytest.fixture(scope="module")
def four_threads():
    with local(1, 4, "auto") as client:
        yield client


@pytest.mark.parametrize(("load", "style"), in_turn(LOADS, STYLES), ids=str)
def test_nothing_changes_but_time(style, load, client):
    graph = dgsuite.Graph.from_networkx(GRAPH, clusters=5)
    how = {"style": style, "client": None if style == "serial" else client}
    bare = dgsuite.run("mis", graph, **how)
    laden = dgsuite.run("mis", graph, workload=load, **how)
    for name in (*COUNTS, "in_mis", "remote_messages"):
        assert np.array_equal(bare[name], laden[name]), name
    assert laden.attrs["workload"] == str(Workload.make(load))
    assert laden.workload_seconds.sizes == {"round": bare.sizes["round"]}
    assert "workload_seconds" not in bare
    if "operations" in load and "cache_bytes" not in load:
        each = laden.attrs["seconds_per_operation"]
        assert 1e-12 < each < 1e-7
        assert laden.seconds > each * load["operations"] * 60  # at least one phase of one worker's
    extra = int(laden.wire_bytes.sum() - bare.wire_bytes.sum())
    if "packets" not in load:
        assert extra == 0
    elif style == "clocked":
        # every cluster border is also a border of workers here, or within one
        assert extra > load["bytes"] * bare.sizes["round"]


@pytest.mark.parametrize(("load", "style"), in_turn(LOADS[:3:2], [*STYLES[1:], "serial"]), ids=str)
def test_nor_in_recursive_kernels(style, load, client):
    graph = dgsuite.Graph.from_networkx(GRAPH, clusters=5)
    how = {"form": "recursive", "style": style, "client": None if style == "serial" else client}
    bare = dgsuite.run("dst", graph, root=0, **how)
    laden = dgsuite.run("dst", graph, root=0, workload=load, **how)
    for name in (*COUNTS, "parent", "remote_messages"):
        assert np.array_equal(bare[name], laden[name]), name
    if "packets" not in load:
        assert 1e-12 < laden.seconds_per_operation < 1e-7
    elif style != "serial":
        assert laden.wire_bytes.sum() - bare.wire_bytes.sum() > load["bytes"]


@pytest.mark.parametrize("operations", [0, 1, 2, 7, 1000])
def test_each_operation_takes_the_result_of_the_last(operations):
    """Of a generator of random numbers, each step of which is a multiplication and an addition."""
    factor, addend = map(int, CONSTANTS)
    expected = 5
    for i in range(operations):
        expected = (expected + addend if i % 2 else expected * factor) % 2**32
    assert spin(np.uint32(5), *CONSTANTS, operations) == expected


@pytest.mark.parametrize(("form", "style"), in_turn(["iterative", "recursive"], STYLES[1:]))
def test_a_cluster_whose_work_several_threads_share(style, form, four_threads):
    """One worker, one cluster."""
    graph = dgsuite.Graph.from_networkx(GRAPH, clusters=1)
    how = {"form": form, "workload": LOADS[0], "root": 0}
    alone = dgsuite.run("dst", graph, style="serial", count_as=style, **how)
    found = dgsuite.run("dst", graph, style=style, client=four_threads, **how)
    for name in (*COUNTS, "parent"):
        assert np.array_equal(alone[name], found[name]), name
    assert found.attrs["workers"] == 1
    tasks = alone.attrs["seconds_per_operation"] * LOADS[0]["operations"]
    assert found.workload_seconds.sum() > 10 * tasks


def test_packets_are_dealt_to_neighbours_in_turn():
    """A star: the centre's seven packets go round its five leaves, a leaf's all to the centre."""
    graph = dgsuite.Graph.from_networkx(nx.star_graph(5), partition=np.array([0, 0, 1, 1, 1, 2]))
    load = Workload(packets=7, bytes=10)
    porters = [WorkloadRunner(load, [part], np.arange(4), k) for k, part in enumerate(graph.parts)]
    sent = [{to: p.shape for to, p in porter.packets.items()} for porter in porters]
    assert sent == [{1: (4, 10), 2: (1, 10)}, {0: (21, 10)}, {0: (7, 10)}]


WRONG = [
    ({"operatoins": 1}, "unknown field 'operatoins'; did you mean 'operations'?"),
    ({"operations": -1}, "operations must be an integer from 0, got -1"),
    ({"cache_bytes": 1.5}, "cache_bytes must be an integer"),
    ({"cache_bytes": 1 << 40}, "cache_bytes must be at most"),
    ({"packets": 2}, "packets and bytes (per packet) must be"),
    ({"operations": 10**30}, "operations must be at most 9223372036854775807, got 1000"),
    (7, "workload must be a mapping"),
]


@pytest.mark.parametrize(("load", "message"), WRONG)
def test_bad_workloads(load, message):
    with pytest.raises(dgsuite.InputError, match=re.escape(message)):
        Workload.make(load)
    assert Workload.make({"operations": 0}) is None
    assert str(Workload(operations=np.int32(7))) == '{"operations": 7}'


@pytest.mark.parametrize(("threads", "tasks"), [(1, 5), (3, 0), (3, 1), (3, 4), (3, 6)])
def test_threads_share_the_tasks(threads, tasks, monkeypatch):
    runner = WorkloadRunner(Workload(operations=1), [], np.arange(2), 0, threads)
    shares = []
    monkeypatch.setattr(runner, "_work", shares.append)
    runner.work(tasks)
    assert sum(shares) == tasks
    assert max(shares) - min(shares) <= 1
    assert len(shares) == (1 if tasks < 2 else threads)


SHARED = [({"operations": 10}, 5), ({"cache_bytes": 64}, 5), ({"packets": 2, "bytes": 8}, 1)]


@pytest.mark.parametrize(("load", "threads"), SHARED)
def test_all_threads_of_a_site_do_the_work_of_each_cluster(load, threads):
    """Packets take little of a processor."""
    parts = dgsuite.Graph.from_networkx(GRAPH, clusters=2).parts
    spec = RunSpec(workload=Workload(**load))
    load = Site(KERNELS["mis"](), parts, np.array([0, 2]), 0, spec, threads=5).workload
    assert load.threads == threads
    assert (load.helpers is None) == (threads == 1)
