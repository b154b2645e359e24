"""Task Bench's task graphs: every system does every task, and the smallest tasks are found."""

import sys
from itertools import product

import pytest

from tests.support.paths import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

import metg
from metg import Effort, Point
from task_graphs import PATTERNS, TaskGraph


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("width", [1, 3, 8])
def test_who_depends_and_on_whom_agree(pattern, width):
    tasks = TaskGraph(pattern, width, 6, 0)
    columns, edges, back = range(width), set(), set()
    for step, column in product(range(6), columns):
        back |= {(step + 1, column, receiver) for receiver in tasks.receivers(step, column)}
        if step:
            edges |= {(step, sender, column) for sender in tasks.senders(step, column)}
    assert edges == back


def test_metg_is_where_half_of_the_peak_is_left(monkeypatch):
    """A system that takes 5 ms for each step beside the arithmetic, on two workers and processors."""
    monkeypatch.setattr(metg, "peak", lambda workers, operations: workers * 1e9)
    monkeypatch.setattr(metg, "processors", lambda workers: workers)
    points = metg.curve(
        lambda tasks: tasks.steps * (5e-3 + tasks.operations / 1e9), "stencil", 2, Effort(0.1, 3)
    )
    assert points[0].efficiency >= 0.5 > points[-1].efficiency
    assert metg.metg(points) == pytest.approx(10e-3, rel=0.05)
    assert metg.metg(points[:1]) is None
    points = [Point(4e-3, 0.75, 0, 0, 0, 0), Point(1e-3, 0.25, 0, 0, 0, 0)]
    assert metg.metg(points) == pytest.approx(2e-3)
