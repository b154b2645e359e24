"""The command line of the experiments of "X10 on the SCC". Heavy imports come late."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from partition.command import Command
from partition.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from dgsuite.scc.options import File


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = argparse.ArgumentParser(
        prog="python -m dgsuite.scc",
        description="Experiments of Chapman, Hussein and Hosking, X10 on the Single-Chip Cloud Computer: "
        "measures units of work and messages here, and simulates the paper's places with them.",
    )
    p.add_argument("config", metavar="CONFIG.toml", nargs="?", help="with a table [bc] or [hf]")
    p.add_argument(
        "--trace",
        metavar="FILE",
        help="in place of a config: a trace of dgsuite.run(..., trace=FILE), simulated with a core for each "
        "cluster on the transports of --protocols (default: tcp)",
    )
    p.add_argument("--output", metavar="FILE.nc", help="result; figures go beside it")
    p.add_argument(
        "--protocols", metavar="LIST", help="transports, such as tcp,mpb,mpimpb,uds,mpi-sock"
    )
    p.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], dest="overrides")
    return p


@Command
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    from dgsuite.experiment import toml

    options = parser().parse_args(arguments)
    if (options.config is None) == (options.trace is None):
        raise InputError("give either CONFIG.toml or --trace FILE")
    if options.trace is not None:
        if options.overrides or options.output:
            raise InputError("--trace prints a table, and takes neither --set nor --output")
        _replay(options)
        return 0
    if "hf" in toml.read(options.config):
        from dgsuite.scc import hf

        if options.overrides or options.protocols:
            raise InputError(f"{options.config}: --set and --protocols are for [bc] alone")
        where = [] if options.output is None else ["--output", options.output]
        return hf.main([options.config, *where])
    _run(options)
    return 0


def _replay(options: argparse.Namespace) -> None:
    from rich.console import Console

    from dgsuite.scc.replay import table

    console = Console(width=None if sys.stdout.isatty() else 110)
    protocols = [name for name in (options.protocols or "tcp").split(",") if name]
    console.print(table(options.trace, protocols))


def read(path: str, overrides: Sequence[str] = (), protocols: str | None = None) -> File:
    """Read and check an experiment file.

    Raises
    ------
    InputError
        Naming the file, the key, and what would be right.
    """
    from dgsuite.experiment import toml
    from dgsuite.scc.options import File

    data = toml.read(path)
    for override in overrides:
        toml.override(data, override)
    if protocols is not None:
        data.setdefault("scc", {})["protocols"] = [p for p in protocols.split(",") if p]
    found = toml.checked(File, data, path)
    if found.bc is None:
        raise InputError(f"{path}: has no program: a table [bc], or [hf]")
    from dgsuite.scc.chip import SCHEMES
    from dgsuite.scc.columns import chunk
    from dgsuite.transports import carriers

    for protocol in found.scc.protocols:
        if protocol not in (*SCHEMES, *carriers.MPI):
            carriers.check(protocol)
    for scheme, given in found.scc.buffers.items():
        chunk(scheme, given)
    return found


def _run(options: argparse.Namespace) -> None:
    from partition.files import output

    file = read(options.config, options.overrides, options.protocols)
    path = output(options.output or file.scc.output, file.scc.name)

    from rich.console import Console

    from dgsuite import __version__
    from dgsuite.dataset import save
    from dgsuite.plots import write
    from dgsuite.report.claims.scc_findings import betweenness
    from dgsuite.scc import bc, figures
    from dgsuite.workers.provenance import machine

    console = Console(width=None if sys.stdout.isatty() else 110)
    assert file.bc is not None
    with Console(stderr=True).status("") as status:
        ds = bc.run(file.scc, file.bc, lambda step: status.update(step))
    ds.attrs |= {
        "title": "Betweenness centrality on the SCC's places: simulated_seconds is a simulation",
        "source": f"dgsuite {__version__}",
        **machine(),
    }
    save(ds, path)
    if ds.attrs["left_out"]:
        console.print(f"left out: {ds.attrs['left_out']}", soft_wrap=True)
    _show(console, ds, betweenness(ds))
    stem = os.path.splitext(path)[0]
    for name, figure in figures.betweenness(ds).items():
        where = f"{stem}-{name}.png"
        write(figure, where)
        console.print(where, soft_wrap=True)


def _show(console: Any, ds: xr.Dataset, found: Sequence[Any]) -> None:
    import numpy as np
    from rich.table import Table

    def table(title: str, *heads: str) -> Table:
        made = Table(
            title=title, box=None, pad_edge=False, header_style="bold", title_justify="left"
        )
        for k, head in enumerate(heads):
            made.add_column(head, justify="left" if k == 0 else "right")
        return made

    costs = table(
        "Transports: measured, or on the chip by cycles", *("", "message", "per MB"), "empty task"
    )
    for t in ds.transport.values:
        one = ds.sel(transport=t)
        costs.add_row(
            str(t),
            f"{float(one.message_seconds) * 1e6:.3g} us",
            f"{float(one.byte_seconds) * 1e9:.2f} ms",
            f"{float(one.task_seconds) * 1e3:.2f} ms" if one.task_seconds else "",
        )
    console.print(costs)
    check = table(
        "Simulated beside measured, the sampled sources' rounds",
        "",
        "places",
        "measured",
        "simulated",
        "",
        "busiest place",
        "",
    )
    names = ("measured_seconds", "predicted_seconds", "measured_busy", "predicted_busy")
    for key, row in ds[list(names)].to_dataframe().dropna().iterrows():
        *what, places = key
        elapsed, predicted, busy, predicted_busy = row[list(names)]
        check.add_row(
            ", ".join(what),
            str(places),
            f"{elapsed:.3f} s",
            f"{predicted:.3f} s",
            f"{predicted / elapsed:.2f} x",
            f"{busy:.3f} s",
            f"{predicted_busy / busy:.2f} x",
        )
    console.print(check)
    shown = [p for p in (1, 2, 16, 36, 44, 48, 1024) if p in ds.places.values]
    speed = table(
        "Speed-up, SIMULATED", "", "1 place", *(f"at {p}" for p in shown), "balance at 16"
    )
    for w in ds.workload.values:
        for d in ds.deal.values:
            for t in ds.transport.values:
                seconds = ds.simulated_seconds.sel(workload=w, deal=d, transport=t)
                first = float(seconds.isel(places=0)) * int(ds.places[0])
                balance = ds.balance.sel(workload=w, deal=d)
                speed.add_row(
                    f"{w}, {d}, {t}",
                    f"{first:.2f} s",
                    *(
                        f"{first / x:.1f}" if np.isfinite(x := float(seconds.sel(places=p))) else ""
                        for p in shown
                    ),
                    f"{float(balance.sel(places=16)):.2f}" if 16 in ds.places.values else "",
                )
    console.print(speed)
    verdicts = table("The paper's findings", "claim", "paper", "here", "")
    for claim, verdict in found:
        text = ": ".join(filter(None, (verdict.verdict, verdict.why)))
        verdicts.add_row(claim.id, claim.says, verdict.ours, text)
    console.print(verdicts)


if __name__ == "__main__":
    main.run()
