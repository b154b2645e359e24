"""A sweep from its points to the files of its result: dataset, picture, and what is said of them."""

from __future__ import annotations

import os
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dgsuite.base import capabilities
from dgsuite.base.errors import InputError
from dgsuite.base.extras import check_installed
from dgsuite.base.thresholds import compile_without_delay
from dgsuite.core.workers.processor import own_processors
from dgsuite.studies.experiment.shipped import called

if TYPE_CHECKING:
    import xarray as xr

    from dgsuite.studies.experiment.model import Config, Point


@dataclass(frozen=True)
class How:
    """How a sweep is run.

    Attributes
    ----------
    command
        What makes the result again; it is written into it.
    full
        Whether the file's table ``[full]`` holds.
    force
        Whether finished points are run again.
    quiet
        No summary.
    progress
        Whether to show bars.
    """

    command: str
    full: bool = False
    force: bool = False
    quiet: bool = False
    progress: bool = False


def again(
    path: str, overrides: Sequence[str], cluster: Mapping[str, Any], full: bool = False
) -> str:
    """The command that makes a result again, to be pasted into a shell."""
    words = ["dgsuite", "run", called(path), *["--full"] * full]
    for given in overrides:
        words += ["--set", given]
    for name, value in cluster.items():
        words += [f"--{name}", str(value)]
    return shlex.join(words)


def measure(config: Config, folder: Path, output: str | None, how: How) -> str:
    """Run what is missing of an experiment and write its result; returns the file.

    Parameters
    ----------
    folder
        Where the experiment's file is.
    output
        Where the result goes; by default where the file says.

    Raises
    ------
    InputError
        The result cannot be written, or a package is not installed that writes it.
    RunError
        A run failed, or a result is not valid.
    """
    from dgsuite.base.files import output as destination

    if config.experiment.plot:
        check_installed("a picture (experiment.plot)", "matplotlib")
    path = destination(output or config.experiment.output, config.experiment.name)
    compile_without_delay()
    _run(config, folder, path, how)
    return path


def _run(config: Config, folder: Path, output: str, how: How) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True, width=None if sys.stderr.isatty() else 120)
    from dgsuite.studies.experiment.model import points

    todo, left_out = _that_fit(points(config))
    if left_out:
        console.print(left_out, highlight=False, markup=False)
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        disable=not how.progress,
        transient=True,
    ) as progress:
        sweep_bar = progress.add_task("starting", total=len(todo))
        round_bar = progress.add_task("rounds", total=None)

        from dgsuite.core.results.dataset import save
        from dgsuite.core.results.plots import overview, write
        from dgsuite.studies.experiment.combining import combine
        from dgsuite.studies.experiment.sweep import Sweep
        from dgsuite.studies.report.sweeps import outcomes_of

        reasons: Counter[str] = Counter()

        def on_point(number: int, point: Point, why: str) -> None:
            reasons[why] += 1
            progress.update(sweep_bar, completed=number, description=point.describe())
            progress.reset(round_bar, total=None)

        def on_round(rounds: int) -> None:
            progress.update(round_bar, completed=rounds)

        store = Path(f"{os.path.splitext(output)[0]}.points")
        sweep = Sweep(todo, folder, store, config.cluster, config.experiment, config.throttle)
        results = sweep.run(force=how.force, on_point=on_point, on_round=on_round)
        if config.figure is None:
            whole = combine(results)
            save(whole, output)
            if config.experiment.plot:
                drawn = outcomes_of(whole) if any(point.trials for point in todo) else None
                drawn = drawn or overview([one for one in results if "run" not in one.dims])
                write(drawn, f"{os.path.splitext(output)[0]}.png")
    if config.figure is not None:
        _figure(console, config, results, output, how)
    elif not how.quiet:
        _summary(console, results)
    for line in _kept(reasons):
        console.print(line, highlight=False, markup=False)


