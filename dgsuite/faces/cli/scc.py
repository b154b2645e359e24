"""``dgsuite scc``: the experiments of "X10 on the SCC". Heavy imports come late."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from dgsuite.base.errors import InputError
from dgsuite.faces.cli import console, options

if TYPE_CHECKING:
    import xarray as xr


@click.command(
    epilog="Example: dgsuite scc scc-bc --protocols tcp",
)
@options.file(required=False)
@click.option(
    "--trace",
    metavar="FILE",
    help="In place of FILE: a trace of dgsuite.run(..., trace=FILE), simulated with a core for each cluster "
    "on the transports of --protocols (default: tcp).",
)
@click.option(
    "--protocols", type=options.Names(), help="Transports, such as tcp,mpb,mpimpb,uds,mpi-sock."
)
@options.output("The result; figures go beside it.")
@options.general
def scc(
    file: str | None,
    overrides: Sequence[str],
    dry_run: bool,
    trace: str | None,
    protocols: list[str] | None,
    output: str | None,
) -> None:
    """Experiments of Chapman, Hussein and Hosking, X10 on the Single-Chip Cloud Computer: measures
    units of work and messages here, and simulates the paper's places with them. FILE has a table [bc],
    betweenness centrality, or [hf], Hartree-Fock.
    """
    if trace is not None:
        if file is not None:
            raise InputError("give either FILE or --trace FILE")
        if overrides or output or dry_run:
            raise InputError("--trace prints a table, and takes neither --set nor --output")
        from dgsuite.studies.scc.simulate import table

        console.out().print(table(trace, protocols or ["tcp"]))
        return
    if file is None:
        raise InputError("give either FILE or --trace FILE")
    from dgsuite.studies.experiment import toml

    data = toml.read(file, overrides)
    if isinstance(data.get("hf"), dict):
        _hartree_fock(file, data, protocols, dry_run, output)
    else:
        _betweenness(file, overrides, protocols, dry_run, output)


def _hartree_fock(
    file: str, data: dict[str, Any], protocols: list[str] | None, dry_run: bool, output: str | None
) -> None:
    from dgsuite.base import files
    from dgsuite.studies.experiment import toml
    from dgsuite.studies.scc.hf_study import File, study

    if protocols:
        data["hf"]["protocols"] = protocols
    checked = toml.checked(File, data, file)
    asked, number = checked.hf, checked.figure.number if checked.figure else None
    if dry_run:
        console.plan(asked)
        return
    path = files.output(output, asked.name)
    from dgsuite.core.results.dataset import save
    from dgsuite.core.results.plots import write
    from dgsuite.studies.scc import hf_report

    say = (lambda line: None) if console.quiet() else lambda line: click.echo(line, err=True)
    found = study(asked, os.path.dirname(file), say)
    save(found, path)
    hf_report.show(console.out(130), found)
    print(path)
    picture = f"{os.path.splitext(path)[0]}.png"
    write(hf_report.draw(found, number), picture)
    print(picture)


def _betweenness(
    file: str,
    overrides: Sequence[str],
    protocols: list[str] | None,
    dry_run: bool,
    output: str | None,
) -> None:
    from dgsuite.base import files
    from dgsuite.studies.scc.options import read

    asked = read(file, overrides, protocols or ())
    assert asked.bc is not None
    if dry_run:
        console.plan(asked.scc)
        return
    path = files.output(output or asked.scc.output, asked.scc.name)

    from dgsuite import __version__
    from dgsuite.core.results.dataset import save
    from dgsuite.core.results.plots import write
    from dgsuite.core.results.provenance import machine
    from dgsuite.studies.report.claims.scc_findings import betweenness
    from dgsuite.studies.scc import bc, figures

    with console.err().status("") as status:
        ds = bc.run(asked.scc, asked.bc, lambda step: status.update(step))
    ds.attrs |= {
        "title": "Betweenness centrality on the SCC's places: simulated_seconds is a simulation",
        "source": f"dgsuite {__version__}",
        **machine(),
    }
    save(ds, path)
    if ds.attrs["left_out"]:
        click.echo(f"left out: {ds.attrs['left_out']}", err=True)
    _show(console.out(), ds, betweenness(ds))
    print(path)
    stem = os.path.splitext(path)[0]
    number = asked.figure.number if asked.figure else None
    for name, figure in figures.betweenness(ds, number).items():
        where = f"{stem}-{name}.png" if name else f"{stem}.png"
        write(figure, where)
        print(where)


def _show(console: Any, ds: xr.Dataset, found: Sequence[Any]) -> None:
    import numpy as np

    from dgsuite.base.tables import table

    costs = table(
        ("", "message", "per MB", "empty task"),
        title="Transports: measured, or on the chip by cycles",
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
        ("", "places", "measured", "simulated", "", "busiest place", ""),
        title="Simulated beside measured, the sampled sources' rounds",
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
        ("", "1 place", *(f"at {p}" for p in shown), "balance at 16"), title="Speed-up, SIMULATED"
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
    verdicts = [
        (
            claim.id,
            claim.says,
            verdict.ours,
            ": ".join(filter(None, (verdict.verdict, verdict.why))),
        )
        for claim, verdict in found
    ]
    console.print(table(("claim", "paper", "here", ""), verdicts, title="The paper's findings"))
