"""The other two papers' experiments on the page: their figures, and what the papers say of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import xarray as xr

from dgsuite.core.results.plots import svg
from dgsuite.studies.report.claims.data import claims, figure_of
from dgsuite.studies.report.claims.verdicts import Row
from dgsuite.studies.report.results import busy, made_by
from dgsuite.studies.study import STEPS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Pictures = Mapping[str, "Figure"]
"""Figures, by what they show."""


class Experiment(NamedTuple):
    """What the page says of a result."""

    title: str
    about: str
    pictures: list[str]
    """Markup."""
    findings: list[str]
    claims: list[Row]
    """What the paper says of its figures, with verdicts."""
    command: str
    """It makes the result again, where an experiment file that ships does."""
    machine: str
    busy: bool
    """Whether more than one processor was busy before some run."""


def experiment(name: str, ds: xr.Dataset, rows: Sequence[Row]) -> Experiment | None:
    """The experiment that a file is the result of; None if it is of another kind.

    Parameters
    ----------
    name
        Of the file.
    rows
        What the papers say, with verdicts.
    """
    from dgsuite.studies.report.claims.scalability_plans import SIMULATED, THROTTLED, TIMES
    from dgsuite.studies.report.claims.scc import FILES

    stem = name.removesuffix(".nc")
    numbers = {file: number for number, file in FILES.items()}
    drawn: Pictures
    findings: list[str] = []
    if "simulated" in ds or "simulated_seconds" in ds:
        number = numbers.get(stem)
        figures = [] if number is None else [number]
        (drawn, findings), paper, said = _chip(ds, number), "scc", "X10 on the SCC"
    elif stem in (TIMES, THROTTLED):
        figures = [2, 3] if stem == TIMES else [4, 5, 6]
        (drawn, findings), paper = _scaling(ds, figures), "scalability"
        said = "Scalability on Graph500"
    elif stem == SIMULATED:
        from dgsuite.studies.scaling.simulated import designs

        times, throttled = designs(ds).values()
        figures, (drawn, findings) = [2, 3, 4, 5, 6], _scaling(times, [2, 3])
        drawn = {**drawn, **_scaling(throttled, [4, 5, 6])[0], **drawn}  # where to stop: by times
        paper, said = "scalability", "Scalability on Graph500, simulated"
    elif "small_gain" in ds:
        drawn, figures, paper, said = {}, [], "", "At how many machines to stop"
        found = zip(ds.kernel.values, ds.n.values, ds.conclusion.values, strict=True)
        findings = [f"{kernel}, n = {n}: {end}." for kernel, n, end in found]
    elif "median_seconds" in ds:
        from dgsuite.studies.transports import figures as transports

        drawn, figures, paper, said = {stem: transports.draw(ds)}, [], "", "Transports"
        findings = list(_grown(ds))
    else:
        return None
    return Experiment(
        title=_title(said, paper, figures, stem),
        about=f"{name}: {ds.attrs.get('title', '')}",
        pictures=[svg(figure, f"{said}: {what}") for what, figure in drawn.items()],
        findings=findings,
        claims=[
            row
            for row in rows
            if _about(row, paper, figures) and not (stem == SIMULATED and row.claim.kind == "setup")
        ],
        command=next((f"dgsuite {' '.join(s.started_by)}" for s in STEPS if s.name == stem), ""),
        machine=made_by(ds),
        busy=busy(ds),
    )


def _title(said: str, paper: str, figures: Sequence[int], stem: str) -> str:
    if not figures:
        return f"{said}: {stem}"
    several = f"s {figures[0]} to {figures[-1]}" if len(figures) > 1 else f" {figures[0]}"
    named = f"{said}, Figure{several}"
    about = claims()[f"{paper}.fig{figures[0]}.setup"].data.get("title")
    return f"{named}. {about}" if about else named


def _about(row: Row, paper: str, figures: Sequence[int]) -> bool:
    about = row.claim.paper == paper and ".fig" in row.claim.id
    return about and figure_of(row.claim) in figures


def _chip(ds: xr.Dataset, number: int | None) -> tuple[Pictures, list[str]]:
    """Hartree-Fock or betweenness centrality, simulated, and what has no column."""
    from dgsuite.studies.scc import figures, hf_report
    from dgsuite.studies.scc.chip import NO_SOCKETS, SCHEMES

    lacks = [f"{NO_SOCKETS[0].upper()}{NO_SOCKETS[1:]}."] * ({*SCHEMES} <= {*ds.transport.values})
    if "simulated" in ds:
        name = f"Figure {number}" if number else "Hartree-Fock"
        return {name: hf_report.draw(ds, number)}, lacks
    drawn = figures.betweenness(ds, number)
    return {what or f"Figure {number}": figure for what, figure in drawn.items()}, lacks


def _scaling(ds: xr.Dataset, wanted: Sequence[int]) -> tuple[Pictures, list[str]]:
    """Completion time and bandwidth demand of each size, and at how many machines to stop."""
    from dgsuite.studies.report.claims.scalability_plans import paper_settings
    from dgsuite.studies.scaling.analysis import analyse, by_kernel, split
    from dgsuite.studies.scaling.figures import draw
    from dgsuite.studies.scaling.simulated import analyses

    settings = paper_settings()
    found = analyses(ds, settings) if "simulated" in ds.attrs else []
    for title, runs in by_kernel([] if found else split(ds), settings).items():
        found.append(analyse(runs, settings=settings))
        found[-1].title = title
    names = tuple(f"figure{n}" for n in wanted)
    drawn = {what: figure for what, figure in draw(found).items()
             if what.startswith(names) or what in ("stop", "link")}  # fmt: skip
    said = [f"{one.title}: {end}." for one in found for end in one.stop.values()]
    return drawn, said


def _grown(ds: xr.Dataset) -> Iterator[str]:
    """What a process holds for its comms with all others."""
    count = int(ds.attrs.get("processes", 0))
    held = ds.held_bytes.to_series().dropna() if "held_bytes" in ds else {}
    for protocol, size in held.items():
        yield f"{protocol}: one of {count} processes that are all connected grows by {size / 1e6:.1f} MB."
