"""``dgsuite scaling``: completion times, demand for bandwidth, and at how many machines to stop."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dgsuite.base.errors import InputError
from dgsuite.faces.cli import console, options
from dgsuite.studies.experiment.model import Config, Scaling, points

if TYPE_CHECKING:
    import xarray as xr

    from dgsuite.studies.scaling.analysis import Analysis

EPILOG = """\b
Examples:
  dgsuite scaling scalability-sizes
  dgsuite scaling results/scalability-bfs.nc --processes-per-node 18 --link "7 GB"
  dgsuite scaling fit own.csv --link "1.25 GB"
  dgsuite scaling simulate

The last line of each kernel is "stop at P machines (between A and B)", "beyond what was measured",
or "no statement" and why."""


FIT = """\b
Example:
  dgsuite scaling fit own.csv --column p=nodes --column seconds=elapsed

The last line of each size is "stop at P machines (between A and B)", "beyond what was measured",
or "no statement" and why."""


@click.group(cls=options.Group, epilog=EPILOG)
@options.version
def scaling() -> None:
    """Say at how many machines to stop. `dgsuite scaling FILES` is `dgsuite scaling runs FILES`."""


machine: Callable[[options.F], options.F] = options.several(
    options.table(Scaling, without=("terms", "weights", "bounded", "sizes", "departs")),
    click.option("--size", type=int, multiple=True, metavar="N", help="Another size to predict."),
)
"""What the statement is about."""

written: Callable[[options.F], options.F] = options.several(
    click.option(
        "-o",
        "--output",
        metavar="FOLDER",
        type=options.FOLDER,
        help="Where files go (default: beside what is analysed).",
    ),
    click.option("--no-figures", is_flag=True, help="Tables alone."),
)
"""What is written."""


@scaling.command(epilog=EPILOG, short_help="Analyse results of experiments.")
@click.argument("files", nargs=-1, required=True, type=click.Path(), callback=options.resolved)
@click.option(
    "--what-if",
    metavar="FILE",
    callback=options.resolved,
    help="The experiment's file: count the traffic of its kernels, calibrate the cost model on half of the "
    "runs, and predict the others.",
)
@click.option(
    "--processors",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processors of the machine that measured, if the file does not say.",
)
@machine
@click.option("--full", is_flag=True, help="Use the full sizes of the experiment.")
@options.overrides
@written
@options.general
def runs(
    files: Sequence[str],
    what_if: str | None,
    processors: int | None,
    size: Sequence[int],
    full: bool,
    overrides: Sequence[str],
    output: str | None,
    no_figures: bool,
    **settings: Any,
) -> None:
    """Scalability analysis of an experiment's runs (Medya et al., ICPE 2016): completion time, demand
    for bandwidth against the link, the number of machines at which to stop, and figures. FILES are
    results (.nc) of `dgsuite run`, or an experiment (.toml), whose missing points are run first;
    several files are analysed together.
    """
    from dgsuite.studies.experiment.load import load

    experiments = {path: load(path, overrides, full=full) for path in files if path[-3:] != ".nc"}
    if not experiments and (full or overrides):
        raise InputError("--full and --set change an experiment: give a .toml file")
    configs = [config for config, _ in experiments.values()]
    chosen = _settings(configs, options.given(settings))

    from dgsuite.core.results.dataset import open_dataset
    from dgsuite.studies.experiment.session import again
    from dgsuite.studies.scaling.analysis import analyse, by_kernel, check_sweeps, split

    if experiments.keys() == {*files}:
        try:
            check_sweeps(configs, chosen)
        except InputError as error:
            raise InputError(f"{', '.join(files)} cannot be analysed: {error}") from None
    paths = [*files]
    for place, path in enumerate(files):
        if path in experiments:
            command = again(path, overrides, {}, full)
            paths[place] = _measured(*experiments[path], command, full)

    groups = by_kernel((run for path in paths for run in split(open_dataset(path))), chosen)
    traffic, nominal = ({}, None) if what_if is None else _traffic(what_if)
    found = []
    for title, runs in console.tracked(groups.items(), "analysing", len(groups)):
        counted = traffic.get(str(runs[0].attrs["kernel"]))
        one = analyse(runs, counted, nominal, processors, chosen, size)
        one.title = title
        found.append(one)
    _tell(found, paths[0], output, no_figures)


@scaling.command(epilog=FIT, short_help="Analyse a table of your own runs.")
@click.argument("table", type=click.Path())
@click.option(
    "--column",
    "columns",
    metavar="NAME=COLUMN",
    multiple=True,
    help="Which column has p, seconds, bandwidth or n, such as p=nodes; may be repeated.",
)
@machine
@written
@options.general
def fit(
    table: str,
    columns: Sequence[str],
    size: Sequence[int],
    output: str | None,
    no_figures: bool,
    **settings: Any,
) -> None:
    """Analyse a TABLE of your own runs of any program, in CSV or NetCDF: a row a run, with columns p
    (or machines, workers, processes, ranks), seconds (or time), and if there are any bandwidth (per
    cent, or bytes per second) and n (or size). Rows that are alike in all but the time are repeats.
    """
    if wrong := [pair for pair in columns if "=" not in pair]:
        raise InputError(f"--column {wrong[0]}: must be NAME=COLUMN, such as p=nodes")
    from dgsuite.studies.scaling import read
    from dgsuite.studies.scaling.analysis import analyse

    chosen = _settings((), options.given(settings))
    measured = read(table, dict(pair.split("=", 1) for pair in columns))
    _tell([analyse(measured, settings=chosen, sizes=size)], table, output, no_figures)


@scaling.command(short_help="Simulate the paper's cluster.")
@click.option(
    "--scale",
    type=click.IntRange(2, 28),
    default=20,
    show_default=True,
    help="Of the graph that is counted; its counts stand for scale 28.",
)
@click.option("--in-turn", is_flag=True, help="Deal processes to the nodes in turn.")
@options.output("The result (default: results/scalability-simulated.nc).")
@options.general
def simulate(scale: int, in_turn: bool, output: str | None) -> None:
    """Times of the two-dimensional search on the cluster of Medya et al., 32 nodes with 18 processes each,
    SIMULATED from traffic that is counted here; analysed as the paper does.
    """
    from dgsuite.base import files

    path = files.output(output, "scalability-simulated")
    from dgsuite.core.results.dataset import save
    from dgsuite.studies.report.claims.scalability_plans import paper_settings
    from dgsuite.studies.scaling.simulated import PaperCluster, analyses, designs
    from dgsuite.studies.scaling.simulated import simulate as simulated
    from dgsuite.studies.scaling.summary import show

    with console.err().status("counting") as status:
        cluster = PaperCluster(in_turn=in_turn)
        found = simulated(scale, cluster, lambda p: status.update(f"counting: {p} processes"))
    save(found, path)
    for figures, runs in designs(found).items():
        for one in analyses(runs, paper_settings()):
            one.title += f", {figures}"
            show(console.out(), one)
    print(path)


def _tell(found: Sequence[Analysis], path: str, output: str | None, no_figures: bool) -> None:
    """Print what was found, and write it to files that are named after the one that was analysed."""
    from dgsuite.base.files import check_output
    from dgsuite.core.results.dataset import save
    from dgsuite.studies.scaling.summary import show, summary

    out = console.out()
    for one in found:
        show(out, one)
    stem = os.path.splitext(os.path.basename(path))[0]
    stem = os.path.join(output or os.path.dirname(path) or ".", stem)
    names = [f"{stem}-stop.nc"]
    check_output(names[0])
    save(summary(found), names[0])
    if not no_figures:
        from dgsuite.core.results.plots import write
        from dgsuite.studies.scaling.figures import draw

        for name, figure in draw(found).items():
            names.append(f"{stem}-{name}.png")
            check_output(names[-1])
            write(figure, names[-1])
    print(*names, sep="\n")


def _settings(experiments: Sequence[Config], given: dict[str, Any]) -> Scaling:
    """Those of the first experiment, with the command's in their place."""
    from dgsuite.studies.experiment.toml import checked

    settings = experiments[0].scaling if experiments else Scaling()
    return checked(Scaling, settings.model_dump() | given, "options")


