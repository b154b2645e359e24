"""Processors of a run's tasks, and Dask's clocks on workers whose tasks share one."""

from __future__ import annotations

import os

import numpy as np
import pytest

import dgsuite
from dgsuite.workers.processor import LocalRank, bound
from dgsuite.workers.quiet import SLOW, slowed
from partition.client.workers import worker_addresses
from tests.support.clusters import client_of
from tests.support.toys import Clocks

HERE, ELSEWHERE = "tcp://10.0.0.1:1", "tcp://10.0.0.2:1"

linux = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="binds no threads here")


@pytest.mark.parametrize(
    ("tasks", "processors", "shared", "even"),
    [
        (1, 2, False, True),
        (2, 2, False, True),
        (3, 2, True, False),
        (4, 2, True, True),
        (3, 4, False, True),
        (2, 0, False, False),
    ],
)
def test_how_tasks_share_processors(tasks, processors, shared, even):
    local = LocalRank(0, tasks, range(processors))
    assert (local.is_oversubscribed, local.is_even) == (shared, even)


@linux
def test_a_local_rank_is_among_the_tasks_of_the_host():
    local = LocalRank.of([HERE, ELSEWHERE, HERE, ELSEWHERE, HERE], 2)
    assert (local.rank, local.size) == (1, 3)
    assert local.processors == sorted(os.sched_getaffinity(0))


@linux
def test_tasks_are_bound_to_processors_in_turn():
    allowed = sorted(os.sched_getaffinity(0))
    found = []
    for index in range(2 * len(allowed)):
        with bound(LocalRank(index, 2 * len(allowed), allowed), "1") as alone:
            found += os.sched_getaffinity(0)
            assert not alone
        assert sorted(os.sched_getaffinity(0)) == allowed
    assert sorted(found) == sorted([*allowed, *allowed])
    with bound(LocalRank(0, 1, allowed), "1"):
        assert sorted(os.sched_getaffinity(0)) == allowed


def paces(dask_worker):
    """On a worker: milliseconds between its ticks, and between samples of its profile."""
    return [dask_worker.periodic_callbacks[name].callback_time for name in ("tick", "profile")]


def paces_within(dask_worker):
    """The same while its clocks are slowed."""
    with slowed(dask_worker):
        return paces(dask_worker)


@linux
def test_clocks_are_slowed_while_tasks_share_a_processor():
    """And not otherwise; afterwards they are as before."""
    graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    before = [20, 10]
    clocks = {
        "distributed.admin.tick.interval": "20ms",
        "distributed.worker.profile.interval": "10ms",
    }
    with client_of(2, clocks, set_as_default=False) as client:
        assert [*client.run(paces).values()] == [before, before]
        assert [*client.run(paces_within).values()] == [[SLOW, SLOW]] * 2
        for processors in ({*os.sched_getaffinity(0)}, {min(os.sched_getaffinity(0))}):
            for worker in worker_addresses(client):  # of the thread of its tasks
                client.submit(
                    os.sched_setaffinity, 0, processors, workers=[worker], pure=False
                ).result()
            ds = dgsuite.run(Clocks, graph, style="clocked", client=client)
            slow = len(processors) < 2
            np.testing.assert_array_equal(ds.tick, SLOW if slow else before[0])
            np.testing.assert_array_equal(ds.profile, SLOW if slow else before[1])
            assert [*client.run(paces).values()] == [before, before]
    clocks["dgsuite.transports.quiet"] = False
    with client_of(2, clocks, set_as_default=False) as client:
        assert [*client.run(paces_within).values()] == [before, before]
