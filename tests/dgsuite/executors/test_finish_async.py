"""Style finish_async: what a phase costs the scheduler, and which workers compute."""

from __future__ import annotations

from types import SimpleNamespace

import networkx as nx
import pytest

import dgsuite
from dgsuite.base import thresholds
from dgsuite.core.workers.part import keep
from dgsuite.core.workers.plugin import PeerLost
from tests.support.clusters import client_of, counting
from tests.support.toys import EmptyInbox, Meets


@pytest.mark.parametrize("clusters", [2, 3, 64, 512])
def test_a_phase_costs_the_scheduler_what_there_is_to_do(client, clusters):
    """Tasks and dependencies depend on workers, not on clusters."""
    ring = dgsuite.Graph.from_networkx(nx.cycle_graph(512), clusters=clusters)
    with counting(client) as counts:
        ds = dgsuite.run(EmptyInbox(), ring, style="finish_async", client=client)
    assert (ds.got == 2).all()
    assert len(counts.tasks) == 3 * 2
    assert sum(counts.tasks.values()) == 2 * 4  # the first phase gets nothing


def test_a_checkpoint_is_of_the_phase_that_was_packed_last(monkeypatch):
    """A task that comes late, for a phase that is past, writes nothing."""
    written = []
    part = SimpleNamespace(done=3, kept=SimpleNamespace(write=lambda: written.append(3)))
    monkeypatch.setattr("dgsuite.core.workers.part._part", lambda run_id: part)
    monkeypatch.setattr(
        "dgsuite.core.workers.part.get_worker", lambda: SimpleNamespace(address="tcp://w")
    )
    with pytest.raises(PeerLost, match="worker tcp://w is past phase 2"):
        keep("run", 2, "bundle")
    assert not written
    assert keep("run", 3, "bundle") == "bundle"
    assert written == [3]


def pool_all():
    """Have clusters of any size share threads."""
    thresholds.pool_from = -1


def test_clusters_of_a_worker_share_its_threads():
    """Each phase of a cluster waits until another cluster's is there."""
    graph = dgsuite.Graph.from_networkx(nx.cycle_graph(8), clusters=4)
    with client_of(1, threads=2, set_as_default=False) as client:
        client.run(pool_all)
        for style in ("finish_async", "clocked"):
            found = dgsuite.run(Meets(), graph, style=style, client=client)
            assert (found.got == 1).all()
