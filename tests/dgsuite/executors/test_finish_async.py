"""Style finish_async: what a phase costs the scheduler, and which workers compute."""

from __future__ import annotations

import threading
from collections import deque
from types import SimpleNamespace

import networkx as nx
import pytest

import dgsuite
from dgsuite.base import thresholds
from dgsuite.core.workers.part import Part, compute, covered, keep
from dgsuite.core.workers.plugin import PeerLost
from tests.support.clusters import client_of, counting
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


def test_spans_are_joined():
    assert covered([]) == 0
    assert covered([(3, 4), (0, 2), (1, 2.5), (1, 1.5)]) == 3.5
