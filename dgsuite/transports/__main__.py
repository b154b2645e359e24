"""The command line of the transports. Heavy imports come late, so that ``--help`` takes no time."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partition.errors import DgsuiteError, InputError

if TYPE_CHECKING:
    import xarray as xr

PROTOCOLS = "tcp,uds,mpb,mpimpb"
SIZES = "8,64,512,4096,32768,262144,1048576,8388608,67108864,268435456"
PATTERNS = "pingpong,one-to-all,all-pairs"


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
    b.add_argument("--protocols", default=PROTOCOLS, help=f"default: {PROTOCOLS}")
    b.add_argument("--sizes", default=SIZES, help=f"bytes of a message; default: {SIZES}")
    b.add_argument("--patterns", default="pingpong", help=f"of {PATTERNS}; default: pingpong")
    b.add_argument("--processes", type=int, default=4, help="of the other patterns (default: 4)")
    b.add_argument("--repeats", type=int, default=15, help="turns of each (default: 15)")
    b.add_argument("--kernels", default="", help="also time these, on two workers: mis,bfs")
    b.add_argument("--nodes", type=int, default=100_000, help="of the kernels' random graph")
    b.add_argument("--scc", action="store_true", help="buffers of the SCC: 8 KiB and 48 places")
    b.add_argument("--json", action="store_true", help="print one JSON object")
    b.add_argument("--output", metavar="FILE.nc", help="write a dataset, and FILE.png beside it")
    return p


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    given = parser().parse_args(arguments)
    try:
        ds = _measure(given)
        if given.output:
            from dgsuite.dataset import save
            from dgsuite.transports import figures

            save(ds, given.output)
            figures.draw(ds, Path(given.output).with_suffix(".png"))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except DgsuiteError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, InputError) else 1
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
    from distributed.comm.registry import get_backend

    from dgsuite.transports import bench

    for protocol in protocols:
        try:
            get_backend(protocol)
        except ValueError as error:
            raise InputError(f"--protocols {protocol}: {error}") from None
    chip = {"buffer": "8 KiB", "places": 48}
    settings = {"dgsuite.mpb": chip, "dgsuite.mpimpb": chip} if given.scc else {}
    with dask.config.set(settings):
        ds = bench.measure(protocols, sizes, patterns, given.processes, given.repeats)
        if given.kernels:
            from dgsuite.transports import kernels

            times = kernels.measure(
                protocols, _list(given.kernels, "--kernels"), given.nodes, given.repeats
            )
            ds = ds.merge(times)
    return ds.assign_attrs(scc=int(given.scc))


def _show(ds: xr.Dataset) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for pattern in ds.pattern.values:
        table = Table(title=str(pattern), box=None, title_justify="left", header_style="bold")
        table.add_column("bytes", justify="right")
        for protocol in ds.protocol.values:
            table.add_column(f"{protocol}, us", justify="right")
            table.add_column("MB/s", justify="right")
        for size in ds["size"].values:
            cells = []
            for protocol in ds.protocol.values:
                part = ds.sel(pattern=pattern, size=size, protocol=protocol)
                cells.append(f"{1e6 * float(part.median_seconds):.4g}")
                cells.append(f"{1e-6 * float(part.bytes_per_second):.4g}")
            table.add_row(str(size), *cells)
        console.print(table)
    if "kernel" in ds.dims:
        table = Table(title="kernels, ms", box=None, title_justify="left", header_style="bold")
        table.add_column("kernel")
        for protocol in ds.protocol.values:
            table.add_column(str(protocol), justify="right")
        for kernel in ds.kernel.values:
            part = ds.kernel_median_seconds.sel(kernel=kernel)
            table.add_row(str(kernel), *(f"{1e3 * v:.4g}" for v in part.values))
        console.print(table)


if __name__ == "__main__":
    sys.exit(main())
