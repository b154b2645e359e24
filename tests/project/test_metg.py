"""Task Bench's task graphs: every system does every task, and the smallest tasks are found."""

from __future__ import annotations

import json
import sys

import pytest

from tests.support.paths import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

import metg
import task_graphs
from metg import Effort, Point
from task_graphs import PATTERNS, TaskGraph


@pytest.fixture(scope="module")
def systems():
    with task_graphs.on_dask(2) as offered:
        yield offered


def test_patterns_are_those_of_task_bench():
    def senders(pattern, step, column):
        return TaskGraph(pattern, 8, 9, 0).senders(step, column)

    assert senders("trivial", 3, 5) == senders("all-to-all", 0, 5) == []
    assert senders("stencil", 1, 0) == [0, 1]
    assert senders("stencil", 4, 6) == [5, 6, 7]
    strides = [[4, 5, 6], [3, 5, 7], [1, 5], [4, 5, 6]]
    assert [senders("fft", step, 5) for step in (1, 2, 3, 4)] == strides
    assert senders("all-to-all", 2, 7) == [*range(8)]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("width", [1, 3, 8])
def test_who_depends_and_on_whom_agree(pattern, width):
    tasks = TaskGraph(pattern, width, 6, 0)
    edges = {
        (step, sender, column)
        for step in range(1, 6)
        for column in range(width)
        for sender in tasks.senders(step, column)
    }
    back = {
        (step + 1, column, receiver)
        for step in range(6)
        for column in range(width)
        for receiver in tasks.receivers(step, column)
    }
    assert edges == back


def test_a_task_looks_at_what_it_gets():
    tasks = TaskGraph("stencil", 3, 4, 0)
    before = [tasks.task(0, column, []) for column in range(3)]
    assert tasks.task(1, 1, before).tolist() == [1, 1]
    for wrong in (before[:2], before[::-1], [*before[:2], tasks.task(1, 2, before[1:])]):
        with pytest.raises(AssertionError, match="step 1, column 1"):
            tasks.task(1, 1, wrong)


@pytest.mark.few(1)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_systems_on_dask_do_all_tasks(systems, pattern):
    """Each task checks what it gets, so that a message too few, too many or in another order is an error."""
    assert set(systems) == {*metg.SYSTEMS} - {"mpi4py"}
    for measure in systems.values():
        assert measure(TaskGraph(pattern, 2, 4, 10)) > 0


@pytest.mark.long
@pytest.mark.skipif(task_graphs.without_mpi() != "", reason=task_graphs.without_mpi())
def test_mpi_does_all_tasks():
    with task_graphs.on_mpi(3) as offered:
        for pattern in PATTERNS:
            assert offered["mpi4py"](TaskGraph(pattern, 3, 4, 10)) > 0


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


def test_metg_between_two_points():
    points = [Point(4e-3, 0.75, 0, 0, 0, 0), Point(1e-3, 0.25, 0, 0, 0, 0)]
    assert metg.metg(points) == pytest.approx(2e-3)


def test_figures_and_a_picture_are_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(task_graphs, "without_mpi", lambda: "there is no MPI")
    file = tmp_path / "metg.json"
    metg.main(["--tiny", "--json", str(file), "--systems", "clocked", "dask.delayed", "mpi4py"])
    found = json.loads(file.read_text())
    measured = [row["conditions"] for row in found["rows"] if row["what"] != "METG"]
    assert measured == [
        {"system": system, "pattern": pattern, "workers": 1}
        for system in ("clocked", "dask.delayed")
        for pattern in ("trivial", "fft")
    ]
    assert all(row["detail"][0]["granularity"] > 0 for row in found["rows"] if "detail" in row)
    assert found["skipped"] == {"mpi4py": "there is no MPI"}
    rows = [{"what": "METG", "conditions": on, "value": 2.0} for on in measured]
    drawn = metg.draw(rows, 2)
    assert [panel.get_title() for panel in drawn.axes] == ["trivial", "fft"]
    with pytest.raises(SystemExit):
        metg.main(["--workers", "0"])
    assert "0 is not a number of workers" in capsys.readouterr().err
