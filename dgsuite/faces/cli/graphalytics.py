"""``dgsuite graphalytics``. Heavy imports come late."""

from __future__ import annotations

import os
from typing import Any

import click

from dgsuite.base.errors import InputError, RunError
from dgsuite.faces.cli import console, options
from dgsuite.suites.graphalytics.options import Options, check


@click.command(
    epilog="Example: dgsuite graphalytics data --graph example-directed --algorithms bfs,pr"
)
@click.argument("folder", type=options.FOLDER)
@options.table(Options, without=("folder",))
@options.as_json
@options.general
def graphalytics(folder: str, as_json: bool, **flags: Any) -> None:
    """LDBC Graphalytics on Dask: run its algorithms on a graph in its format, compare the outputs with
    references where there are any, and report its metrics. FOLDER has NAME.v, NAME.e and
    NAME.properties.
    """
    from dgsuite.suites.graphalytics.report import report

    resolved = options.asked(Options, {**flags, "folder": folder})
    check(resolved)
    if resolved.output is not None and not os.path.isdir(resolved.output):
        raise InputError(f"--output {resolved.output}: there is no such folder")
    figures = _run(resolved)
    console.figures(figures, as_json, report, figures["output"])
    wrong = [name for name, one in figures["algorithms"].items() if one["wrong"]]
    if wrong:
        raise RunError(f"{figures['graph']}: {', '.join(wrong)} differ from their references")


def _run(options: Options) -> dict[str, Any]:
    import time

    from dgsuite.base.files import output
    from dgsuite.partition.client.workers import worker_addresses
    from dgsuite.suites import results, running
    from dgsuite.suites.graphalytics import files, report, run, setting

    found = setting.read(options)
    name = f"graphalytics-{options.graph}"
    path = output(options.output and os.path.join(options.output, f"{name}.nc"), name)
    total = options.repetitions * len(run.algorithms(found, options))
    with running.cluster(options) as client:
        begin = time.perf_counter()
        with console.working("reading the graph"):
            graph = files.read(found, client)
        load = time.perf_counter() - begin
        runs = run.run(graph, found, options, client)
        showed = dict(console.tracked(runs, "running", total))
        figures = {
            "graph": options.graph,
            **report.summary(graph, showed),
            "load_seconds": load,
            "workers": len(worker_addresses(client)),
            "output": path,
        }
        results.save(report.dataset(figures), path, client)
    return figures
