"""Outputs that stay on the workers, and outputs as dataframes."""

import os
import signal
import uuid

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
from distributed import futures_of

import dgsuite
from dgsuite import Graph, InputError, WorkerLost, genval
from dgsuite.partition.client.settings import GATHER, gathered
from dgsuite.partition.client.workers import worker_addresses
from dgsuite.partition.clusters.partitioners import Partition
from tests.support.patience import until

RNG = np.random.default_rng(4)
ENDS = np.concatenate([RNG.integers(0, 200, (2, 300)), [np.arange(199), np.arange(1, 200)]], axis=1)
LABELS = {"none": None, "text": [f"user {i}" for i in range(200)]}
LABELS["uuid"] = [uuid.UUID(int=i) for i in range(200)]


@pytest.fixture(autouse=True)
def current(client):
    """Collections are computed by the client of these tests, also where other tests have made more."""
    with client.as_current():
        yield


@pytest.fixture
def lazily():
    """All outputs stay on the workers."""
    with dask.config.set({GATHER: 0}):
        yield


def graph_of(client, labels="none", **options):
    graph = Graph.from_edges(*ENDS, n=200, clusters=3, labels=LABELS[labels], **options)
    return graph.persist(client)


STAYS = [("clocked", "uuid"), ("finish_async", "text"), ("clocked", "none"), ("clocked", "text")]
STAYS += [("in_turn", "none"), ("recursive", "text")]


@pytest.mark.few(1)
@pytest.mark.parametrize(("style", "labels"), STAYS)
def test_what_stays_is_what_would_be_gathered(client, tmp_path, lazily, labels, style):
    graph = graph_of(client, labels)
    how = {"style": style, "client": client}
    kernel = "bfs"
    if style == "recursive":
        kernel, how = "dst", {"form": "recursive", "style": "clocked", "client": client}
    held = dgsuite.run(kernel, graph, **how)
    with gathered():
        here = dgsuite.run(kernel, graph, **how)
    names = [name for name, values in here.data_vars.items() if values.dims == ("node",)]
    assert "parent" in names
    for name in names:
        assert here[name].chunks is None
        assert held[name].chunks == ((66, 67, 67),)
        assert held[name].dtype == here[name].dtype
        assert held[name].compute().identical(here[name])
    assert held.messages.identical(here.messages)
    node = here.node.values[123]
    assert held.parent.sel(node=node).values == here.parent.sel(node=node).values
    assert genval.validate(kernel, graph, held).ok
    dgsuite.save(held, tmp_path / "held.nc")
    assert dgsuite.open(tmp_path / "held.nc").parent.identical(here.parent)
    frame = dgsuite.to_dataframe(held)
    assert frame.npartitions == 3
    pd.testing.assert_frame_equal(frame.compute(), dgsuite.to_dataframe(here).compute())


def test_what_is_gathered(client):
    graph = graph_of(client)
    hashed = graph_of(client, partition="hash")
    how = {"style": "clocked", "client": client}
    size = 200 * (4 + 4)  # level and parent
    for limit, lazy in ((size - 1, True), (size, False), ("1 MiB", False), (None, False)):
        with dask.config.set({GATHER: limit}):
            found = [dgsuite.run("bfs", each, **how).level for each in (graph, hashed)]
            assert [each.chunks is not None for each in found] == [lazy, lazy]
            assert found[0].compute().identical(found[1].compute())


