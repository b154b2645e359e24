"""Command line: run the experiment that a TOML file describes.

Heavy imports come late, so that ``--help`` and errors in the file take no time.
"""

from __future__ import annotations

import argparse
import os
import shlex
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dgsuite import __version__
from partition.command import Command

if TYPE_CHECKING:
    import xarray as xr

    from dgsuite.experiment.model import Config, Point

EXAMPLE = """\
example:
  python -m dgsuite.experiment configs/quickstart.toml --set cluster.workers=2 --output out.nc

exit status: 0 all well, 1 a run failed or a result is invalid, 2 wrong usage, file or input,
130 interrupted"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = argparse.ArgumentParser(
        prog="python -m dgsuite.experiment",
        description="Run distributed graph algorithms on Dask as a TOML file describes, check the "
        "results, and save them as NetCDF with a picture.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument("config", metavar="CONFIG.toml", help="the experiment")
    p.add_argument("--output", metavar="FILE.nc", help="where the result goes")
    p.add_argument(
        "--full", action="store_true", help="the full setting of the file's table [full]"
    )
    p.add_argument("--dry-run", action="store_true", help="say what would run, and stop")
    p.add_argument(
        "--set",
        metavar="KEY.SUBKEY=VALUE",
        action="append",
        default=[],
        dest="overrides",
        help="change a value of the file; may be repeated",
    )
    p.add_argument("--scheduler", metavar="ADDRESS", help="run on the Dask cluster at this address")
    p.add_argument("--force", action="store_true", help="run finished points again")
    p.add_argument("--no-progress", action="store_true", help="no progress bars")
    p.add_argument("-q", "--quiet", action="store_true", help="no summary table")
    p.add_argument("--debug", action="store_true", help="show tracebacks")
    p.add_argument("--version", action="version", version=f"dgsuite {__version__}")
    return p


def _main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    options = parser().parse_args(arguments)
    try:
        _experiment(options)
    except Exception:
        if options.debug:
            traceback.print_exc()
        raise
    return 0


main = Command(_main, "{}; finished points are kept")


def measure(arguments: Sequence[str]) -> str:
    """Run an experiment as the command with these arguments does; returns the file of its results."""
    return _experiment(parser().parse_args(arguments))


def _experiment(options: argparse.Namespace) -> str:
    """The file of the results, or "" where nothing is run."""
    from dgsuite.experiment.load import load
    from dgsuite.experiment.model import points
    from partition.files import output as destination

    config, folder = load(options.config, options.overrides, options.scheduler, options.full)
    todo = points(config)
    if options.dry_run:
        _plan(config, todo)
        return ""
    output = destination(options.output or config.experiment.output, config.experiment.name)
    _run(config, folder, todo, output, options)
    print(output)
    return output


def _plan(config: Config, todo: Sequence[Point]) -> None:
    where = config.cluster.scheduler or "a local cluster"
    print(f"{config.experiment.name}: {len(todo)} runs on {where}")
    for number, point in enumerate(todo, 1):
        reader, name = point.source()
        graph = f"{name} graph" if reader == "generate" else name
        print(f"{number:4}  {point.describe()}  ({graph})")


def _run(
    config: Config, folder: Path, todo: Sequence[Point], output: str, options: argparse.Namespace
) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        console = Console(stderr=True, width=120)
    quiet = options.no_progress or not console.is_terminal
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        disable=quiet,
        transient=True,
    ) as progress:
        sweep_bar = progress.add_task("starting", total=len(todo))
        round_bar = progress.add_task("rounds", total=None)

        from dgsuite.dataset import save
        from dgsuite.experiment.sweep import Sweep, combine
        from dgsuite.plots import overview, write

        reasons: Counter[str] = Counter()

        def on_point(number: int, point: Point, why: str) -> None:
            reasons[why] += 1
            progress.update(sweep_bar, completed=number, description=point.describe())
            progress.reset(round_bar, total=None)

        def on_round(rounds: int) -> None:
            progress.update(round_bar, completed=rounds)

        store = Path(f"{os.path.splitext(output)[0]}.points")
        sweep = Sweep(
            todo,
            folder,
            store,
            config.cluster,
            config.experiment,
            config.throttle,
        )
        results = sweep.run(force=options.force, on_point=on_point, on_round=on_round)
        if config.figure is None:
            save(combine(results), output)
            if config.experiment.plot:
                write(overview(results), f"{os.path.splitext(output)[0]}.png")
    if config.figure is not None:
        _figure(console, config, results, output, options)
    elif not options.quiet:
        _summary(console, results)
    for line in _kept(reasons):
        console.print(line, highlight=False, markup=False)


def _kept(reasons: Mapping[str, int]) -> Iterator[str]:
    """How many points were kept from an earlier run, and why others of an earlier run were not."""
    from dgsuite.experiment.sweep import FORCED, NEW

    total = sum(reasons.values())
    for why, number in reasons.items():
        if not why:
            yield f"{number} of {total} points kept from an earlier run; --force runs them anew"
        elif why not in (NEW, FORCED):
            yield f"{number} of {total} points run anew: {why}"


def _figure(
    console: Any,
    config: Config,
    results: Sequence[xr.Dataset],
    output: str,
    options: argparse.Namespace,
) -> None:
    """Write the dataset and the picture of one of the paper's figures, and say what they show."""
    from dgsuite.dataset import save
    from dgsuite.plots import write
    from dgsuite.report import tables
    from dgsuite.report.draw import draw
    from dgsuite.report.results import cells, collect, findings
    from partition.files import write_csv

    assert config.figure is not None
    number = config.figure.number
    setting = "full" if options.full else "quick"
    figure = collect(number, results, command=again(options), setting=setting)
    save(figure, output)
    if config.experiment.plot:
        write(draw(figure), f"{os.path.splitext(output)[0]}.png")
    if "cell" in figure.dims:
        table = cells(figure)
        write_csv(f"{os.path.splitext(output)[0]}.csv", tables.Cell._fields, table)
        tables.show(console, f"Figure {number}", table)
        tables.require(table)
    elif not options.quiet:
        for line in findings(figure):
            console.print(line, highlight=False, markup=False)


