"""Edges on disk: the same graph, however it is made; and what its files are in the way of."""

import gc
import mmap
import os
import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import dask
import dask.array as da
import numpy as np
import pytest
from distributed.system import MEMORY_LIMIT

import dgsuite
from dgsuite import Graph
from dgsuite.base.errors import InputError
from dgsuite.partition.arrays import mapped, segments
from dgsuite.partition.store import archives
from tests.support.clusters import client_of
from tests.support.graphs import same
from tests.support.limits import files_of_at_most
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.usefixtures("alone")

RNG = np.random.default_rng(5)
ENDS = RNG.integers(0, 3000, (2, 20_000))
WEIGHTS = RNG.integers(1, 9, 20_000)


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    """Also small arrays are mapped."""
    monkeypatch.setattr(mapped, "LEAST", 1 << 10)


def graph(**options):
    return Graph.from_edges(*ENDS, n=3000, weights=WEIGHTS, duplicates="sum", **options)


def is_mapped(found):
    return all(mapped.is_mapped(a) for c in found.gather() for a in (c.indices, c.weights))


@pytest.mark.parametrize("directed", [False, True])
def test_all_that_is_made_of_a_graph_on_disk_is_there(directed):
    there, here = (graph(edges=e, clusters=3, directed=directed) for e in ("disk", "memory"))
    assert is_mapped(there)
    assert not any(mapped.is_mapped(c.indices) for c in here.parts)
    assert "edges on disk" in repr(there)
    for made in (there, there.repartition(2), there.reversed(), there.to_undirected()):
        assert is_mapped(made)
        assert made.edges == "disk"
    same(there, here)
    same(there.repartition(2), here)
    for kernel in ("pagerank", "scc" if directed else "wcc"):
        found, expected = (dgsuite.run(kernel, g) for g in (there, here))
        name = {"pagerank": "rank"}.get(kernel, "component")
        assert found[name].equals(expected[name])
    copy = pickle.loads(pickle.dumps(there.parts[0]))
    assert mapped.is_mapped(copy.indices)
    assert copy.__sizeof__() < copy.nbytes / 4


@pytest.mark.parametrize("where", ["folder", "memory://mapped"])
def test_saved_graphs_are_read_in_place(where, tmp_path):
    path = str(tmp_path / "g") if where == "folder" else where
    graph(clusters=2).save(path)
    loaded = Graph.load(path, edges="disk")
    assert is_mapped(loaded)
    same(loaded, graph())
    with ThreadPoolExecutor(2) as pool:  # two runs at once
        runs = [pool.submit(dgsuite.run, "wcc", loaded) for _ in range(2)]
        assert runs[0].result().component.equals(runs[1].result().component)
    loaded.save(path)  # over the files that are mapped
    same(loaded, Graph.load(path))


def test_arrays_that_cannot_be_read_in_place_are_copied(tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(archives, "_save", lambda file, arrays: np.savez(file, **arrays))
        graph().save(tmp_path / "g")
    loaded = Graph.load(tmp_path / "g", edges="disk")
    assert is_mapped(loaded)
    same(loaded, graph())


def test_a_full_disk_is_named(tmp_path):
    """The room is taken before anything is written, where a write could not say that there is none."""
    said = f"{tmp_path}: has no room for .*temporary-directory"
    with (
        dask.config.set({"temporary-directory": str(tmp_path)}),
        files_of_at_most(1 << 12),
        pytest.raises(InputError, match=said),
    ):
        graph(edges="disk")
    assert not os.listdir(tmp_path)


def test_files_have_no_names_and_go_with_their_arrays(tmp_path):
    with dask.config.set({"temporary-directory": str(tmp_path / "new")}):
        array = mapped.on_disk(1 << 20, np.uint8)
    assert not os.listdir(tmp_path / "new")
    part = array[5:7]
    assert mapped.is_mapped(part)
    address = part.__array_interface__["data"][0]
    del array, part
    gc.collect()
    assert not mapped.keeper().holds(address)


def test_pages_beyond_the_budget_are_let_go(monkeypatch):
    array = mapped.on_disk(1 << 25, np.uint8)
    array[:] = 7
    monkeypatch.setattr(mapped.keeper(), "budget", 1 << 20)
    deadline = time.monotonic() + PATIENCE
    while resident(array) > 1 << 20:
        assert time.monotonic() < deadline
        time.sleep(mapped.EVERY)
    assert (array == 7).all()


@pytest.fixture
def shared_memory():
    """50 MiB that processes could share, all touched."""
    size, fd = 50 << 20, os.memfd_create("shared")
    os.ftruncate(fd, size)
    with mmap.mmap(fd, size) as memory:
        os.close(fd)
        memory[:] = bytes(size)
        yield memory


class Asked:
    """A process that says so when it was asked a few times for its memory."""

    def __init__(self, process):
        self.process, self.pid = process, process.pid
        self.looks, self.enough = 0, threading.Event()

    def memory_info(self):
        self.looks += 1
        if self.looks > 3:
            self.enough.set()
        return self.process.memory_info()


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="no memory without a name here")
def test_memory_that_processes_share_is_not_taken_for_pages_of_files(shared_memory, monkeypatch):
    """Nor are libraries: pages of mapped files stay as long as these are within the budget."""
    keeper, dropped = mapped.keeper(), []
    monkeypatch.setattr(keeper, "budget", 16 << 20)
    monkeypatch.setattr(keeper, "let_go", lambda: dropped.append(resident(array)))
    array = mapped.on_disk(8 << 20, np.uint8)
    array[:] = 7
    monkeypatch.setattr(keeper, "_process", Asked(keeper._process))
    assert keeper._process.enough.wait(PATIENCE)
    assert not dropped
    assert resident(array) == len(array)
    assert keeper.held() - resident(array) < 1 << 20  # of what other tests have mapped


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="binds no threads here")
def test_the_thread_that_looks_after_them_is_not_bound_with_a_task():
    """It may begin in a task that is bound to a processor, and goes on after it."""
    own = os.sched_getaffinity(os.getpid())

    keeper, file = mapped.Keeper(), mmap.mmap(-1, mmap.PAGESIZE)
    keeper._process = Asked(keeper._process)

    def task():
        os.sched_setaffinity(0, {min(own)})
        keeper.add(file, 1)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(task).result()
    assert keeper._process.enough.wait(PATIENCE)
    assert os.sched_getaffinity(keeper._thread.native_id) == own


