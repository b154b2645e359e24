"""``dgsuite transports bench|mpi-worker``. Heavy imports come late."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dgsuite.base.errors import InputError
from dgsuite.base.files import check_output
from dgsuite.faces.cli import console, options

if TYPE_CHECKING:
    import xarray as xr

PROTOCOLS = "tcp,uds,mpb,mpimpb"
SIZES = "8,64,512,4096,32768,262144,1048576,8388608,67108864,268435456"
PATTERNS = "pingpong,one-to-all,all-pairs,clocked"


def _number(*names: str, least: int, default: int, text: str) -> Callable[[options.F], options.F]:
    kind = click.IntRange(least)
    return click.option(*names, type=kind, default=default, show_default=True, help=text)


@click.command(
    epilog="Example: dgsuite transports bench --protocols tcp,mpb --sizes 64,4096 -o t.nc"
)
@click.option(
    "--protocols",
    type=options.Names(),
    default=PROTOCOLS,
    help=f"Default: {PROTOCOLS}; also mpi, mpi-sock.",
)
@click.option(
    "--sizes",
    type=options.Names(click.IntRange(min=0)),
    default=SIZES,
    help=f"Bytes of a message; default: {SIZES}.",
)
@click.option(
    "--patterns",
    type=options.Names(),
    default="pingpong",
    help=f"Of {PATTERNS} (default: pingpong).",
)
@_number("--processes", least=2, default=4, text="Of the other patterns.")
@_number("--repeats", least=1, default=15, text="Turns of each.")
@click.option(
    "--kernels", type=options.Names(), default="", help="Also time these, on two workers: mis,bfs."
)
@_number("--n", "--nodes", least=2, default=100_000, text="Nodes of the kernels' random graph.")
@click.option("--scc", is_flag=True, help="Buffers of the SCC: 8 KiB and 48 places.")
@options.output("Write a dataset, and FILE.png beside it.")
@options.as_json
@options.general
def bench(
    protocols: list[str],
    sizes: list[int],
    patterns: list[str],
    processes: int,
    repeats: int,
    kernels: list[str],
    n: int,
    scc: bool,
    output: str | None,
    as_json: bool,
) -> None:
    """Latency and bandwidth of transports at the level of comms, and kernels' times. The transports
    take turns.
    """
    if output:
        check_output(output, ".nc")
    for option, given in (("protocols", protocols), ("sizes", sizes), ("patterns", patterns)):
        if not given:
            raise InputError(f"--{option} is empty")
    import dask

    from dgsuite.kernels import KERNELS
    from dgsuite.studies.transports import bench, carriers, chip
    from dgsuite.suites.options import check_names

    check_names("--patterns", patterns, PATTERNS.split(","))
    check_names("--kernels", kernels, KERNELS)
    for protocol in protocols:
        if protocol in carriers.MPI and not (kernels or "clocked" in patterns):
            raise InputError(f"{protocol} carries clocked runs alone: add --patterns clocked")
        carriers.check(protocol)
    with dask.config.set(chip.BUFFERS if scc else {}):
        with console.working("timing messages"):
            ds = bench.measure(protocols, sizes, patterns, processes, repeats)
        if kernels:
            from dgsuite.studies.transports.kernels import measure, workers

            with console.working("timing kernels"), workers(protocols) as there:
                ds = ds.merge(measure(there, kernels, n, repeats))
    ds = ds.assign_attrs(scc=int(scc))
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


@click.command(epilog="Example: mpiexec -n 2 dgsuite transports mpi-worker tcp://127.0.0.1:8786")
@click.argument("address")
@click.option("--threads", "--nthreads", default=1, show_default=True, help="Threads.")
@options.general
def mpi_worker(address: str, threads: int) -> None:
    """Be a Dask worker among those that mpiexec starts, of the scheduler at ADDRESS."""
    import asyncio

    from dgsuite.studies.transports import mpi

    asyncio.run(mpi.work(address, threads))


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
