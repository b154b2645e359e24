"""Command line: analyse the runs of an experiment, print tables, write figures."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from partition.command import Command
from partition.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from dgsuite.experiment.model import Scaling


EXAMPLE = """\
examples:
  python -m dgsuite.scaling configs/scalability-sizes.toml
  python -m dgsuite.scaling results/scalability-bfs.nc --processes-per-node 18 --link "7 GB"

The last line of each kernel is "stop at P machines (between A and B)", or "no statement" and why."""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = argparse.ArgumentParser(
        prog="python -m dgsuite.scaling",
        description="Scalability analysis of an experiment's runs (Medya et al., ICPE 2016): completion "
        "time, demand for bandwidth against the link, the number of machines at which to stop, and figures.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument(
        "results",
        metavar="FILE",
        nargs="*",
        help="results (.nc) of python -m dgsuite.experiment, or an experiment (.toml), whose missing "
        "points are run first; several files are analysed together",
    )
    p.add_argument(
        "--trace",
        metavar="FILE",
        help="in place of results: a trace of dgsuite.run(..., trace=FILE); print its time on other networks",
    )
    p.add_argument(
        "--bandwidth",
        metavar="LIST",
        default="10GB,1GB,100MB",
        help="of a link per second, with --trace (default: %(default)s)",
    )
    p.add_argument(
        "--latency",
        metavar="LIST",
        default="1us,100us",
        help="of a message, with --trace (default: %(default)s)",
    )
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
    p.add_argument(
        "--processes-per-node",
        type=int,
        metavar="N",
        help="processes that share a node's link, and that a machine adds (default: as measured)",
    )
    p.add_argument(
        "--link",
        metavar="BYTES",
        help='what a node\'s link carries in a second, such as "1.25 GB" (default: 100 %% of the runs)',
    )
    p.add_argument("--cti", type=float, help="accepted increment of the completion time (0.1)")
    p.add_argument("--gain", type=float, help="what one more machine must save (0.01)")
    p.add_argument(
        "--size", type=int, action="append", default=[], metavar="N", help="another size to predict"
    )
    p.add_argument("--full", action="store_true", help="the full setting of the experiment")
    p.add_argument(
        "--set",
        metavar="KEY.SUBKEY=VALUE",
        action="append",
        default=[],
        dest="overrides",
        help="change a value of the experiment; may be repeated",
    )
    p.add_argument(
        "--output", metavar="FOLDER", help="where files go (default: beside the results)"
    )
    p.add_argument("--no-figures", action="store_true", help="tables alone")
    return p


@Command
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    options = parser().parse_args(arguments)
    _run(options)
    return 0


def _run(options: argparse.Namespace) -> None:
    if bool(options.results) == (options.trace is not None):
        raise InputError("give either results or --trace FILE")
    if options.trace is not None:
        _what_if(options)
        return
    if options.processors is not None and options.processors < 1:
        raise InputError(f"--processors must be at least 1, got {options.processors}")
    if options.output is not None and not os.path.isdir(options.output):
        raise InputError(f"--output {options.output}: there is no such folder")
    configs = [path for path in options.results if path.endswith(".toml")]
    if not configs and (options.full or options.overrides):
        raise InputError("--full and --set change an experiment: give a .toml file")
    settings = _settings(options, configs)
    paths = [_measured(path, options) if path in configs else path for path in options.results]

    from rich.console import Console

    from dgsuite.dataset import open_dataset, save
    from dgsuite.scaling.analysis import analyse, split
    from dgsuite.scaling.summary import show, summary

    by_kernel: dict[tuple[str, int], list[xr.Dataset]] = {}
    for path in paths:
        for run in split(open_dataset(path)):
            n = 0 if settings.sizes == "together" else int(run.attrs["n"])
            by_kernel.setdefault((str(run.attrs["kernel"]), n), []).append(run)
    traffic, nominal = ({}, None) if options.what_if is None else _traffic(options.what_if)
    found = []
    for (kernel, n), runs in by_kernel.items():
        one = analyse(
            runs, traffic.get(kernel), nominal, options.processors, settings, options.size
        )
        one.title = f"{kernel}, n = {n}" if n else kernel
        found.append(one)
    console = Console(width=None if sys.stdout.isatty() else 110)
    for one in found:
        show(console, one)
    folder = options.output or os.path.dirname(paths[0]) or "."
    stem = os.path.join(folder, os.path.splitext(os.path.basename(paths[0]))[0])
    save(summary(found), f"{stem}-stop.nc")
    written = [f"{stem}-stop.nc"]
    if not options.no_figures:
        from dgsuite.plots import write
        from dgsuite.scaling.figures import draw

        for name, figure in draw(found).items():
            written.append(f"{stem}-{name}.png")
            write(figure, written[-1])
    for path in written:
        console.print(path, markup=False, soft_wrap=True)


def _what_if(options: argparse.Namespace) -> None:
    from rich.console import Console

    from dgsuite.scaling.traced import table

    console = Console(width=None if sys.stdout.isatty() else 110)
    console.print(table(options.trace, options.bandwidth, options.latency))


def _settings(options: argparse.Namespace, configs: Sequence[str]) -> Scaling:
    """Those of the first experiment, with the command's in their place."""
    from dgsuite.experiment import model as config
    from dgsuite.experiment.load import load
    from dgsuite.experiment.toml import checked

    settings = config.Scaling()
    if configs:
        loaded, _ = load(configs[0], options.overrides, full=options.full)
        settings = loaded.scaling
    given = {
        name: getattr(options, name)
        for name in ("processes_per_node", "link", "cti", "gain")
        if getattr(options, name) is not None
    }
    return checked(config.Scaling, settings.model_dump() | given, "options")


def _measured(path: str, options: argparse.Namespace) -> str:
    """The results of an experiment, whose missing points are run."""
    from dgsuite.experiment.__main__ import measure

    words = [path, "--quiet", *["--full"] * options.full]
    for given in options.overrides:
        words += ["--set", given]
    return measure(words)


def _traffic(path: str) -> tuple[dict[str, dict[int, xr.Dataset]], float | None]:
    """Counted traffic of each kernel and size of an experiment's file, and a process's bandwidth."""
    from rich.console import Console
    from rich.progress import track

    from dgsuite.experiment import model as config
    from dgsuite.experiment.load import load
    from dgsuite.experiment.sweep import make_graph
    from dgsuite.scaling.traffic import trace

    experiment, folder = load(path, [])
    if experiment.throttle is None:
        raise InputError(f"{path}: throttle: missing; the nominal bandwidth is needed")
    points = config.points(experiment)
    firsts = {(point.kernel, point.n): point for point in reversed(points)}
    console = Console(stderr=True)
    found: dict[str, dict[int, xr.Dataset]] = {}
    for (kernel, _), point in track(
        firsts.items(), "counting", console=console, transient=True, disable=not console.is_terminal
    ):
        graph = make_graph(point, folder, None)
        parameters: dict[str, Any] = point.params
        workers = sorted({p.workers for p in points if (p.kernel, p.n) == (kernel, point.n)})
        found.setdefault(kernel, {})[graph.n] = trace(
            kernel, graph, clusters=workers, seed=point.seed, **parameters
        )
    return found, experiment.throttle.share()


if __name__ == "__main__":
    main.run()
