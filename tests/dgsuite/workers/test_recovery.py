"""Graphs and runs survive the loss of a worker: what comes back has the same bits."""

import os
import signal

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed.client import FutureCancelledError

import dgsuite
from dgsuite import Graph, InputError, RunError, genval
from dgsuite.genval.families import plan
from dgsuite.partition.client.workers import worker_addresses
from dgsuite.partition.labels.held_labels import HeldLabels
from dgsuite.partition.sources.edges import Pieces
from tests.support.clusters import COME_BACK
from tests.support.graphs import same
from tests.support.patience import PATIENCE, until

N = 400


@pytest.fixture
def trio(three):
    three.wait_for_workers(3, timeout=COME_BACK)
    return three


def known(dask_scheduler):
    return [*dask_scheduler.workers]


def kill(client, rank, graph=None):
    """Kill a worker, and wait until scheduler and client know, or until its clusters are on others."""
    address = worker_addresses(client)[rank]
    pid = client.run(os.getpid, workers=[address])[address]
    held = client.who_has()
    os.kill(pid, signal.SIGKILL)
    until(lambda: address not in client.run_on_scheduler(known))
    for part in () if graph is None else graph._parts:
        if held.get(part.key) == (address,):
            # the scheduler may have forgotten the key before the client is told
            until(lambda p=part: p.status != "finished" or client.who_has().get(p.key))


def generated(client, **options):
    """A graph that workers generate, however small."""
    made = plan("er", N, seed=5)
    pieces = Pieces.of(made.edges, np.linspace(0, made.items, 4, dtype=int).tolist())
    given = {"n": N, "uid": made.uid, "clusters": 6, "client": client, "attrs": {"root": 0}}
    return Graph.from_edges(pieces, **{**given, **options})


def made(client, how, folder):
    """A graph on the workers, by what it is made of, and the same graph in this process."""
    here = genval.graph("er", N, seed=5, clusters=6, client=None)
    if how == "generator":
        return generated(client), here
    if how == "saved":
        there = here.persist(client)
        there.save(folder / "graph")
        return there, here
    if how == "loaded":
        here.save(folder / "graph")
        return Graph.load(folder / "graph", client=client), here
    if how == "another graph":
        return generated(client, directed=True).reversed().to_undirected().repartition(5), here
    raise AssertionError(how)


HOWS = ["generator", "saved", "loaded", "another graph"]


@pytest.mark.few(1)
@pytest.mark.parametrize("how", HOWS)
def test_a_graph_comes_back(trio, how, tmp_path):
    """After each of two losses; whatever needs its clusters next makes them again."""
    graph, here = made(trio, how, tmp_path)
    assert graph.recoverable
    assert "recoverable" not in repr(graph)
    for rank in (1, 0):
        kill(trio, rank, graph)
        same(graph, here)
        trio.wait_for_workers(3, timeout=COME_BACK)


@pytest.mark.few(1)
@pytest.mark.parametrize("rank", [0, 2])
def test_labels_on_workers_come_back(trio, rank):
    """Results after the loss have the identifiers that they had before."""
    ends = np.random.default_rng(3).integers(0, 90, (2, 300))
    names = np.array([f"user {i:02}" for i in range(90)], object)
    table = pd.DataFrame({"source": names[ends[0]], "target": names[ends[1]]})
    edges = dd.from_pandas(table, npartitions=3)
    with dask.config.set({"dgsuite.gather-limit": 0}):
        graph = Graph.from_dataframe(edges, clusters=3, client=trio)
        assert isinstance(graph.labels, HeldLabels)
        before = ranks(graph, trio)
        kill(trio, rank, graph)
        pd.testing.assert_frame_equal(ranks(graph, trio), before)


def ranks(graph, client):
    """PageRank by identifier, from the workers."""
    ds = dgsuite.run("pagerank", graph, client=client)
    table = client.compute(dgsuite.to_dataframe(ds)).result(timeout=PATIENCE)
    return table.sort_values("node").reset_index(drop=True)


@pytest.mark.parametrize("style", ["clocked", "finish_async", "serial"])
def test_a_graph_that_cannot_come_back_says_so(trio, style):
    """When it is made, and after the loss what to call."""
    graph = genval.graph("er", N, client=None, clusters=6).persist(trio)
    assert not graph.recoverable
    assert repr(graph).endswith("6 clusters on the workers, not recoverable>")
    kill(trio, 2, graph)
    advice = r"cluster \d of the graph was lost .* build the graph again; one that was saved"
    with pytest.raises(RunError, match=advice):
        dgsuite.run("mis", graph, style=style, client=trio)


@pytest.mark.few(1)
@pytest.mark.parametrize("how", HOWS[::-1])
def test_an_array_made_before_a_loss(trio, how, tmp_path):
    """Dask makes it again, or says that it cannot; one that is made afterwards has what comes back."""
    graph, here = made(trio, how, tmp_path)
    before, expected = graph.degree, here.degree.compute()
    kill(trio, 1, graph)
    if how == "saved":  # sent by the client
        with pytest.raises(FutureCancelledError, match="lost dependencies"):
            before.compute(scheduler=trio)
    else:
        np.testing.assert_array_equal(before.compute(scheduler=trio), expected)
    np.testing.assert_array_equal(graph.degree.compute(scheduler=trio), expected)


def test_files_that_have_changed_are_not_taken_for_the_graph(trio, tmp_path):
    graph = genval.graph("er", N, client=None, clusters=6).persist(trio)
    graph.save(tmp_path / "graph")
    genval.graph("ring", N, client=None, clusters=6).save(tmp_path / "graph")
    kill(trio, 2, graph)
    with pytest.raises(RunError, match=r"lost with its worker, from what was saved: .*no such"):
        graph.gather()


def test_tasks_of_users_stay_where_they_are_tied(trio):
    """Also those with names such as our own, of a user who ties them to a worker that is lost."""
    graph = generated(trio)
    place = worker_addresses(trio)[1]
    mine = trio.submit(abs, -1, key="graph_mine-1", workers=[place])
    assert mine.result() == 1
    kill(trio, 1, graph)
    graph.gather()

    def ties(dask_scheduler):
        return {str(k): t.worker_restrictions for k, t in dask_scheduler.tasks.items()}

    found = trio.run_on_scheduler(ties)
    assert found["graph_mine-1"] == {place}
    assert not any(found[part.key] == {place} for part in graph._parts)


def test_clusters_move_to_workers_that_join(trio):
    """A graph of one worker's clusters is on all workers once it has been used."""
    homes = worker_addresses(trio)
    here = genval.graph("er", N, clusters=6, client=None)
    graph = here.like([trio.scatter(part, workers=homes[:1]) for part in here.parts], here.entries)
    dgsuite.run("mis", graph, style="clocked", client=trio)
    held = trio.who_has(graph.parts)
    assert [held[part.key][0] for part in graph.parts] == [homes[k // 2] for k in range(6)]


def test_tries_are_a_number(client, ring):
    with (
        dask.config.set({"dgsuite.recovery.tries": -1}),
        pytest.raises(InputError, match="tries must be a whole number from 0 on, got -1"),
    ):
        dgsuite.run("mis", ring, style="clocked", client=client)
