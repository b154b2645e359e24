"""METG, the measure of Task Bench (Slaughter et al. 2020, section 4): the smallest tasks with which a system
still gets half of the machine's peak.

python benchmarks/metg.py [--patterns ...] [--systems ...] [--workers ...] [--quick]

The granularity of a task is the time that a processor takes for it, overhead included: wall time times
processors over tasks. Efficiency is the time that threads without any system take for the same arithmetic,
measured just before, over the wall time. Tasks are made shorter until efficiency is below one half; METG is
the granularity at one half. `page.py` draws a picture of it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import psutil
import task_graphs
from common import Options, record, skip
from task_graphs import PATTERNS, Measure, TaskGraph

from dgsuite.core.results.plots import styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SYSTEMS = {
    "clocked": ("#7a3b8f", "o"),
    "finish_async": ("#c8553d", "s"),
    "client.submit": ("#2a6f97", "^"),
    "dask.delayed": ("#5fa8d3", "v"),
    "mpi4py": ("#3a7d44", "D"),
}
"""Color and marker of each system."""


class Effort(NamedTuple):
    """How much is measured."""

    seconds: float = 0.5
    """Of each run, about."""
    repeats: int = 3
    """Runs of each size, of which the median counts."""
    first: int = 1 << 25
    """Operations of a task where the search begins; so many take a millisecond."""
    shortest: int = 1 << 14
    """Operations of the shortest tasks that are tried."""
    longest: int = 1 << 33
    """Operations of the longest."""
    peak: int = 1 << 31
    """Operations of each thread with which the peak is measured."""
    steps: tuple[int, int] = (20, 2000)
    """Steps of a task graph, at least and at most."""


QUICK = Effort(0.2, 1)
TINY = Effort(0.01, 1, 1 << 14, 1 << 14, 1 << 14, 1 << 20, (3, 3))
"""Tasks of one size."""


class Point(NamedTuple):
    """What was measured with tasks of one size."""

    granularity: float
    """Seconds of a processor that a task takes, overhead included."""
    efficiency: float
    operations: int
    """Of a task."""
    steps: int
    processor: float
    """Seconds of processor time of all processes of the system that a task takes."""
    load: float
    """The machine's load average."""


def peak(workers: int, operations: int) -> float:
    """Operations a second of all workers, with nothing but arithmetic: that of threads, which need no Python.

    It is measured again and again, since others may use the machine as well.
    """
    with ThreadPoolExecutor(workers) as pool:
        begin = perf_counter()
        for done in [pool.submit(task_graphs.compute, operations) for _ in range(workers)]:
            done.result()
        return workers * operations / (perf_counter() - begin)


def used() -> float:
    """Seconds of processor time of this process and all that it has started."""
    me = psutil.Process()
    return sum(sum(p.cpu_times()[:2]) for p in (me, *me.children(recursive=True)))


def processors(workers: int) -> int:
    """How many processors some workers can use."""
    return min(workers, len(os.sched_getaffinity(0)))


