"""The command line of Graphalytics. Heavy imports come late, so that ``--help`` takes no time."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from partition.command import Command
from partition.errors import InputError, RunError

if TYPE_CHECKING:
    from dgsuite.graphalytics.options import Options


def parser() -> argparse.ArgumentParser:
    """The command line."""
    from dgsuite.graphalytics.plan import ALGORITHMS
    from dgsuite.suites.options import add_json, add_place

    p = argparse.ArgumentParser(
        prog="python -m dgsuite.graphalytics",
        description="LDBC Graphalytics on Dask: run its algorithms on a graph in its format, compare the "
        "outputs with references where there are any, and report its metrics.",
        argument_default=argparse.SUPPRESS,
    )
    p.add_argument("folder", metavar="FOLDER", help="has NAME.v, NAME.e and NAME.properties")
    p.add_argument("--graph", metavar="NAME", required=True, help="name of the graph")
    p.add_argument(
        "--algorithms",
        metavar="LIST",
        help=f"of {','.join(ALGORITHMS)} (default: those of the .properties file)",
    )
    p.add_argument("--repetitions", type=int, help="of each algorithm (default: 3)")
    p.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        help="write outputs here in the benchmark's format, and the dataset "
        "(default: the dataset alone, to results/)",
    )
    p.add_argument("--validate", action="store_true", help="check outputs by our validators, too")
    p.add_argument(
        "--directed",
        action=argparse.BooleanOptionalAction,
        help="whether edges have a direction (default: see the .properties file)",
    )
    for name, kind, what in (
        ("source", int, "source vertex of bfs and sssp"),
        ("iterations", int, "iterations of pr and cdlp"),
        ("damping", float, "damping factor of pr"),
    ):
        p.add_argument(f"--{name}", type=kind, help=f"{what} (default: see the .properties file)")
    add_place(p)
    add_json(p)
    return p


@Command
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    given = vars(parser().parse_args(arguments))
    as_json = given.pop("json")
    figures = _run(_options(given))
    if as_json:
        print(json.dumps(figures))
    else:
        from dgsuite.graphalytics.report import report

        print(report(figures))
        print(figures["output"])
    wrong = [name for name, one in figures["algorithms"].items() if one["wrong"]]
    if wrong:
        raise RunError(f"{figures['graph']}: {', '.join(wrong)} differ from their references")
    return 0


def _options(flags: dict[str, Any]) -> Options:
    from dgsuite.experiment import toml
    from dgsuite.graphalytics.options import Given, check
    from dgsuite.suites.options import check_counts, names

    check_counts(flags, "workers", "threads", "repetitions")
    if "algorithms" in flags:
        flags["algorithms"] = names(flags["algorithms"])
    options = toml.checked(Given, {"graphalytics": flags}, "command line").graphalytics
    check(options)
    if options.output is not None and not os.path.isdir(options.output):
        raise InputError(f"--output {options.output}: there is no such folder")
    return options


def _run(options: Options) -> dict[str, Any]:
    import time

    from dgsuite.graphalytics import files, report, run, setting
    from dgsuite.suites import results, running
    from partition.client.workers import worker_addresses
    from partition.files import output

    found = setting.read(options)
    name = f"graphalytics-{options.graph}"
    path = output(options.output and os.path.join(options.output, f"{name}.nc"), name)
    total = options.repetitions * len(run.algorithms(found, options))
    with running.cluster(options) as client:
        begin = time.perf_counter()
        graph = files.read(found, client)
        load = time.perf_counter() - begin
        runs = run.run(graph, found, options, client)
        showed = dict(running.tracked(runs, "running", total))
        figures = {
            "graph": options.graph,
            **report.summary(graph, showed),
            "load_seconds": load,
            "workers": len(worker_addresses(client)),
            "output": path,
        }
        results.save(report.dataset(figures), path, client)
    return figures


if __name__ == "__main__":
    main.run()
