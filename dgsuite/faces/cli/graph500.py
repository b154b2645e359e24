"""``dgsuite graph500``. Heavy imports come late."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from dgsuite.base.errors import InputError
from dgsuite.faces.cli import console, options
from dgsuite.suites.graph500.options import File, Options, grid, resolve
from dgsuite.suites.options import read


@click.command(epilog="Example: dgsuite graph500 --scale 16 --compare scipy")
@options.file(required=False)
@options.table(Options)
@options.as_json
@options.general
def graph500(
    file: str | None, overrides: Sequence[str], dry_run: bool, as_json: bool, **flags: Any
) -> None:
    """Graph500 on Dask: build a Kronecker graph of 2^SCALE nodes, search it from random roots, validate
    every tree, and report as the specification asks. FILE may have the options in a table [graph500];
    options given here are taken first.
    """
    given = options.given(flags)
    if file is None and not overrides and "scale" not in given:
        raise InputError("--scale is missing, and so is a file that has it")
    asked = resolve(read(File, "graph500", file, overrides, given))
    if dry_run:
        console.plan(asked)
        return
    from dgsuite.partition.client.workers import worker_addresses
    from dgsuite.suites import running, sources
    from dgsuite.suites.graph500 import problem, report, search

    with running.cluster(asked) as client:
        workers = len(worker_addresses(client))
        shape, weighted = grid(asked, workers), asked.kernel == "sssp"
        with console.working("making the graph"):
            made = problem.build(asked.scale, client, asked.seed, shape, weighted)
        alone = [] if asked.root is None else [asked.root]
        roots = alone or sources.choose(made.able, asked.roots, asked.seed)
        bar = iter(console.tracked(roots, "searching", len(roots)))
        found = search.search(
            made,
            roots,
            client,
            kernel=asked.kernel,
            direction=asked.direction,
            check=asked.validate_trees,
            peers=search.make_peers(asked.compare, made.graph),
            on_root=lambda done: next(bar, None),
        )
    console.figures(report.summary(made, found, asked, workers), as_json, report.report)
