"""Style finish_async: what a phase costs the scheduler, and which workers compute."""

from __future__ import annotations

import networkx as nx
import pytest

import dgsuite
from dgsuite.base import thresholds
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


def test_it_has_no_checkpoints(client, ring, tmp_path):
    with pytest.raises(dgsuite.InputError, match="'finish_async' has no checkpoints"):
        dgsuite.run("mis", ring, style="finish_async", client=client, checkpoint=tmp_path)


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
