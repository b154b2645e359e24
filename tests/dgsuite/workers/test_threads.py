"""What threads share: those of a worker that run several tasks, and those of a client that begin runs."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
from distributed import Client

import dgsuite
from dgsuite import genval
from dgsuite.__main__ import main
from dgsuite.core.workers.plugin import reports
from dgsuite.kernels import KERNELS as ALL
from dgsuite.partition.client.session import Session
from dgsuite.studies.experiment.clusters import local
from tests.support.clusters import assert_nothing_held, client_of
from tests.support.patience import PATIENCE

KERNELS = {"matching": "mate", "mis": "in_mis", "random_walks": "walk"}


@pytest.fixture(scope="module", params=[(2, 2), (1, 4)], ids=["2 x 2", "1 x 4"])
def threaded(request):
    """A client of workers that have several threads each."""
    workers, threads = request.param
    with client_of(workers, threads=threads, set_as_default=False) as client:
        yield client


@pytest.mark.few(1)
@pytest.mark.parametrize("style", ["clocked", "finish_async"])
def test_runs_of_several_threads_of_a_client(threaded, style):
    """At once, with several clusters a worker: each gets its own results."""
    graphs = [genval.graph("er", 400, m=1200, seed=s, clusters=8, client=None) for s in (1, 2)]
    graphs[1] = graphs[1].persist(threaded)
    serial = {
        (kernel, k): dgsuite.run(kernel, graph, style="serial", seed=3)
        for kernel in KERNELS
        for k, graph in enumerate(graphs)
    }
    begin = threading.Barrier(len(serial))

    def one(kernel, k):
        begin.wait(PATIENCE)
        for _ in range(2):
            ds = dgsuite.run(kernel, graphs[k], style=style, seed=3, client=threaded)
            np.testing.assert_array_equal(ds[KERNELS[kernel]], serial[kernel, k][KERNELS[kernel]])
            np.testing.assert_array_equal(ds.messages, serial[kernel, k].messages)

    with ThreadPoolExecutor(len(serial)) as pool:
        for done in [pool.submit(one, *case) for case in serial]:
            done.result()
    assert_nothing_held(threaded)


def test_threads_of_a_client_hear_of_their_runs_by_one_table():
    """Also where both ask for it first."""
    tables = []
    second = threading.Thread(target=lambda: tables.append(reports(client)[1]))

    def subscribe_topic(topic, handler):
        if second.ident is None:
            second.start()
            second.join(0.2)  # as far as it gets meanwhile

    client = SimpleNamespace(id="Client-1", subscribe_topic=subscribe_topic)
    tables.append(reports(client)[1])
    second.join(PATIENCE)
    assert tables[0] is tables[1]


CLIENTS = 10
RUNS = [("mis", None, "clocked"), ("mis", None, "finish_async"), ("dst", "recursive", "clocked")]


@pytest.mark.long
def test_ten_clients_at_once():
    """Each has a graph on the workers of its own; runs that need all workers take turns."""

    def one(number):
        here = genval.graph("er", 60, seed=number, clusters=4, client=None)
        found = []
        with Client(four.scheduler.address, set_as_default=False) as client:
            graph = here.persist(client)
            for turn in range(2):
                kernel, form, style = RUNS[(number + turn) % len(RUNS)]
                ds = dgsuite.run(kernel, graph, form=form, style=style, seed=number, client=client)
                same = dgsuite.run(kernel, here, form=form, style="serial", seed=number)
                name = "in_mis" if kernel == "mis" else "distance"
                found.append(np.array_equal(ds[name], same[name]))
        return found

    with client_of(4, set_as_default=False) as four, ThreadPoolExecutor(CLIENTS) as pool:
        assert [*pool.map(one, range(CLIENTS))] == [[True] * 2] * CLIENTS


@pytest.fixture
def threads(monkeypatch):
    """Threads of each worker that commands have started."""
    seen = []

    @contextmanager
    def counted(*given):
        with local(*given) as client:
            seen.extend(state["nthreads"] for state in Session.of(client).workers().values())
            yield client

    for module in ("clusters", "sweep"):
        monkeypatch.setattr(f"dgsuite.studies.experiment.{module}.local", counted)
    return seen


def outputs_of(done, name):
    """The outputs and the messages in the file that a command names last."""
    assert done.returncode == 0, done.stderr
    path = next(line for line in done.stdout.splitlines()[::-1] if line.endswith(".nc"))
    ds = dgsuite.open(path)
    return {output: ds[output].values for output in (*ALL[name].outputs, "messages")}


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["sssp", "mis", "pagerank", "wcc"])
def test_a_kernel_on_workers_of_several_threads(here, threads, name):
    given = ["er", "--n", 40_000, "--m", 160_000, "--clusters", 8]
    given += ["--style", "clocked", "--workers", 1, "--threads"]
    one, four = (outputs_of(here(main, "kernel", name, *given, t), name) for t in (1, 4))
    for output, values in four.items():
        np.testing.assert_array_equal(one[output], values)
    assert threads == [1, 4]
