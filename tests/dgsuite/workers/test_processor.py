"""Processors of a run's tasks, and Dask's clocks on workers whose tasks share one."""

from __future__ import annotations

import os

import pytest

from dgsuite.core.workers.processor import LocalRank, bound, own_processors

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
    local = LocalRank(0, [frozenset(range(processors))] * tasks)
    assert (local.is_oversubscribed, local.is_even) == (shared, even)
    assert local.is_apart == (tasks == 1)


@pytest.mark.parametrize(
    ("allowed", "shared", "apart"),
    [
        ([{0}, {1}], False, True),
        ([{0, 1}, {2, 3}], False, True),
        ([{0}, {0}], True, False),
        ([{0}, {0, 1}], False, False),
        ([{0}, {0}, {0, 1}], True, False),
        ([{0}, set()], True, False),
    ],
)
def test_tasks_that_a_launcher_has_bound(allowed, shared, apart):
    """They stay where they are, and share no processor because each has one alone."""
    local = LocalRank(0, [*map(frozenset, allowed)])
    assert (local.is_oversubscribed, local.is_apart) == (shared, apart)
    if len({*local.allowed}) > 1:
        with bound(local, "1") as alone:
            assert alone == apart


@linux
def test_a_local_rank_is_among_the_tasks_of_the_host():
    allowed = {rank: frozenset([rank]) for rank in range(5)}
    local = LocalRank.of([HERE, ELSEWHERE, HERE, ELSEWHERE, HERE], 2, allowed)
    assert (local.rank, local.size) == (1, 3)
    assert local.processors == [0, 2, 4]
    assert own_processors() == os.sched_getaffinity(0)


@linux
def test_tasks_are_bound_to_processors_in_turn():
    allowed = sorted(os.sched_getaffinity(0))
    found = []
    for index in range(2 * len(allowed)):
        with bound(LocalRank(index, [frozenset(allowed)] * 2 * len(allowed)), "1") as alone:
            found += os.sched_getaffinity(0)
            assert not alone
        assert sorted(os.sched_getaffinity(0)) == allowed
    assert sorted(found) == sorted([*allowed, *allowed])
    with bound(LocalRank(0, [frozenset(allowed)]), "1"):
        assert sorted(os.sched_getaffinity(0)) == allowed
