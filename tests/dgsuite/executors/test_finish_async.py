"""Style finish_async: what a phase costs the scheduler, and which workers compute."""

from __future__ import annotations

import threading
from collections import deque
from types import SimpleNamespace

import dask
import networkx as nx
import numpy as np
import pytest

import dgsuite
from dgsuite import InputError, RunError
from dgsuite.base import thresholds
from dgsuite.core.executors.task_state import Driver as TaskDriver
from dgsuite.core.executors.task_state import sites
from dgsuite.core.workers.part import Part, compute, covered, keep
from dgsuite.core.workers.plugin import PeerLost
from tests.support.clusters import client_of, counting
from tests.support.faulty import Fails
from tests.support.toys import EmptyInbox, Meets


@pytest.mark.parametrize("clusters", [2, 3, 64, 512])
def test_a_phase_costs_the_scheduler_what_there_is_to_do(client, clusters):
    """Tasks and dependencies depend on workers and their threads, not on clusters."""
    ring = dgsuite.Graph.from_networkx(nx.cycle_graph(512), clusters=clusters)
    with counting(client) as counts:
        ds = dgsuite.run(EmptyInbox(), ring, style="finish_async", client=client)
    assert (ds.got == 2).all()
    assert len(counts.tasks) == 3 * 2
    assert sum(counts.tasks.values()) == 2 * 4  # the first phase gets nothing


def test_threads_of_a_worker_have_a_task_each():
    """One delivers, one for each thread computes, one packs."""
    ring = dgsuite.Graph.from_networkx(nx.cycle_graph(64), clusters=16)
    with client_of(2, threads=3, set_as_default=False) as client, counting(client) as counts:
        dgsuite.run(EmptyInbox(), ring, style="finish_async", client=client)
    assert len(counts.tasks) == 3 * 2 * (1 + 3 + 1)
    assert sum(counts.tasks.values()) == 3 * 2 * (3 + 3) + 2 * 4


@pytest.mark.parametrize(
    ("homes", "nexts"), [("ab", [1, 0]), ("abc", [1, 2, 0]), ("aabbc", [2, 2, 4, 4, 0])]
)
def test_a_site_is_copied_to_the_next_on_another_worker(homes, nexts):
    places = [SimpleNamespace(me=me) for me in range(len(homes))]
    run = SimpleNamespace(homes=homes, places=places, key="{}-{}-{}".format)
    graphs = [{} for _ in homes]
    done = [f"done-{me}" for me in range(len(homes))]
    copies, own = TaskDriver.copy(run, graphs, 5, done)
    for me, there in enumerate(nexts):
        (send,) = graphs[there][copies[me]][1:]
        (back,) = graphs[me][own[me]][1:]
        assert graphs[me][send][1:] == (done[me],)
        assert graphs[there][back][1:] == (copies[me],)


def test_a_checkpoint_is_of_the_phase_that_was_packed_last(monkeypatch):
    """A task that comes late, for a phase that is past, writes nothing."""
    written = []
    part = SimpleNamespace(
        done={("pack", 0): 3}, kept=SimpleNamespace(write=lambda: written.append(3))
    )
    monkeypatch.setattr("dgsuite.core.workers.part._part", lambda run_id: part)
    monkeypatch.setattr(
        "dgsuite.core.workers.part.get_worker", lambda: SimpleNamespace(address="tcp://w")
    )
    with pytest.raises(PeerLost, match="worker tcp://w is past phase 2"):
        keep("run", 2, "bundle")
    assert not written
    assert keep("run", 3, "bundle") == "bundle"
    assert written == [3]


def test_each_cluster_of_a_phase_is_computed_by_one_thread(monkeypatch):
    """Whichever thread takes which."""
    monkeypatch.setattr("dgsuite.core.workers.part._part", lambda run_id: part)
    computed, begin = [], threading.Barrier(4)

    def run(step, k):
        computed.append(k)
        return k

    site = SimpleNamespace(run=run)
    part = Part(site, [], [None] * 500, SimpleNamespace(sends=[]), waiting=deque(range(500)))

    def task(thread):
        begin.wait(10)
        compute("run", 0, None, thread, None)

    threads = [threading.Thread(target=task, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert sorted(computed) == part.results == [*range(500)]
    assert not part.waiting


def pool_all():
    """Have clusters of any size share threads."""
    thresholds.pool_from, thresholds.pool_seconds_from = -1, 0.0


def test_clusters_of_a_worker_share_its_threads():
    """Each phase of a cluster waits until another cluster's is there."""
    graph = dgsuite.Graph.from_networkx(nx.cycle_graph(8), clusters=4)
    with client_of(1, threads=2, set_as_default=False) as client:
        client.run(pool_all)
        for style in ("finish_async", "clocked"):
            found = dgsuite.run(Meets(), graph, style=style, client=client)
            assert (found.got == 1).all()


def in_tasks(state="tasks"):
    return dask.config.set({"dgsuite.finish_async.state": state})


@pytest.mark.parametrize("clusters", [2, 64])
def test_a_phase_with_its_state_in_tasks(client, clusters):
    """Each worker has a task that computes and one for what it packs, however many clusters there are."""
    ring = dgsuite.Graph.from_networkx(nx.cycle_graph(64), clusters=clusters)
    with in_tasks(), counting(client) as counts:
        ds = dgsuite.run(EmptyInbox(), ring, style="finish_async", client=client)
    assert (ds.got == 2).all()
    assert len(counts.tasks) == 3 * 2 * 2
    assert sum(counts.tasks.values()) == 2 * (2 + 4 + 4) + 3 * 2  # the first phase gets nothing


def test_sites_are_those_of_threads_with_clusters():
    workers, bounds = sites(np.array([0, 1, 5, 7]), [4, 3, 1])
    assert workers == [0, 1, 1, 1, 2]
    assert bounds.tolist() == [0, 1, 2, 3, 5, 7]


def test_errors_of_runs_with_state_in_tasks(client, tmp_path):
    """What cannot be in tasks says what to set; and a kernel that fails is named."""
    ring = dgsuite.Graph.from_networkx(nx.cycle_graph(8), clusters=2)
    how = {"style": "finish_async", "client": client}
    other = client.submit(int, "7", key="of another computation")
    with in_tasks("nowhere"), pytest.raises(InputError, match="must be 'workers' or 'tasks', got"):
        dgsuite.run("mis", ring, **how)
    with in_tasks():
        for unfit in ({"form": "recursive"}, {"checkpoint": tmp_path / "folder"}):
            with pytest.raises(InputError, match=r"state is 'tasks'; set it to 'workers', or give"):
                dgsuite.run("bf", ring, **how, **unfit)
        with pytest.raises(RunError, match=r"round 3, phase 'send', cluster 1.*no such luck"):
            dgsuite.run(Fails(), ring, **how)
        assert client.submit(int, "8").result() == 8
        assert other.status == "finished"  # the scheduler has not lost the client


def test_spans_are_joined():
    assert covered([]) == 0
    assert covered([(3, 4), (0, 2), (1, 2.5), (1, 1.5)]) == 3.5
