"""The command line of the transports. Heavy imports come late, so that ``--help`` takes no time."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partition.command import Command
from partition.errors import InputError
from partition.files import check_writable

if TYPE_CHECKING:
    import xarray as xr

PROTOCOLS = "tcp,uds,mpb,mpimpb"
SIZES = "8,64,512,4096,32768,262144,1048576,8388608,67108864,268435456"
PATTERNS = "pingpong,one-to-all,all-pairs,clocked"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = argparse.ArgumentParser(
        prog="python -m dgsuite.transports",
        description="Message transports for Dask on one host.",
    )
    commands = p.add_subparsers(dest="command", required=True)
    b = commands.add_parser(
        "bench",
        help="time transports, which take turns",
        description="Latency and bandwidth of transports at the level of comms, and kernels' times.",
    )
    b.add_argument(
        "--protocols", default=PROTOCOLS, help=f"default: {PROTOCOLS}; also mpi, mpi-sock"
    )
    b.add_argument("--sizes", default=SIZES, help=f"bytes of a message; default: {SIZES}")
    b.add_argument("--patterns", default="pingpong", help=f"of {PATTERNS}; default: pingpong")
    b.add_argument("--processes", type=int, default=4, help="of the other patterns (default: 4)")
    b.add_argument("--repeats", type=int, default=15, help="turns of each (default: 15)")
    b.add_argument("--kernels", default="", help="also time these, on two workers: mis,bfs")
    b.add_argument("--nodes", type=int, default=100_000, help="of the kernels' random graph")
    b.add_argument("--scc", action="store_true", help="buffers of the SCC: 8 KiB and 48 places")
    b.add_argument("--json", action="store_true", help="print one JSON object")
    b.add_argument("--output", metavar="FILE.nc", help="write a dataset, and FILE.png beside it")
    w = commands.add_parser("mpi-worker", help="be a Dask worker among those mpiexec starts")
    w.add_argument("address", help="of the scheduler")
    w.add_argument("--nthreads", type=int, default=1, help="threads (default: 1)")
    return p


@Command
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    given = parser().parse_args(arguments)
    if given.command == "mpi-worker":
        import asyncio

        from dgsuite.transports import mpi

        asyncio.run(mpi.work(given.address, given.nthreads))
        return 0
    if given.output:
        check_writable(given.output, ".nc")
    ds = _measure(given)
    if given.output:
        from dgsuite.dataset import save
        from dgsuite.transports import figures

        save(ds, given.output)
        figures.draw(ds, Path(given.output).with_suffix(".png"))
    if given.json:
        from dgsuite.transports.bench import summary

        print(json.dumps(summary(ds)))
    else:
        _show(ds)
    return 0


def _list(text: str, option: str) -> list[str]:
    found = [part.strip() for part in text.split(",") if part.strip()]
    if not found:
        raise InputError(f"{option} is empty")
    return list(dict.fromkeys(found))


def _measure(given: Any) -> xr.Dataset:
    protocols = _list(given.protocols, "--protocols")
    patterns = _list(given.patterns, "--patterns")
    try:
        sizes = [int(size) for size in _list(given.sizes, "--sizes")]
    except ValueError as error:
        raise InputError(f"--sizes: {error}") from None
    if min(sizes) < 0:
        raise InputError(f"--sizes must be at least 0, got {min(sizes)}")
    for option, least in (("processes", 2), ("repeats", 1), ("nodes", 2)):
        if getattr(given, option) < least:
            raise InputError(f"--{option} must be at least {least}, got {getattr(given, option)}")
    for pattern in patterns:
        if pattern not in PATTERNS.split(","):
            raise InputError(f"--patterns {pattern}: unknown; one of {PATTERNS}")

    import dask

    from dgsuite.transports import bench, carriers
    from dgsuite.transports.settings import CHIP
    from kernels import KERNELS

    names = _list(given.kernels, "--kernels") if given.kernels else []
    for name in names:
        if name not in KERNELS:
            raise InputError(f"--kernels {name}: unknown; one of {', '.join(KERNELS)}")

    for protocol in protocols:
        if protocol in carriers.MPI and not (names or "clocked" in patterns):
            raise InputError(f"{protocol} carries clocked runs alone: add --patterns clocked")
        carriers.check(protocol)
    settings = {"dgsuite.mpb": CHIP, "dgsuite.mpimpb": CHIP} if given.scc else {}
    with dask.config.set(settings):
        ds = bench.measure(protocols, sizes, patterns, given.processes, given.repeats)
        if names:
            from dgsuite.transports import kernels

            with kernels.workers(protocols) as there:
                ds = ds.merge(kernels.measure(there, names, given.nodes, given.repeats))
    return ds.assign_attrs(scc=int(given.scc))


def _show(ds: xr.Dataset) -> None:
    from rich.console import Console

    console = Console()
    for pattern in ds.pattern.values:
        for title, name, unit in (
            ("microseconds", "median_seconds", 1e6),
            ("MB/s", "bytes_per_second", 1e-6),
        ):
            part = (unit * ds[name].sel(pattern=pattern)).transpose("size", "protocol")
            table = _table(ds, f"{pattern}, {title}", "bytes")
            for size, values in zip(ds["size"].values, part.values, strict=True):
                table.add_row(str(size), *map(_figure, values))
            console.print(table)
    if "kernel" in ds.dims:
        part = (1e3 * ds.kernel_median_seconds).transpose("kernel", "protocol")
        table = _table(ds, "kernels, milliseconds", "kernel")
        for kernel, values in zip(ds.kernel.values, part.values, strict=True):
            table.add_row(str(kernel), *map(_figure, values))
        console.print(table)


def _table(ds: xr.Dataset, title: str, first: str) -> Any:
    from rich.table import Table

    table = Table(title=title, box=None, title_justify="left", header_style="bold")
    for head in (first, *ds.protocol.values):
        table.add_column(str(head), justify="right", no_wrap=True)
    return table


def _figure(value: float) -> str:
    """Three digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    main.run()
