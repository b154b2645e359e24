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

from dgsuite.base.errors import InputError, RunError
from dgsuite.base.names import STYLES
from dgsuite.faces.cli import console, graphs, options

if TYPE_CHECKING:
    import xarray as xr
    from distributed import Client

    from dgsuite.core.running.estimate import Estimate
    from dgsuite.genval.report import Report
    from dgsuite.partition.graph.graph import Graph


ELSEWHERE = {
    "style": "--style",
    "form": "--form",
    "clusters": "--clusters",
    "congest": "--congest",
    "network": "--network",
    "client": "--scheduler or --workers",
    "progress": "--no-progress",
    "workers": "--workers",
    "directed": "--directed",
    "edges": "--edges",
}
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


@click.command(
    epilog="\b\nExamples:\n  dgsuite kernel pagerank rmat --scale 16 --workers 2\n"
    "  dgsuite kernel bfs edges.txt --set root=7 -o levels.nc\n"
    "  dgsuite inputs generate mst --n 64 -o in.txt; dgsuite kernel mst in.txt"
)
@click.argument("name", shell_complete=_names)
@click.argument("graph", type=click.Path())
@graphs.source
@click.option(
    "--style", type=click.Choice(STYLES), help="Default: clocked on workers, else serial."
)
@click.option(
    "--form", type=click.Choice(["iterative", "recursive", "block"]), help="Default: iterative."
)
@click.option("--clusters", type=click.IntRange(min=1), help="Default: one for each worker.")
@click.option(
    "--set",
    "parameters",
    metavar="NAME=VALUE",
    multiple=True,
    help="A parameter of the kernel, such as root=7, or an option of dgsuite.run that has none here, such as "
    "max_rounds=9; may be repeated.",
)
@click.option(
    "--congest",
    type=float,
    help="End a run in which an edge carries more than so many times log2 n bits.",
)
@click.option(
    "--network",
    "faults",
    metavar="NAME=VALUE",
    multiple=True,
    help="Faults of the network, such as loss=0.1 or crashes=0.01 (dgsuite.Network); may be repeated.",
)
@click.option(
    "--page",
    type=click.Path(),
    metavar="FILE",
    help="Also write a page that shows the execution step by step; for up to 300 nodes.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Say what memory the graph and the run would take, and stop. Whether the kernel takes the graph is "
    "looked at if that is generated, of up to a million nodes and edges.",
)
@click.option(
    "--no-validate",
    "validate",
    flag_value=False,
    default=True,
    help="Do not check the result; saves the time of the check.",
)
@options.output(
    "Where the result goes (default: in results, by what was chosen, such as mis-grid-n=16-seed=101.nc)."
)
@options.as_json
@options.cluster()
@options.general
def kernel(
    name: str,
    graph: str,
    parameters: Sequence[str],
    validate: bool,
    output: str | None,
    as_json: bool,
    style: str | None,
    form: str | None,
    clusters: int | None,
    seed: int,
    congest: float | None,
    faults: Sequence[str],
    page: str | None,
    dry_run: bool,
    **others: Any,
) -> None:
    """Run the kernel NAME on GRAPH: a file (an edge list in text or Parquet, Matrix Market, or an input of
    IMSuite's for this kernel), or a family of `dgsuite inputs edges`, such as rmat or grid, with --n
    nodes or --scale. The result is validated and saved; a summary and its path are printed. Without
    --workers or --scheduler it runs in this process. NAME may also be a class of one's own,
    as FILE.py:CLASS.
    """
    from dgsuite.kernels.own import is_own, named
    from dgsuite.studies.experiment.toml import override
    from dgsuite.suites.options import Place

    asked = named(name)
    run_as = name if is_own(name) else asked.name
    name = asked.name
    chosen: dict[str, Any] = {}
    for given in parameters:
        _check_set(given)
        override(chosen, given)
    network: dict[str, Any] = {}
    for given in faults:
        override(network, given)
    source = {key: value for key, value in others.items() if key not in Place.model_fields}
    place = options.given({key: others[key] for key in Place.model_fields})
    if dry_run:
        workers = place.get("workers")
        estimated = _estimate(run_as, graph, seed, form, workers, source, chosen)
        console.figures(asdict(estimated), as_json, lambda _: repr(estimated))
        return
    import dgsuite
    from dgsuite.base.files import check_output
    from dgsuite.base.files import output as destination
    from dgsuite.genval import validate as judged
    from dgsuite.genval.validation import VALIDATORS

    said = {**source, "form": form, "seed": seed}
    path = destination(output, _stem(name, graph, said, [*parameters, *faults]))
    if page is not None:
        check_output(page)
        for option, value, shown in (
            ("form", form, "iterative"),
            ("style", style, "serial"),
            ("clusters", clusters, 1),
        ):
            if value not in (None, shown):
                raise InputError(
                    f"--page shows a run of --{option} {shown}, and not --{option} {value}"
                )
    with _client(place) as client:
        with console.working("making the graph"):
            made = graphs.make(name, graph, client, seed, **source)
        how = {"seed": seed, "congest": congest, "network": network or None, **chosen}
        if page is not None:
            with console.working("writing the page"):
                execution = dgsuite.lab.Execution(run_as, made, **how)
                execution.to_html(page)
                ds = execution.dataset()
        else:
            ds = dgsuite.run(
                run_as,
                made,
                style=style,
                form=form,
                clusters=clusters,
                client=client,
                progress=None if console.wanted() else False,
                **how,
            )
        report = None
        if validate and name in VALIDATORS:
            with console.working("validating"):
                report = judged(name, made, ds)
            if not report.ok and not network:
                raise RunError(f"the result of {name} on {graph} is wrong: {report}")
        dgsuite.save(ds, path)
        figures = _figures(ds, made, report, path)
        console.figures(figures, as_json, partial(_report, ds, asked), path)
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
    kernel: str,
    given: str,
    seed: int,
    form: str | None,
    workers: int | None,
    source: dict[str, Any],
    parameters: dict[str, Any],
) -> Estimate:
    """What a run would take, by the sizes of the graph; whether the kernel takes it, if it is small."""
    from dgsuite.core.parameters import make_kernel
    from dgsuite.core.running.attempt import as_seen
    from dgsuite.core.running.estimate import estimate
    from dgsuite.genval.families import FAMILIES, plan

    n, scale, m, directed = (source[name] for name in ("n", "scale", "m", "directed"))
    if given in FAMILIES and not os.path.exists(given):
        planned = plan(given, graphs.number(given, n, scale), seed=seed, m=m)
        n, m, directed = planned.n, round(planned.items * planned.each), False
        if n + m <= MADE:
            made = graphs.make(kernel, given, None, seed, **source)
            as_seen(made, make_kernel(kernel, made, seed, parameters, form))
    elif n is None or m is None:
        raise InputError(f"--dry-run does not read files: give --n and --m, the sizes of {given}")
    how = {"workers": workers, "directed": directed, "form": form, "edges": source["edges"]}
    return estimate(kernel, n, m, **how, **parameters)


def _client(place: dict[str, Any]) -> AbstractContextManager[Client | None]:
    """A client of the cluster that is asked for, or None."""
    if not place:
        return nullcontext()
    from dgsuite.studies.experiment.toml import checked
    from dgsuite.suites.options import Place, check_place
    from dgsuite.suites.running import cluster

    where = checked(Place, place, "command line")
    check_place(where)
    return cluster(where)


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
