"""Processors of a run's tasks, and Dask's clocks on workers whose tasks share one."""

import os

import pytest

from dgsuite.core.workers.processor import bound, of_host, own_processors

HERE, ELSEWHERE = "tcp://10.0.0.1:1", "tcp://10.0.0.2:1"

linux = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="binds no threads here")

APART = [[{0}, {1}], [{0, 1}, {2, 3}]]
NEAR = [[{0}, {0, 1}], [{0}, {0}, {0, 1}], [{0}, set()], [set(), set()], [{0, 1}] * 3, [{0, 1}]]


@pytest.mark.parametrize("allowed", APART + NEAR)
def test_tasks_that_stay_where_they_are(allowed):
    """A launcher has bound them, or the processors of the host do not get as many each."""
    with bound(0, [*map(frozenset, allowed)], "1") as alone:
        assert alone == (allowed in APART)


@linux
def test_a_task_is_among_the_tasks_of_its_host():
    allowed = {rank: frozenset([rank]) for rank in range(5)}
    places = [HERE, ELSEWHERE, HERE, ELSEWHERE, HERE]
    assert of_host(places, 2, allowed) == (1, [{0}, {2}, {4}])
    assert own_processors() == os.sched_getaffinity(0)


@linux
def test_tasks_are_bound_to_processors_in_turn():
    allowed = sorted(os.sched_getaffinity(0))
    found = []
    for index in range(2 * len(allowed)):
        with bound(index, [frozenset(allowed)] * 2 * len(allowed), "1") as alone:
            found += os.sched_getaffinity(0)
            assert not alone
        assert sorted(os.sched_getaffinity(0)) == allowed
    assert sorted(found) == sorted([*allowed, *allowed])
    with bound(0, [frozenset(allowed)], "1"):
        assert sorted(os.sched_getaffinity(0)) == allowed
