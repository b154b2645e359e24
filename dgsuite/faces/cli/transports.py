"""``dgsuite transports bench``. Heavy imports come late."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click
from pydantic import Field

from dgsuite.base.errors import InputError
from dgsuite.base.files import check_output
from dgsuite.faces.cli import console, options
from dgsuite.studies.experiment.model import Count, Section

if TYPE_CHECKING:
    import xarray as xr


Pattern = Literal["pingpong", "one-to-all", "all-pairs", "clocked"]
NOT_EMPTY = Field(min_length=1)


class Options(Section):
    """What is timed."""

    protocols: Annotated[list[str], NOT_EMPTY] = ["tcp", "uds", "mpb", "mpimpb"]
    """Transports; there are also mpi and mpi-sock."""
    sizes: Annotated[list[Annotated[int, Field(ge=0)]], NOT_EMPTY] = [
        *(8, 64, 512, 4096, 32768, 262144, 1048576, 8388608, 67108864, 268435456)
    ]
    """Bytes of a message."""
    patterns: Annotated[list[Pattern], NOT_EMPTY] = ["pingpong"]
    """Some of pingpong, one-to-all, all-pairs, clocked."""
    processes: Annotated[int, Field(ge=2)] = 4
    """Of the other patterns."""
    repeats: Count = 15
    """Turns of each."""
    kernels: list[str] = []
    """Also time these, on two workers: mis,bfs."""
    scc: bool = False
    """Buffers of the SCC: 8 KiB and 48 places."""
    output: str | None = None
    """Write a dataset, and FILE.png beside it."""


@click.command(
    epilog="Example: dgsuite transports bench --protocols tcp,mpb --sizes 64,4096 -o t.nc"
)
@options.table(Options)
@click.option(
    *("--n", "--nodes"),
    type=click.IntRange(2),
    default=100_000,
    show_default=True,
    help="Nodes of the kernels' random graph.",
)
@options.as_json
@options.general
def bench(n: int, as_json: bool, **flags: Any) -> None:
    """Latency and bandwidth of transports at the level of comms, and kernels' times. The transports
    take turns.
    """
    asked = options.asked(Options, flags)
    output, protocols = asked.output, asked.protocols
    if output:
        check_output(output, ".nc")
    import dask

    from dgsuite.kernels import KERNELS
    from dgsuite.studies.transports import bench, carriers, chip
    from dgsuite.suites.options import check_names

    check_names("--kernels", asked.kernels, KERNELS)
    for protocol in protocols:
        if protocol in carriers.MPI and not (asked.kernels or "clocked" in asked.patterns):
            raise InputError(f"{protocol} carries clocked runs alone: add --patterns clocked")
        carriers.check(protocol)
    with dask.config.set(chip.BUFFERS if asked.scc else {}):
        with console.working("timing messages"):
            ds = bench.measure(
                protocols, asked.sizes, asked.patterns, asked.processes, asked.repeats
            )
        if asked.kernels:
            from dgsuite.studies.transports.kernels import measure, workers

            with console.working("timing kernels"), workers(protocols) as there:
                ds = ds.merge(measure(there, asked.kernels, n, asked.repeats))
    ds = ds.assign_attrs(scc=int(asked.scc))
    if output:
        from dgsuite.core.results.dataset import save
        from dgsuite.core.results.plots import write
        from dgsuite.studies.transports import figures

        save(ds, output)
        write(figures.draw(ds), str(Path(output).with_suffix(".png")))
    if as_json:
        print(json.dumps(bench.summary(ds)))
    else:
        _show(ds)


def _show(ds: xr.Dataset) -> None:
    from dgsuite.base.tables import table

    protocols = [str(protocol) for protocol in ds.protocol.values]

    def show(title: str, first: str, names: xr.DataArray, values: Any) -> None:
        rows = ([name, *map(_figure, row)] for name, row in zip(names.values, values, strict=True))
        out.print(table((first, *protocols), rows, left=(), title=title, wrap=False))

    out = console.out()
    for pattern in ds.pattern.values:
        one = ds.sel(pattern=pattern)
        for title, name, unit in (
            ("microseconds", "median_seconds", 1e6),
            ("MB/s", "bytes_per_second", 1e-6),
        ):
            part = (unit * one[name]).transpose("size", "protocol")
            show(f"{pattern}, {title}", "bytes", ds["size"], part.values)
    if bool(ds.held_bytes.notnull().any()):
        held = 1e-3 * ds.held_bytes.expand_dims(processes=[ds.attrs["processes"]])
        show("kB of memory that a process grows by", "processes", held.processes, held)
    if "kernel" in ds.dims:
        part = (1e3 * ds.kernel_median_seconds).transpose("kernel", "protocol")
        show("kernels, milliseconds", "kernel", ds.kernel, part.values)


def _figure(value: float) -> str:
    """Three digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
