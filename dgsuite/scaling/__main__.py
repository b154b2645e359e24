"""Command line: analyse the runs of an experiment, print tables, write figures."""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from partition.command import Command
from partition.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from dgsuite.scaling.analysis import Analysis


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = argparse.ArgumentParser(
        prog="python -m dgsuite.scaling",
        description="Scalability analysis of an experiment's runs (Medya et al., ICPE 2016): completion "
        "time, bandwidth demand, predictions of the largest cluster, and figures.",
    )
    p.add_argument("results", metavar="RESULTS.nc", help="of python -m dgsuite.experiment")
    p.add_argument(
        "--what-if",
        metavar="CONFIG.toml",
        help="the experiment's file: count the traffic of its kernels, calibrate the cost model on half "
        "of the runs, and predict the others",
    )
    p.add_argument(
        "--processors",
        type=int,
        metavar="N",
        help="of the machine that measured, where the file does not say it",
    )
    p.add_argument("--output", metavar="FOLDER", help="where figures go (default: beside the file)")
    p.add_argument("--no-figures", action="store_true", help="tables alone")
    return p


@Command
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    options = parser().parse_args(arguments)
    _run(options)
    return 0


def _run(options: argparse.Namespace) -> None:
    if options.processors is not None and options.processors < 1:
        raise InputError(f"--processors must be at least 1, got {options.processors}")
    folder = options.output or os.path.dirname(options.results) or "."
    if not os.path.isdir(folder):
        raise InputError(f"--output {folder}: there is no such folder")

    from rich.console import Console

    from dgsuite.dataset import open_dataset
    from dgsuite.scaling.analysis import analyse, split

    by_kernel: dict[str, list[xr.Dataset]] = {}
    for run in split(open_dataset(options.results)):
        by_kernel.setdefault(str(run.attrs["kernel"]), []).append(run)
    traffic, nominal = ({}, None) if options.what_if is None else _traffic(options.what_if)
    found = []
    for kernel, runs in by_kernel.items():
        found.append(analyse(runs, traffic.get(kernel), nominal, options.processors))
    console = Console(width=None if sys.stdout.isatty() else 110)
    for one in found:
        _show(console, one)
    if not options.no_figures:
        from dgsuite.plots import write
        from dgsuite.scaling.figures import draw

        stem = os.path.splitext(os.path.basename(options.results))[0]
        for name, figure in draw(found).items():
            path = os.path.join(folder, f"{stem}-{name}.png")
            write(figure, path)
            console.print(path, markup=False, soft_wrap=True)


def _traffic(path: str) -> tuple[dict[str, xr.Dataset], float | None]:
    """Counted traffic of each kernel of an experiment's file, and its nominal bandwidth."""
    import dask
    from rich.console import Console
    from rich.progress import track

    from dgsuite.experiment import model as config
    from dgsuite.experiment.sweep import make_graph
    from dgsuite.scaling.traffic import trace

    experiment, folder = config.load(path, [])
    if experiment.throttle is None:
        raise InputError(f"{path}: throttle: missing; the nominal bandwidth is needed")
    firsts = {point.kernel: point for point in reversed(config.points(experiment))}
    console = Console(stderr=True)
    found = {}
    for kernel, point in track(
        firsts.items(), "counting", console=console, transient=True, disable=not console.is_terminal
    ):
        graph = make_graph(point, folder, None)
        parameters: dict[str, Any] = point.params
        found[kernel] = trace(
            kernel, graph, clusters=experiment.cluster.workers, seed=point.seed, **parameters
        )
    return found, float(dask.utils.parse_bytes(experiment.throttle.nominal))


def _show(console: Any, found: Analysis) -> None:
    from rich.markup import escape
    from rich.table import Table

    console.print(f"\n[bold]{escape(found.kernel)}[/bold]")
    for note in found.notes:
        console.print(f"  note: {note}", markup=False)
    for title, model in (("all but the largest", found.model), ("chosen form", found.chosen)):
        if model is None:
            continue
        table = Table(box=None, pad_edge=False, header_style="bold", title_justify="left")
        for head in ("term", "seconds", "standard error", "95 % from", "to"):
            table.add_column(head, justify="left" if head == "term" else "right", no_wrap=True)
        for term, (low, high) in model.coef_interval().items():
            values = (model.coef_[term], model.stderr_[term], low, high)
            table.add_row(str(term), *(f"{v:.4g}" for v in values))
        console.print(f"completion time, {title}: R^2 {model.r2_:.4f}, MSE {model.mse_:.3g} s^2")
        console.print(table)
    largest = int(found.runs.p.max())
    if found.model is not None:
        console.print(f"error at the {largest} workers held out: {found.error:.1%}")
    if found.chosen is not None:
        ends = found.chosen.diminishing_return()
        for name, text in (
            ("communication_half", "communication is half of the time from"),
            ("small_gain", "one more worker saves less than 1 % from"),
        ):
            middle, low, high = ends[name].values
            console.print(f"{text} {middle:g} workers (95 %: {low:g} to {high:g})")
    if found.demand is not None and found.demand_error is not None:
        console.print(f"demand constant DC: {found.demand.demand_constant_:.3f}")
        errors = found.demand_error.isel(p=-1)
        for cti, error in zip(errors.cti.values, errors.values, strict=True):
            predicted = float(found.demand.predict(largest, float(cti)))
            off = (
                f"{error:+.1f} points off"
                if math.isfinite(error)
                else "measured times do not reach it"
            )
            console.print(
                f"  CTI {cti:6.1%}: demand of {largest} workers {predicted:5.1f} %, {off}"
            )
    if found.check is not None and found.machine is not None:
        m = found.machine
        console.print(
            f"what if: compute x {m.compute:.3g}, {m.exchange:.3g} s an exchange, "
            f"{m.partner:.3g} s a message, {m.byte:.3g} s a byte"
        )
        out = abs(found.check.error.where(found.check.held_out))
        console.print(
            f"  error at {int(found.check.held_out.sum())} points held out: "
            f"median {float(out.median()):.1%}, largest {float(out.max()):.1%}"
        )


if __name__ == "__main__":
    main.run()
