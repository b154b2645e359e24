"""``dgsuite kernel NAME GRAPH``: one run. Heavy imports come late."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from functools import partial
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem
from pydantic import Field

from dgsuite.base.errors import InputError, RunError
from dgsuite.base.names import Style
from dgsuite.faces.cli import console, graphs, options
from dgsuite.studies.experiment.model import Count, Form
from dgsuite.suites.options import Place, check_place

if TYPE_CHECKING:
    import xarray as xr
    from distributed import Client

    from dgsuite.core.running.estimate import Estimate
    from dgsuite.genval.report import Report
    from dgsuite.partition.graph.graph import Graph


NAMED = ("style", "form", "clusters", "congest", "network", "workers", "directed", "edges")
ELSEWHERE = {name: f"--{name}" for name in NAMED}
ELSEWHERE |= {"client": "--scheduler or --workers", "progress": "--no-progress"}
"""Options of a run, or of its estimate, that the command has options for, and these."""

GATHERED = 1 << 28
"""Bytes of an output that are brought from the workers to be shown, at most."""

LONGEST = 200
"""Letters of a result's name, of the 255 that file systems allow."""

MADE = 1 << 20
"""Nodes and edges of a graph that --dry-run makes, at most, to see that the kernel takes it."""

PYTHON = ("on_round", "since")
"""Options of a run that take what no text is."""


def _check_set(given: str) -> None:
    """Check that --set gives a parameter of the kernel, or an option of the run that has no option here.

    Raises
    ------
    InputError
        It gives another one.
    """
    name = given.partition("=")[0].partition(".")[0]
    if name in ELSEWHERE:
        raise InputError(
            f"--set {given}: {name} is no parameter of a kernel; take {ELSEWHERE[name]}"
        )
    if name in PYTHON:
        raise InputError(f"--set {given}: {name} can be given in Python alone, to dgsuite.run")


