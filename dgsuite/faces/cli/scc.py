"""``dgsuite scc``: the experiments of "X10 on the SCC". Heavy imports come late."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from dgsuite.faces.cli import console, options

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


@click.command(epilog="Example: dgsuite scc scc-bc --protocols tcp")
@options.file()
@click.option(
    "--protocols", type=options.Names(), default="", help="Transports, such as tcp,mpb,mpi-sock."
)
@options.output("The result; figures go beside it.")
@options.general
def scc(
    file: str, overrides: Sequence[str], dry_run: bool, protocols: list[str], output: str | None
) -> None:
    """Experiments of Chapman, Hussein and Hosking, X10 on the Single-Chip Cloud Computer: measures
    units of work and messages here, and simulates the paper's places with them. FILE has a table [bc],
    betweenness centrality, or [hf], Hartree-Fock.
    """
    from dgsuite.studies.experiment import toml

    data = toml.read(file, overrides)
    if isinstance(data.get("hf"), dict):
        _hartree_fock(file, data, protocols, dry_run, output)
    else:
        _betweenness(file, overrides, protocols, dry_run, output)


def _hartree_fock(
    file: str, data: dict[str, Any], protocols: list[str], dry_run: bool, output: str | None
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
    file: str, overrides: Sequence[str], protocols: list[str], dry_run: bool, output: str | None
) -> None:
    from dgsuite.base import files
    from dgsuite.studies.scc.options import read

    asked = read(file, overrides, protocols)
    assert asked.bc is not None
    if dry_run:
        console.plan(asked.scc)
        return
    path = files.output(output or asked.scc.output, asked.scc.name)

    from dgsuite.core.results.dataset import made_by, save
    from dgsuite.core.results.plots import write
    from dgsuite.core.results.provenance import moment
    from dgsuite.studies.report.claims.scc_findings import betweenness
    from dgsuite.studies.scc import bc, figures

    before = moment()
    with console.err().status("") as status:
        ds = bc.run(asked.scc, asked.bc, lambda step: status.update(step))
    title = "Betweenness centrality on the SCC's places: simulated_seconds is a simulation"
    ds.attrs |= {"title": title, **made_by(), **before}
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
    """Print what transports cost, how near the simulation is to what was measured, speed-ups and findings."""
    from dgsuite.base.tables import table

    def show(title: str, frame: pd.DataFrame) -> None:
        index = frame.index.to_frame().astype(str).agg(", ".join, axis=1)
        rows = zip(index, *(map("{:.3g}".format, frame[name]) for name in frame), strict=True)
        console.print(table(("", *map(str, frame.columns)), rows, title=title))

    names = ["message_seconds", "byte_seconds", "task_seconds"]
    costs = ds[names].to_dataframe()[names] * [1e6, 1e9, 1e3]
    costs.columns = ["message, us", "per MB, ms", "empty task, ms"]
    show("Transports: measured, or on the chip by cycles", costs)
    names = ["measured_seconds", "predicted_seconds", "measured_busy", "predicted_busy"]
    check = ds[names].to_dataframe()[names].dropna()
    show("Simulated beside measured, the sampled sources' rounds, s", check)
    one = ds.simulated_seconds.isel(places=0) * int(ds.places[0])
    shown = [p for p in (1, 2, 16, 36, 44, 48, 1024) if p in ds.places.values]
    speed = (one / ds.simulated_seconds.sel(places=shown)).rename("speed-up")
    frame = speed.to_dataframe()["speed-up"].unstack("places").add_prefix("at ")
    frame.insert(0, "1 place, s", one.to_dataframe("one")["one"].reindex(frame.index))
    show("Speed-up, SIMULATED", frame)
    verdicts = []
    for claim, verdict in found:
        said = ": ".join(filter(None, (verdict.verdict, verdict.why)))
        verdicts.append((claim.id, claim.says, verdict.ours, said))
    console.print(table(("claim", "paper", "here", ""), verdicts, title="The paper's findings"))
