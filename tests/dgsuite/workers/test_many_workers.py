"""More workers than a few: votes go by a tree, comms are opened as they are needed, meshes are kept."""

import os

import dask
import networkx as nx
import numpy as np
import pytest

import dgsuite
from dgsuite.core.engine.collectives import MAX_ALL_TO_ALL, partners
from dgsuite.core.executors import finish_async
from dgsuite.core.workers import part, placement
from dgsuite.core.workers.plugin import install
from dgsuite.partition.client.workers import worker_addresses
from dgsuite.partition.graph.graph import Graph
from tests.support.clusters import assert_nothing_held, client_of, killed
from tests.support.faulty import Fails, Sleeps
from tests.support.patience import until

WORKERS = 5


@pytest.fixture(scope="module")
def many():
    """A client of more than a few worker processes; others come in place of those that a test kills."""
    assert WORKERS > MAX_ALL_TO_ALL
    with client_of(WORKERS, {"distributed.deploy.lost-worker-timeout": "5 minutes"}, 1, False) as c:
        install(c)
        yield c


@pytest.fixture
def ring():
    return Graph.from_networkx(nx.cycle_graph(60), client=None, clusters=WORKERS)


def meshes(dask_worker):
    """On a worker: of each mesh that is kept, the peers that it is joined to, and the comms' addresses."""
    own = dask_worker.plugins["dgsuite"].meshes._kept
    return [(sorted(m.comms), [c.local_address for c in m.comms.values()]) for m, _ in own.values()]


def set_ports():
    """On a worker: have comms listen at some ports."""
    dask.config.set({"dgsuite.clocked.port": "20000:40000"})


def forget(dask_worker):
    """On a worker: close the meshes that are kept."""
    dask_worker.plugins["dgsuite"].meshes.close()


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["lcr", "pagerank", "mst", "mis", "bf", "dr", "louvain"])
def test_many_workers_find_the_same(many, name, ring):
    graph = ring
    if name != "lcr":
        made = nx.connected_watts_strogatz_graph(90, 4, 0.3, seed=3)
        for number, edge in enumerate(made.edges):
            made.edges[edge]["weight"] = (number * 7919) % 104729
        graph = Graph.from_networkx(made, client=None, clusters=2 * WORKERS)
    expected = dgsuite.run(name, graph, style="serial")
    found = dgsuite.run(name, graph, style="clocked", client=many)
    for variable in [v for v in expected if "node" in expected[v].dims] + ["messages", "bytes"]:
        np.testing.assert_array_equal(found[variable].values, expected[variable].values)


def test_bundles_of_many_workers_are_relayed(many, ring, monkeypatch):
    """Of five workers, three and two form a group: 3 + 2 to the relays, 2 x 2 between them, 5 from them."""
    graph = Graph.from_networkx(nx.random_labeled_tree(40, seed=2), client=None, clusters=WORKERS)
    found = [dgsuite.run("mis", graph, style="finish_async", client=many)]
    sent = []
    send = placement.send
    monkeypatch.setattr(finish_async, "DIRECT", 4)
    monkeypatch.setattr(placement, "send", lambda *how: sent.append(how[1]) or send(*how))
    found.append(dgsuite.run("mis", graph, style="finish_async", client=many))
    assert np.array_equal(*(ds.in_mis.values for ds in found))
    assert found[1].wire_bytes.sum() < found[0].wire_bytes.sum()
    tasks = [task for graph in sent for task in graph.values()]
    relays = [task for task in tasks if task[0] is part.relay]
    phases = [task for task in tasks if task[0] is part.phase]
    exchanges = len(relays) // 4
    assert len(phases) == WORKERS * (exchanges + 1)
    heard = sum(len(task[-1]) for task in (*phases, *relays))
    assert heard == exchanges * (WORKERS + 2 * 2 + WORKERS)


@pytest.mark.parametrize("style", ["clocked", "finish_async"])
def test_tasks_that_spawn_tasks_find_the_same(many, ring, style):
    expected = dgsuite.run("bf", ring, form="recursive", style="serial")
    found = dgsuite.run("bf", ring, form="recursive", style=style, client=many)
    np.testing.assert_array_equal(found.distance.values, expected.distance.values)


def test_who_has_nothing_for_each_other_is_not_joined(many, ring):
    """On a ring workers are joined to their neighbours, and to their partners in the collective."""
    many.run(forget)
    dgsuite.run("lcr", ring, style="clocked", client=many)
    kept = many.run(meshes)
    for rank, place in enumerate(worker_addresses(many)):
        ((peers, _),) = kept[place]
        beside = {(rank - 1) % WORKERS, (rank + 1) % WORKERS}
        assert set(peers) == beside | partners(rank, WORKERS)


@pytest.mark.parametrize("change", [forget, set_ports])
def test_a_mesh_serves_many_runs_and_is_made_anew_where_one_lost_it(many, ring, change):
    """Or where settings have changed on one worker, whose task closes its end."""
    dgsuite.run("lcr", ring, style="clocked", client=many)
    before = many.run(meshes)
    dgsuite.run("lcr", ring, style="clocked", client=many)
    assert many.run(meshes) == before
    place = worker_addresses(many)[3]
    many.run(change, workers=[place])
    again = dgsuite.run("lcr", ring, style="clocked", client=many)
    many.run(dask.config.set, {"dgsuite.clocked.port": None}, workers=[place])
    assert (again.leader == 59).all()
    after = many.run(meshes)
    assert all(len(after[each]) == 1 and after[each] != before[each] for each in before)


def test_a_mesh_is_closed_after_its_time(many, ring):
    many.run(forget)
    with dask.config.set({"dgsuite.clocked.keep": 0}):
        dgsuite.run("lcr", ring, style="clocked", client=many)
    assert not any(many.run(meshes).values())
    with dask.config.set({"dgsuite.clocked.keep": "100ms"}):
        dgsuite.run("lcr", ring, style="clocked", client=many)
    until(lambda: not any(many.run(meshes).values()))


def test_a_run_that_fails_keeps_no_mesh(many, ring):
    dgsuite.run("lcr", ring, style="clocked", client=many)
    with pytest.raises(dgsuite.RunError, match=r"round 3, phase 'send', cluster \d: ZeroDivision"):
        dgsuite.run(Fails(), ring, style="clocked", client=many)
    assert_nothing_held(many)
    assert not any(many.run(meshes).values())
    assert dgsuite.run(Sleeps(), ring, style="clocked", client=many).sizes["round"] == 3


@pytest.mark.few(1)
@pytest.mark.parametrize("rank", [0, 4])
def test_a_killed_worker_is_named(many, ring, rank):
    """At the root of the tree, and at a leaf."""
    how = {"style": "clocked", "client": many}
    dgsuite.run(Sleeps(), ring, **how)
    place = worker_addresses(many)[rank]
    victim = many.run(os.getpid, workers=[place])[place]
    with (
        dask.config.set({"dgsuite.recovery.tries": 0}),
        pytest.raises(dgsuite.RunError, match=rf"worker {place} was lost"),
    ):
        dgsuite.run(Sleeps(rounds=10_000), ring, on_round=lambda rounds: killed(victim), **how)
    until(lambda: len(worker_addresses(many)) == WORKERS)
    assert dgsuite.run(Sleeps(), ring, **how).sizes["round"] == 3
    assert_nothing_held(many)