def test_outputs_of_other_clusters_of_a_graph(client, lazily):
    """They come in the order of nodes by their own partition, not by that of the first run."""
    graph = Graph.from_edges(*ENDS, n=200, clusters=2, partition="hash", client=None)
    expected = dgsuite.run("bfs", graph, style="serial").level.values.tolist()
    first, second, end = graph.partition.offsets.tolist()
    halves = Partition(np.array([first, second // 2, second, end]), graph.partition.order)
    for cut in (graph, graph.recut(halves), graph):
        ds = dgsuite.run("bfs", cut, style="clocked", client=client)
        assert ds.level.values.tolist() == expected


def test_runs_in_the_same_tasks(client, lazily):
    graph = graph_of(client)
    roots = [3, 77, 150]
    each = [{"root": root} for root in roots]
    found = dgsuite.run_each("bfs", graph, each, style="clocked", client=client)
    for root, ds in zip(roots, found, strict=True):
        alone = dgsuite.run("bfs", graph, root=root, style="serial")
        assert ds.level.compute().identical(alone.level)


def test_results_are_let_go_with_the_dataset(client, lazily):
    ds = dgsuite.run("mis", graph_of(client), style="clocked", client=client)
    (key,) = {k for k in map(str, client.futures) if "mis-clocked" in k and k.endswith("-0")}
    state = lambda dask_scheduler: key in dask_scheduler.tasks  # noqa: E731
    assert client.run_on_scheduler(state)
    assert int(ds.in_mis.sum()) > 0
    del ds
    until(lambda: not client.run_on_scheduler(state))


def test_results_lost_with_a_worker_are_an_error(own_client, lazily):
    """It says what was lost and what to do, whatever needs it. The tasks of the run were tied to workers, so
    Dask would wait for ever before it ran one again.
    """
    src, dst = (da.from_array(ends, chunks=300) for ends in ENDS)
    graph = Graph.from_edges(src, dst, n=200, client=own_client)
    ds = dgsuite.run("mis", graph, style="clocked", client=own_client)
    ((worker, *_),) = own_client.who_has(futures_of(ds.in_mis.data)[:1]).values()
    os.kill(own_client.run(os.getpid, workers=[worker])[worker], signal.SIGKILL)
    until(lambda: worker not in worker_addresses(own_client))
    for need in (ds.compute, lambda **at: ds.in_mis.sum().compute(**at), ds.in_mis.load):
        with pytest.raises(WorkerLost, match="outputs of this run were lost with worker") as error:
            need(scheduler=own_client)
        assert error.value.worker == worker
        assert "run the kernel again. ds.load()" in str(error.value)
    again = dgsuite.run("mis", graph, style="clocked", client=own_client)
    expected = dgsuite.run("mis", graph.compute(), style="serial")
    np.testing.assert_array_equal(again.in_mis.compute(scheduler=own_client), expected.in_mis)


def test_a_client_that_is_not_the_default(own_client, tmp_path, lazily):
    graph = graph_of(own_client, "text")
    ds = dgsuite.run("bfs", graph, style="clocked", client=own_client)
    assert genval.validate("bfs", graph, ds).ok
    dgsuite.save(ds, tmp_path / "ds.nc")
    expected = dgsuite.run("bfs", graph.compute(), style="serial")
    assert dgsuite.open(tmp_path / "ds.nc").parent.identical(expected.parent)
    frame = dgsuite.to_dataframe(ds).compute(scheduler=own_client)
    assert frame.parent.tolist() == expected.parent.values.tolist()


def test_a_dataframe_of_what_is_here(client, monkeypatch):
    graph = Graph.from_edges(*ENDS, n=200, clusters=4, labels=LABELS["uuid"])
    ds = dgsuite.run("bfs", graph, style="serial")
    expected = {"node": list(map(str, LABELS["uuid"])), "level": ds.level.values.tolist()}
    for most in (1 << 20, 0):  # with the tasks, or sent before
        monkeypatch.setattr("dgsuite.core.results.dataframe.EMBED", most)
        frame = dgsuite.to_dataframe(ds, ["level"])
        assert frame.npartitions == 4
        assert list(frame.columns) == ["node", "level"]
        found = frame.compute()
        assert found.index.tolist() == list(range(200))
        assert {name: found[name].tolist() for name in found} == expected
    with dask.config.set({"dataframe.convert-string": False}):
        assert dgsuite.to_dataframe(ds).node.compute().tolist() == LABELS["uuid"]
    some = dgsuite.to_dataframe(ds.isel(node=slice(5, 9)))
    assert some.npartitions == 1
    assert some.compute().node.tolist() == expected["node"][5:9]


WRONG = [
    (lambda ds: dgsuite.to_dataframe(ds, ["levels"]), "'levels'; did you mean 'level'"),
    (lambda ds: dgsuite.to_dataframe(ds, ["messages"]), "unknown output by node 'messages'"),
    (lambda ds: dgsuite.to_dataframe(ds.drop_dims("node")), "has no coordinate 'node'"),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_what_is_no_dataframe(call, message):
    ds = dgsuite.run("bfs", Graph.from_edges(*ENDS), style="serial")
    with pytest.raises(InputError, match=message):
        call(ds)