def _that_fit(points: Sequence[Point]) -> tuple[list[Point], str]:
    """The points whose hardware threads this machine has, and a sentence on the others."""
    if any(point.hwts for point in points):
        instead = "workers and threads without hwts"
        capabilities.need("affinity", user="run.hwts", instead=instead)
    there = len(own_processors())
    fit = [point for point in points if (point.hwts or 0) <= there]
    more = sorted({point.hwts or 0 for point in points} - {*range(there + 1)})
    if not more:
        return fit, ""
    said = (
        f"{len(points) - len(fit)} of {len(points)} points left out: they need "
        f"{', '.join(map(str, more))} hardware threads, and this machine has {there}"
    )
    if not fit:
        raise InputError(f"run.hwts: {said}")
    return fit, said


def _kept(reasons: Mapping[str, int]) -> Iterator[str]:
    """How many points were kept from an earlier run, and why others of an earlier run were not."""
    from dgsuite.studies.experiment.sweep import FORCED, NEW

    total = sum(reasons.values())
    for why, number in reasons.items():
        if not why:
            yield f"{number} of {total} points kept from an earlier run; --force runs them anew"
        elif why not in (NEW, FORCED):
            yield f"{number} of {total} points run anew: {why}"


def _figure(
    console: Any, config: Config, results: Sequence[xr.Dataset], output: str, how: How
) -> None:
    """Write the dataset and the picture of one of the paper's figures, and say what they show."""
    from dgsuite.base.files import write_csv
    from dgsuite.core.results.dataset import save
    from dgsuite.core.results.plots import write
    from dgsuite.studies.report import tables
    from dgsuite.studies.report.draw import draw
    from dgsuite.studies.report.results import cells, collect, findings

    assert config.figure is not None
    number = config.figure.number
    setting = "full" if how.full else "quick"
    study = {"study": config.figure.study} if config.figure.study else {}
    care = study | {"fresh": int(config.experiment.fresh), "warmup": config.experiment.warmup}
    figure = collect(number, results, command=how.command, setting=setting, **care)
    save(figure, output)
    if config.experiment.plot:
        write(draw(figure), f"{os.path.splitext(output)[0]}.png")
    if "cell" in figure.dims:
        table = cells(figure)
        write_csv(f"{os.path.splitext(output)[0]}.csv", tables.Cell._fields, table)
        tables.show(console, f"Figure {number}", table)
        tables.require(table)
    elif not how.quiet:
        for line in findings(figure):
            console.print(line, highlight=False, markup=False)


def _summary(console: Any, results: Sequence[xr.Dataset]) -> None:
    from dgsuite.base.tables import table

    heads = ("kernel", "style", "n", "kind", "repeat", "clusters", "workers")
    counts = ("messages", "comm", "mutexes")
    rows = []
    for dataset in results:
        row = [str(dataset.attrs.get(head, "")) for head in heads]
        row[-1] += "*" * bool(dataset.attrs.get("oversubscribed"))
        row.append(str(_rounds(dataset)))
        row += [str(int(dataset[name].sum())) if name in dataset else "" for name in counts]
        row.append(f"{1e3 * float(dataset.attrs['seconds']):.1f}")
        row.append(_valid(dataset))
        rows.append(row)
    columns = (*heads, "rounds", *counts, "ms", "valid")
    console.print(table(columns, rows, left=(0, 1, 3, 12), wrap=False))
    if any(dataset.attrs.get("oversubscribed") for dataset in results):
        console.print("* more threads than processors: they took turns", highlight=False)


def _rounds(dataset: xr.Dataset) -> str:
    """How many rounds a run had; of trials, from the least to the most."""
    from dgsuite.core.results.dataset import index

    if "run" not in dataset.dims:
        return str(dataset.sizes[index(dataset)])
    found = dataset["rounds"].values
    return " to ".join(map(str, dict.fromkeys([found.min(), found.max()])))


def _valid(dataset: xr.Dataset) -> str:
    """Whether a result is valid; of trials, how many are."""
    if "run" in dataset.dims and "valid" in dataset:
        return f"{int(dataset['valid'].sum())} of {dataset.sizes['run']}"
    return {1: "yes", 0: "no"}.get(dataset.attrs.get("valid", -1), "not checked")