def again(options: argparse.Namespace) -> str:
    """The command that makes a result again, to be pasted into a shell."""
    words = ["python", "-m", "dgsuite.experiment", options.config, *["--full"] * options.full]
    for given in options.overrides:
        words += ["--set", given]
    if options.scheduler is not None:
        words += ["--scheduler", options.scheduler]
    return shlex.join(words)


def _summary(console: Any, results: Sequence[xr.Dataset]) -> None:
    from rich.table import Table

    from dgsuite.dataset import index

    heads = ("kernel", "style", "n", "kind", "clusters", "workers")
    numbers = ("rounds", "messages", "comm", "mutexes", "ms")
    table = Table(box=None, header_style="bold", pad_edge=False)
    for head in (*heads, *numbers, "valid"):
        right = head in ("n", "clusters", "workers", *numbers)
        table.add_column(head, justify="right" if right else "left", no_wrap=True)
    for dataset in results:
        row = [str(dataset.attrs.get(head, "")) for head in heads]
        row[-1] += "*" * bool(dataset.attrs.get("oversubscribed"))
        row.append(str(dataset.sizes[index(dataset)]))
        row += [str(int(dataset[name].sum())) for name in ("messages", "comm", "mutexes")]
        row.append(f"{1e3 * float(dataset.attrs['seconds']):.1f}")
        row.append("yes" if dataset.attrs.get("valid") else "not checked")
        table.add_row(*row)
    console.print(table)
    if any(dataset.attrs.get("oversubscribed") for dataset in results):
        console.print("* more threads than processors: they took turns", highlight=False)


if __name__ == "__main__":
    main.run()
