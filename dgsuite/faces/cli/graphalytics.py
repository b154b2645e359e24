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
    import time

    from dgsuite.base.files import output
    from dgsuite.partition.client.workers import worker_addresses
    from dgsuite.suites import results, running
    from dgsuite.suites.graphalytics import files, report, run, setting

    asked = options.asked(Options, {**flags, "folder": folder})
    check(asked)
    if asked.output is not None and not os.path.isdir(asked.output):
        raise InputError(f"--output {asked.output}: there is no such folder")
    found = setting.read(asked)
    name = f"graphalytics-{asked.graph}"
    path = output(asked.output and os.path.join(asked.output, f"{name}.nc"), name)
    total = asked.repetitions * len(run.algorithms(found, asked))
    with running.cluster(asked) as client:
        begin = time.perf_counter()
        with console.working("reading the graph"):
            graph = files.read(found, client)
        load = time.perf_counter() - begin
        runs = run.run(graph, found, asked, client)
        showed = dict(console.tracked(runs, "running", total))
        figures = {
            "graph": asked.graph,
            **report.summary(graph, showed),
            "load_seconds": load,
            "workers": len(worker_addresses(client)),
            "output": path,
        }
        results.save(report.dataset(figures), path, client)
    console.figures(figures, as_json, report.report, path)
    wrong = [name for name, one in figures["algorithms"].items() if one["wrong"]]
    if wrong:
        raise RunError(f"{asked.graph}: {', '.join(wrong)} differ from their references")
