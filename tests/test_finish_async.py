"""Style finish_async: what a phase costs the scheduler, and which workers compute."""

from __future__ import annotations

from contextlib import contextmanager

import networkx as nx
import pytest
from conftest import client_of
from distributed import SchedulerPlugin
from toys import EmptyInbox, Meets

import dgsuite
from dgsuite.executors.finish_async import covered


class Counts(SchedulerPlugin):
    """The tasks of phases that graphs bring to a scheduler, and what each depends on."""

    name = "counts"

    def __init__(self):
        self.tasks = {}

    def update_graph(self, scheduler, *, tasks, **kwargs):
        mine = [key for key in tasks if key.startswith("toy-read")]
        self.tasks |= {key: len(scheduler.tasks[key].dependencies) for key in mine}


@contextmanager
def counting(client):
    scheduler, counts = client.cluster.scheduler, Counts()

    async def on_the_loop(function, argument):
        function(argument)

    client.sync(on_the_loop, scheduler.add_plugin, counts)
    yield counts
    client.sync(on_the_loop, scheduler.remove_plugin, counts.name)


@pytest.mark.parametrize(
    ("clusters", "tasks", "dependencies"),
    [(2, 2, 4), (3, 1 + 4, 2 + 2 + 2 + 2), (64, 64 + 4, 2 * 64 + 4), (512, 512 + 4, 2 * 512 + 4)],
)
def test_a_phase_costs_the_scheduler_what_there_is_to_do(client, clusters, tasks, dependencies):
    """Tasks and dependencies are linear in clusters; only workers meet all workers."""
    ring = dgsuite.Graph.from_networkx(nx.cycle_graph(512), clusters=clusters)
    with counting(client) as counts:
        ds = dgsuite.run(EmptyInbox(), ring, style="finish_async", client=client)
    assert (ds.got == 2).all()
    assert len(counts.tasks) == 3 * tasks
    assert sum(counts.tasks.values()) == 3 * dependencies - 4  # the first phase gets nothing


def test_clusters_of_a_worker_share_its_threads():
    """Each phase of a cluster waits until another cluster's is there."""
    graph = dgsuite.Graph.from_networkx(nx.cycle_graph(8), clusters=4)
    with client_of(1, threads=2, set_as_default=False) as client:
        found = dgsuite.run(Meets(), graph, style="finish_async", client=client)
    assert (found.got == 1).all()


def test_spans_are_joined():
    assert covered([]) == 0
    assert covered([(3, 4), (0, 2), (1, 2.5), (1, 1.5)]) == 3.5