def measured(run: Measure, tasks: TaskGraph, repeats: int, operations: int) -> Point:
    """What a task graph takes; the median of some runs, each beside what the machine can do just then.

    Parameters
    ----------
    operations
        With which the latter is measured.
    """
    found, count = [], tasks.width * tasks.steps
    for _ in range(repeats):
        ideal = count * tasks.operations / peak(tasks.width, operations)
        before = used()
        seconds = run(tasks)
        found.append(
            Point(
                granularity=seconds * processors(tasks.width) / count,
                efficiency=ideal / seconds,
                operations=tasks.operations,
                steps=tasks.steps,
                processor=(used() - before) / count,
                load=os.getloadavg()[0],
            )
        )
    return sorted(found, key=lambda point: point.efficiency)[repeats // 2]


def curve(run: Measure, pattern: str, workers: int, effort: Effort) -> list[Point]:
    """Points on both sides of one half, from long tasks to short ones; fewer where there is no other side."""
    points: list[Point] = []
    least, most = effort.steps
    start = TaskGraph(pattern, workers, least, effort.first)
    run(start._replace(operations=0))
    step = measured(run, start, 1, effort.peak).granularity * workers / processors(workers)
    operations = effort.first
    while effort.shortest <= operations <= effort.longest:
        steps = min(max(round(effort.seconds / step), least), most)
        tasks = TaskGraph(pattern, workers, steps, operations)
        point = measured(run, tasks, effort.repeats, effort.peak)
        points.append(point)
        good = [p.efficiency >= 0.5 for p in points]
        if any(good) and not all(good):
            break
        step = point.granularity * workers / processors(workers)
        operations = operations // 2 if good[-1] else operations * 2
    return sorted(points, key=lambda point: -point.operations)


def metg(points: Sequence[Point]) -> float | None:
    """The granularity at an efficiency of one half, on a straight line over its logarithm.

    Returns
    -------
    None if the efficiency is on one side of one half everywhere.
    """
    above = [p for p in points if p.efficiency >= 0.5]
    below = [p for p in points if p.efficiency < 0.5]
    if not (above and below):
        return None
    high = min(above, key=lambda p: p.efficiency)
    low = max(below, key=lambda p: p.efficiency)
    part = (0.5 - low.efficiency) / (high.efficiency - low.efficiency)
    logs = [math.log(p.granularity) for p in (low, high)]
    return math.exp(logs[0] + part * (logs[1] - logs[0]))


def study(
    patterns: Sequence[str], systems: Sequence[str], workers: Sequence[int], effort: Effort
) -> None:
    """Measure all systems on all patterns."""
    task_graphs.compute(0)  # compiles the loop
    for count in workers:
        for start in (task_graphs.on_dask, task_graphs.on_mpi):
            wanted = [s for s in systems if (s == "mpi4py") == (start is task_graphs.on_mpi)]
            if "mpi4py" in wanted and (reason := task_graphs.without_mpi()):
                skip("mpi4py", reason)
                continue
            if not wanted:
                continue
            with start(count) as offered:
                for system, pattern in product(wanted, patterns):
                    on = {"system": system, "pattern": pattern, "workers": count}
                    points = curve(offered[system], pattern, count, effort)
                    processor = 1e3 * points[-1].processor
                    detail = [point._asdict() for point in points]
                    record(
                        "processor time of the shortest task", processor, "ms", detail=detail, **on
                    )
                    if found := metg(points):
                        record("METG", 1e3 * found, "ms", **on)


@styled
def draw(rows: Sequence[dict[str, Any]], processors: int) -> Figure:
    """METG over workers: a panel for each pattern, a line for each system.

    Parameters
    ----------
    rows
        Figures of a run.
    processors
        Of the machine; with more workers than these the ground is grey.
    """
    import matplotlib.pyplot as plt

    rows = [row["conditions"] | {"metg": row["value"]} for row in rows if row["what"] == "METG"]
    patterns = [*dict.fromkeys(row["pattern"] for row in rows)]
    figure, panels = plt.subplots(
        1, len(patterns), figsize=(1 + 2.6 * len(patterns), 3.4), sharey=True, squeeze=False
    )
    for panel, pattern in zip(panels[0], patterns, strict=True):
        for system, (color, marker) in SYSTEMS.items():
            line = [
                (row["workers"], row["metg"])
                for row in rows
                if (row["system"], row["pattern"]) == (system, pattern)
            ]
            if line:
                panel.plot(*zip(*line, strict=True), color=color, marker=marker, label=system)
        panel.set(xscale="log", yscale="log", title=pattern, xlabel="workers")
        ticks = sorted({row["workers"] for row in rows})
        panel.set_xticks(ticks, map(str, ticks))
        panel.minorticks_off()
        panel.grid(alpha=0.3)
        if processors < max(ticks):
            panel.axvspan(processors * 1.2, max(ticks) * 1.2, color="0.93", zorder=0)
    panels[0][0].set_ylabel("METG (50 %), ms per task")
    handles, names = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names))
    return figure


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--patterns", [*PATTERNS], ["trivial", "fft"], nargs="+", choices=PATTERNS)
    options.add_argument("--systems", nargs="+", choices=SYSTEMS, default=[*SYSTEMS])
    options.size("--workers", (1, 2, 4, 8), (1,), nargs="+", type=int)
    options.add_argument("--quick", action="store_true", help="one short run of each size")
    with options.recorded(arguments) as given:
        if min(given.workers) < 1:
            options.error(f"--workers: {min(given.workers)} is not a number of workers, from 1")
        effort = TINY if given.tiny else QUICK if given.quick else Effort()
        study(given.patterns, given.systems, given.workers, effort)


if __name__ == "__main__":
    main()