def resident(array):
    """Bytes of an array that the process has in memory."""
    start = array.__array_interface__["data"][0]
    with open("/proc/self/smaps") as file:
        lines = iter(file)
        for line in lines:
            if line.startswith(f"{start:x}-"):
                return next(int(s.split()[1]) << 10 for s in lines if s.startswith("Rss:"))
    raise AssertionError("it is not mapped")


def test_workers_hold_edges_on_disk(client):
    """Also those of a directed graph that come in, which are made for the run."""
    with pytest.raises(InputError, match="unknown edges 'disc'; did you mean 'disk'"):
        graph(edges="disc")
    there = graph(edges="disk", directed=True, clusters=2).persist(client)
    assert all(client.gather([client.submit(lambda c: c.disk, part) for part in there.parts]))
    expected = dgsuite.run("pagerank", graph(directed=True))
    assert dgsuite.run("pagerank", there, client=client)["rank"].equals(expected["rank"])


def test_an_adjacency_is_turned_in_windows(monkeypatch):
    """What is written in any order at a time is half of what a process may hold."""
    monkeypatch.setattr("dgsuite.base.thresholds.compile_from", -1)
    (here,) = graph(clusters=1, directed=True).parts
    away = len(here.indices) - int(((here.indices >= 500) & (here.indices < 900)).sum())
    expected = segments.transpose_outside(here.indptr, here.indices, 500, 900, 3000)
    there = mapped.moved(here.indices)
    monkeypatch.setattr(mapped.keeper(), "budget", 8 * -(-away // 5))
    found = segments.transpose_outside(here.indptr, there, 500, 900, 3000)
    assert mapped.is_mapped(found[1])
    assert len(mapped.windows(*found)) == 5
    assert mapped.windows(*expected) == [(0, 2600)]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


MEMORY = MEMORY_LIMIT / 2  # of each of two workers


@pytest.fixture(scope="module")
def small():
    """A client of workers that keep about 0.2 MB in memory."""
    settings = {
        "distributed.worker.memory.target": 2e5 / MEMORY,
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.pause": False,
        "distributed.worker.memory.terminate": False,
    }
    with client_of(2, settings) as client:
        yield client


def on_disk(client):
    """Bytes of what workers have spilled."""
    return sum(client.run(lambda dask_worker: dask_worker.data.spilled_total.disk).values())


def test_clusters_are_spilled_and_read_back(small):
    """Where a graph takes more than the memory of its workers."""
    many = RNG.integers(0, 40_000, (2, 200_000))
    src, dst = (da.from_array(ends, chunks=50_000) for ends in many)
    graph = Graph.from_edges(src, dst, n=40_000, clusters=16, client=small)
    assert on_disk(small) > 300_000
    here = Graph.from_edges(*many, n=40_000, clusters=16)
    assert graph.degree.sum().compute(scheduler=small) == 2 * here.m
    for style in ("clocked", "finish_async"):
        found = dgsuite.run("bfs", graph, style=style, client=small)
        assert found.level.equals(dgsuite.run("bfs", here, style="serial").level)
        assert on_disk(small) > 300_000
    same(graph, here)
