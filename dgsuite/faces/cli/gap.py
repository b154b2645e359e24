"""``dgsuite gap``. Heavy imports come late."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from dgsuite.faces.cli import console, options
from dgsuite.suites.gap.options import File, Options, check
from dgsuite.suites.options import read


@click.command(epilog="Example: dgsuite gap --kron 16 --kernels bfs,pr --validate")
@options.file("config", required=False)
@options.table(Options)
@options.as_json
@options.general
def gap(
    config: str | None, overrides: Sequence[str], dry_run: bool, as_json: bool, **flags: Any
) -> None:
    """The GAP Benchmark Suite on Dask: kernels on a Kronecker graph, a uniform random graph or any
    file, with GAP's trials and sources. CONFIG may have the options in a table [gap]; options
    given here are taken first.
    """
    resolved = read(File, "gap", config, overrides, options.given(flags))
    check(resolved)
    if dry_run:
        console.plan(resolved)
        return
    import time

    from dgsuite.base.files import output
    from dgsuite.partition.client.workers import worker_addresses
    from dgsuite.suites import results, running
    from dgsuite.suites.gap import graphs, report, trials

    name = graphs.name(resolved)
    path = output(resolved.output, f"gap-{name}")
    with running.cluster(resolved) as client:
        begin = time.perf_counter()
        with console.working("making the graph"):
            graph = graphs.make(resolved, client)
        construction = time.perf_counter() - begin
        picked = trials.pick(graph, resolved)
        total = sum(len(each) for each in trials.plans(picked, resolved).values())
        runs = trials.run(graph, picked, resolved, client)
        found = dict(console.tracked(runs, "trials", total))
        figures = {
            "graph": name,
            **report.summary(graph, found),
            "workers": len(worker_addresses(client)),
            "construction_seconds": construction,
            "output": path,
        }
        results.save(report.dataset(figures, found), path, client)
    console.figures(figures, as_json, report.report, path)