def _measured(config: Config, folder: Path, command: str, full: bool) -> str:
    """The results of an experiment, whose missing points are run."""
    from dgsuite.studies.experiment import session

    how = session.How(command, full, quiet=True, progress=console.progress())
    found = session.measure(config, folder, None, how)
    print(found)
    return found


def _traffic(path: str) -> tuple[dict[str, dict[int, xr.Dataset]], float | None]:
    """Counted traffic of each kernel and size of an experiment's file, and a process's bandwidth."""
    from dgsuite.studies.experiment.load import load
    from dgsuite.studies.experiment.sweep import make_graph
    from dgsuite.studies.scaling.traffic import trace

    experiment, folder = load(path)
    if experiment.throttle is None:
        raise InputError(f"{path}: throttle: missing; the nominal bandwidth is needed")
    every = points(experiment)
    firsts = {(point.kernel, point.n): point for point in reversed(every)}
    found: dict[str, dict[int, xr.Dataset]] = {}
    for (kernel, _), point in console.tracked(firsts.items(), "counting", len(firsts)):
        graph = make_graph(point, folder, None)
        workers = sorted({p.workers for p in every if (p.kernel, p.n) == (kernel, point.n)})
        counted = trace(kernel, graph, clusters=workers, seed=point.seed, **point.params)
        found.setdefault(kernel, {})[graph.n] = counted
    return found, experiment.throttle.share()
