"""Task graphs of Task Bench (Slaughter et al. 2020, section 3), and systems that run them.

A task graph has so many columns, one for each worker, and so many steps. A task is a step of a column; it
depends on tasks of the step before, as the pattern says. It gets what they made (16 bytes each: which task
it was), makes sure that it is what the pattern promises, and computes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import common
import dask
import numpy as np
from distributed import Future, wait

PATTERNS: dict[str, Callable[[int, int, int], list[int]]] = {
    "trivial": lambda step, column, width: [],
    "stencil": lambda step, column, width: _within(width, column - 1, column, column + 1),
    "fft": lambda step, column, width: _within(
        width, column - _stride(step, width), column, column + _stride(step, width)
    ),
    "all-to-all": lambda step, column, width: [*range(width)],
}
"""The columns that a task of a step after the first depends on."""


def _within(width: int, *columns: int) -> list[int]:
    return sorted({column for column in columns if 0 <= column < width})


def _stride(step: int, width: int) -> int:
    levels = max((width - 1).bit_length(), 1)
    return 1 << (step - 1) % levels


class TaskGraph(NamedTuple):
    """A task graph, and how much its tasks compute."""

    pattern: str
    width: int
    steps: int
    operations: int
    """Integer operations a task."""

    def senders(self, step: int, column: int) -> list[int]:
        """Columns of the step before that a task depends on, ascending."""
        return PATTERNS[self.pattern](step, column, self.width) if step else []

    def receivers(self, step: int, column: int) -> list[int]:
        """Columns of the next step that depend on a task, ascending."""
        if step + 1 == self.steps:
            return []
        return [c for c in range(self.width) if column in self.senders(step + 1, c)]

    def rows(self, make: Callable[..., Any]) -> list[list[Any]]:
        """The tasks of each step, made from step, column and the tasks that they depend on."""
        rows: list[list[Any]] = []
        for step in range(self.steps):
            rows.append(
                [
                    make(step, column, *(rows[-1][s] for s in self.senders(step, column)))
                    for column in range(self.width)
                ]
            )
        return rows

    def task(self, step: int, column: int, found: Sequence) -> np.ndarray:
        """Do a task.

        Parameters
        ----------
        found
            What the tasks made that it depends on.
        """
        promised = [[step - 1, sender] for sender in self.senders(step, column)]
        if [each.tolist() for each in found] != promised:
            raise AssertionError(f"step {step}, column {column} got {found}, not {promised}")
        compute(self.operations)
        return np.array([step, column])


def compute(operations: int) -> None:
    """Do integer operations on one processor."""
    from dgsuite.core.engine._compiled import spin
    from dgsuite.core.engine.workload import CONSTANTS

    spin(np.uint32(0), *CONSTANTS, operations)


Measure = Callable[[TaskGraph], float]
"""Runs a task graph; returns seconds from the first task to the end, without what starts before: mpiexec, or
the tasks of a clocked run.
"""


@contextmanager
def on_dask(workers: int) -> Iterator[dict[str, Measure]]:
    """The systems that run on a Dask cluster, by name."""
    from kernels_for_benchmarks import TaskBench

    import dgsuite

    with common.cluster(workers) as client:
        nodes = np.arange(workers)
        graph = dgsuite.Graph.from_edges(nodes[:-1], nodes[1:], n=workers, clusters=workers)

        def styled(style: str) -> Measure:
            def measure(tasks: TaskGraph) -> float:
                ds = dgsuite.run(TaskBench(**tasks._asdict()), graph, style=style, client=client)
                assert (ds.done == tasks.steps).all()
                return float(ds.attrs["seconds"])

            return measure

        def submitted(tasks: TaskGraph) -> float:
            def submit(step: int, column: int, *found: Future) -> Future:
                return client.submit(_point, tasks, step, column, *found, pure=False)

            begin = perf_counter()
            done([future for row in tasks.rows(submit) for future in row])
            return perf_counter() - begin

        def delayed(tasks: TaskGraph) -> float:
            begin = perf_counter()
            rows = tasks.rows(partial(dask.delayed(_point, pure=False, traverse=False), tasks))
            ends = [d for row in rows for d in row] if tasks.pattern == "trivial" else rows[-1]
            done(client.compute(ends, optimize_graph=False))
            return perf_counter() - begin

        def done(futures: Sequence[Future]) -> None:
            wait(futures)
            client.gather([*futures[-workers:], *(f for f in futures if f.status != "finished")])

        yield {
            "clocked": styled("clocked"),
            "finish_async": styled("finish_async"),
            "client.submit": submitted,
            "dask.delayed": delayed,
        }


def _point(tasks: TaskGraph, step: int, column: int, *found: np.ndarray) -> np.ndarray:
    return TaskGraph(*tasks).task(step, column, found)


def without_mpi() -> str:
    """Why there is no MPI; empty if there is."""
    from dgsuite.base.errors import InputError
    from dgsuite.studies.transports.mpi import starter

    try:
        starter("mpi4py")
    except InputError as error:
        return str(error)
    return ""


@contextmanager
def on_mpi(workers: int) -> Iterator[dict[str, Measure]]:
    """mpi4py, on processes that mpiexec starts."""
    from dgsuite.studies.transports.mpi import starter

    program = Path(__file__).with_name("task_graphs_mpi.py")
    ranks = subprocess.Popen(
        [starter("mpi4py"), "-n", str(workers), sys.executable, str(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert ranks.stdin is not None
    assert ranks.stdout is not None

    def measure(tasks: TaskGraph) -> float:
        print(json.dumps(tasks), file=ranks.stdin, flush=True)
        return float(ranks.stdout.readline())

    try:
        yield {"mpi4py": measure}
        ranks.stdin.close()
        ranks.wait(30)
    finally:
        ranks.kill()
        ranks.wait()