def _names(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    from dgsuite.kernels import KERNELS

    return [CompletionItem(name) for name in sorted(KERNELS) if name.startswith(begun)]


class Options(graphs.Source):
    """What the command is asked for, besides the cluster, parameters and faults."""

    style: Style | None = None
    """Default: clocked on workers, else serial."""
    form: Form | None = None
    """Default: iterative."""
    clusters: Count | None = None
    """Default: one for each worker."""
    congest: float | None = None
    """End a run in which an edge carries more than so many times log2 n bits."""
    page: str | None = None
    """Also write a page, in HTML, that shows the execution step by step; for up to 300 nodes."""
    dry_run: bool = False
    """Say what memory the graph and the run would take, and stop. Whether the kernel takes the graph is
    looked at if that is generated, of up to a million nodes and edges."""
    validate_result: bool = Field(default=True, alias="validate")
    """Check the result; saves the time of the check."""
    output: str | None = None
    """Where the result goes (by default in results, under a name that says what was chosen, such as
    mis-grid-n=16-seed=101.nc)."""


@click.command(
    epilog="\b\nExamples:\n  dgsuite kernel pagerank rmat --scale 16 --workers 2\n"
    "  dgsuite kernel bfs edges.txt --set root=7 -o levels.nc\n"
    "  dgsuite inputs generate mst --n 64 -o in.txt; dgsuite kernel mst in.txt"
)
@click.argument("name", shell_complete=_names)
@click.argument("graph", type=click.Path())
@options.table(Options)
@click.option(
    "--set",
    "parameters",
    metavar="NAME=VALUE",
    multiple=True,
    help="A parameter of the kernel, such as root=7, or an option of dgsuite.run that has none here, such as "
    "max_rounds=9; may be repeated.",
)
@click.option(
    "--network",
    "faults",
    metavar="NAME=VALUE",
    multiple=True,
    help="Faults of the network, such as loss=0.1 or crashes=0.01 (dgsuite.Network); may be repeated.",
)
@options.as_json
@options.table(Place, defaults=False)
@options.general
def kernel(
    name: str, graph: str, parameters: Sequence[str], faults: Sequence[str], **flags: Any
) -> None:
    """Run the kernel NAME on GRAPH: a file (an edge list in text or Parquet, Matrix Market, or an input of
    IMSuite's for this kernel), or a family of `dgsuite inputs edges`, such as rmat or grid, with --n
    nodes or --scale. The result is validated and saved; a summary and its path are printed. Without
    --workers or --scheduler it runs in this process. NAME may also be a class of one's own,
    as FILE.py:CLASS.
    """
    from dgsuite.kernels.own import is_own, named
    from dgsuite.studies.experiment.toml import override

    chosen_kernel = named(name)
    run_as = name if is_own(name) else chosen_kernel.name
    name = chosen_kernel.name
    chosen: dict[str, Any] = {}
    for given in parameters:
        _check_set(given)
        override(chosen, given)
    network: dict[str, Any] = {}
    for given in faults:
        override(network, given)
    asked = options.asked(Options, flags)
    if asked.dry_run:
        estimated = _estimate(run_as, graph, flags["workers"], asked, chosen)
        console.figures(asdict(estimated), flags["as_json"], lambda _: repr(estimated))
        return
    import dgsuite
    from dgsuite.base.files import check_output
    from dgsuite.base.files import output as destination
    from dgsuite.genval import validate as judged
    from dgsuite.genval.validation import VALIDATORS

    said = asked.model_dump(include={*graphs.Source.model_fields} - {"seed"})
    said |= {"form": asked.form, "seed": asked.seed}
    path = destination(asked.output, _stem(name, graph, said, [*parameters, *faults]))
    if asked.page is not None:
        check_output(asked.page)
        for option, shown in (("form", "iterative"), ("style", "serial"), ("clusters", 1)):
            value = getattr(asked, option)
            if value not in (None, shown):
                raise InputError(
                    f"--page shows a run of --{option} {shown}, and not --{option} {value}"
                )
    with _client(flags) as client:
        with console.working("making the graph"):
            made = graphs.make(name, graph, client, asked)
        how: dict[str, Any] = {"seed": asked.seed, "congest": asked.congest}
        how |= {"network": network or None, **chosen}
        if asked.page is not None:
            with console.working("writing the page"):
                execution = dgsuite.lab.Execution(run_as, made, **how)
                execution.to_html(asked.page)
                ds = execution.dataset()
        else:
            how |= asked.model_dump(include={"style", "form", "clusters"})
            progress = None if console.wanted() else False
            ds = dgsuite.run(run_as, made, client=client, progress=progress, **how)
        report = None
        if asked.validate_result and name in VALIDATORS:
            with console.working("validating"):
                report = judged(name, made, ds)
            if not report.ok and not network:
                raise RunError(f"the result of {name} on {graph} is wrong: {report}")
        dgsuite.save(ds, path)
        figures = _figures(ds, made, report, path)
        console.figures(figures, flags["as_json"], partial(_report, ds, chosen_kernel), path)
        if report is not None and not report.ok:
            raise RunError(
                f"the result of {name} on {graph} is wrong, as on a network with faults it may be: {report}; "
                f"--no-validate takes it as it is"
            )


def _stem(kernel: str, graph: str, options: Mapping[str, Any], more: Iterable[str]) -> str:
    """A name for the result that says what was chosen, in letters that files have anywhere."""
    chosen = {
        name: value for name, value in options.items() if value not in (None, False, "memory")
    }
    chosen |= dict(given.split("=", 1) for given in more)
    stem = Path(graph).name.partition(".")[0]
    words = [kernel, stem, *(f"{name}={value}" for name, value in chosen.items())]
    return re.sub(r"[^A-Za-z0-9_.=,-]+", "_", "-".join(words))[:LONGEST]


def _estimate(
    kernel: str, given: str, workers: int | None, asked: Options, parameters: dict[str, Any]
) -> Estimate:
    """What a run would take, by the sizes of the graph; whether the kernel takes it, if it is small."""
    from dgsuite.core.parameters import make_kernel
    from dgsuite.core.running.attempt import as_seen
    from dgsuite.core.running.estimate import estimate
    from dgsuite.genval.families import FAMILIES, plan

    n, m, directed, seed = asked.n, asked.m, asked.directed, asked.seed
    if given in FAMILIES and not os.path.exists(given):
        planned = plan(given, graphs.number(given, asked), seed=seed, m=m)
        n, m, directed = planned.n, round(planned.items * planned.each), False
        if n + m <= MADE:
            made = graphs.make(kernel, given, None, asked)
            as_seen(made, make_kernel(kernel, made, seed, parameters, asked.form))
    elif n is None or m is None:
        raise InputError(f"--dry-run does not read files: give --n and --m, the sizes of {given}")
    how = asked.model_dump(include={"form", "edges"}) | {"workers": workers, "directed": directed}
    return estimate(kernel, n, m, **how, **parameters)


def _client(flags: Mapping[str, Any]) -> AbstractContextManager[Client | None]:
    """A client of the cluster that is asked for, or None."""
    if all(flags[key] is None for key in Place.model_fields):
        return nullcontext()
    from dgsuite.suites.running import cluster

    place = options.asked(Place, flags)
    check_place(place)
    return cluster(place)


def _figures(ds: xr.Dataset, graph: Graph, report: Report | None, path: str) -> dict[str, Any]:
    """What a run was, and how it was judged, if it was."""
    return {
        "kernel": str(ds.attrs["kernel"]),
        "n": graph.n,
        "m": graph.m,
        "style": str(ds.attrs["style"]),
        "rounds": int(ds.sizes["round" if "round" in ds.sizes else "depth"]),
        "messages": int(ds.messages.sum()),
        "bytes": int(ds.bytes.sum()),
        "seconds": float(ds.attrs["seconds"]),
        "validated": report is not None and report.ok,
        **({} if report is None else {"level": report.level}),
        "output": path,
    }


def _report(ds: xr.Dataset, kernel: Any, figures: dict[str, Any]) -> str:
    """The figures, and what the run found."""
    import numpy as np

    from dgsuite.core.results.dataset import reached
    from dgsuite.partition.graph.dask_views import here

    lines = [f"{key}: {value}" for key, value in figures.items() if key != "output"]
    for name, output in kernel.outputs.items():
        found = ds[name]
        lines.append(f"{name}: {found.attrs['long_name']}")
        if found.nbytes > GATHERED and found.chunks:
            lines.append(f"    {found.nbytes:,} bytes on the workers, too many to show")
            continue
        values = here(found).values
        shown = np.array2string(values, max_line_width=100, threshold=10, precision=4)
        lines.append(indent(shown, "    "))
        if output.from_root and values.ndim == 1:
            lines.append(f"    {reached(found):,} of {len(values):,} nodes reached")
        elif values.dtype == bool:
            lines.append(f"    {np.count_nonzero(values):,} of {values.size:,} nodes")
    return "\n".join(lines)
