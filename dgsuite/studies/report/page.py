"""The results of a folder as one self-contained HTML page, in light or dark as the reader's system is set."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import xarray as xr

from dgsuite.base.errors import InputError
from dgsuite.base.files import atomic_write
from dgsuite.base.tables import Table
from dgsuite.base.templates import template
from dgsuite.core.results.plots import svg
from dgsuite.studies.report.claims import setups
from dgsuite.studies.report.claims.data import setup_of
from dgsuite.studies.report.claims.show import by_paper, outline, state, summary
from dgsuite.studies.report.claims.verdicts import KINDS, Row
from dgsuite.studies.report.draw import CODE, both, code_table, draw, grid, labelled
from dgsuite.studies.report.experiments import Experiment, experiment
from dgsuite.studies.report.folder import UNFIT, check_numbers
from dgsuite.studies.report.forms import forms, title
from dgsuite.studies.report.results import BY_ROUND, bars, busy, cells, code, findings, made_by
from dgsuite.studies.report.statistics import LEVEL
from dgsuite.studies.report.sweeps import Sweep, sweep
from dgsuite.studies.report.tables import HEADS, NOTHING, STYLES, TEXT, reasons, row

TITLE = "IMSuite's characterisation, on Dask"
"""Of a page with figures of IMSuite alone."""

TITLE_OF_ALL = "The experiments of three papers, on Dask"
"""Of a page that has other papers' as well."""

NUMBERS = re.compile(r"(\d+)")


WIDE = 6
"""Columns that a table has beside text, at most."""


class Section(NamedTuple):
    """What the page says of a figure."""

    number: int
    study: str
    title: str
    numbers: Table
    """Of every cell, round or bar."""
    picture: str | None
    """Markup, unless the figure is a table."""
    tables: list[Table]
    """In place of a picture: as the paper has them, with its numbers where ours differ."""
    setup: str
    """The paper's."""
    compared: bool
    """Whether the set-up of our runs is compared with the paper's."""
    departures: list[str]
    """In what it is another."""
    findings: list[str]
    claims: list[Row]
    """What the paper says of the figure, with verdicts."""
    command: str
    """It makes the figure again."""
    runs: str
    machine: str
    busy: bool
    """Whether more than one processor was busy before some run, so that times may be too long."""

    @property
    def name(self) -> str:
        """Its number, and the name of the study beside it."""
        return f"{self.number}, {self.study}" if self.study else str(self.number)

    @property
    def anchor(self) -> str:
        return f"figure{self.name.replace(', ', '-')}"

    @property
    def narrow(self) -> list[Table]:
        """Tables that stand beside text."""
        return [table for table in self.tables if len(table.heads) <= WIDE]

    @property
    def wide(self) -> list[Table]:
        """Tables that take the width of the page."""
        return [table for table in self.tables if len(table.heads) > WIDE]


def page(
    results: Mapping[str, xr.Dataset], claims: Sequence[Row] = ()
) -> tuple[str, dict[str, str]]:
    """The page of a folder's results.

    Parameters
    ----------
    results
        Datasets by file name: figures, and whatever else dgsuite made.
    claims
        What the papers say, with verdicts.

    Returns
    -------
    page
        HTML.
    left_out
        By file name, why a dataset has no section, which the page says, too: files of older versions or other
        programs may be incomplete.
    """
    sections: dict[str, Section] = {}
    sweeps: list[Sweep] = []
    experiments: list[Experiment] = []
    left_out = {}
    for name, ds in results.items():
        try:
            check_numbers(ds)
            if "figure" in ds.attrs:
                sections[name] = _section(ds, claims)
            elif found := experiment(name, ds, claims):
                experiments.append(found)
            else:
                sweeps.append(sweep(name, ds))
        except UNFIT as error:
            left_out[name] = _reason(error)
    ordered = sorted(sections.values(), key=lambda section: section[:2])
    experiments.sort(key=lambda e: [int(x) if x.isdigit() else x for x in NUMBERS.split(e.title)])
    present = {section.number for section in ordered if not section.study}
    text = template("dgsuite.studies.report", "page.html").render(
        sections=ordered,
        settings=sorted({str(results[name].attrs.get("setting", "")) for name in sections}),
        level=f"{LEVEL:.0%}",
        summary=summary(claims),
        claims={title: rows for title, rows in by_paper(claims).items() if rows and ordered},
        outline=outline(claims),
        state=state,
        kinds=KINDS,
        title=_title(bool(ordered), [s.title for s in experiments], [s.title for s in sweeps]),
        experiments=experiments,
        sweeps=sweeps,
        left_out=left_out,
        absent=[number for number in forms() if number not in present],
    )
    return text, left_out


def _title(figures: bool, experiments: Sequence[str], sweeps: Sequence[str]) -> str:
    """The title of a page."""
    if figures:
        return TITLE_OF_ALL if experiments else TITLE
    names = [*experiments, *sweeps]
    return "Results of " + " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _number(figure: xr.Dataset) -> int:
    number, known = int(figure.attrs["figure"]), forms()
    if number not in known:
        raise InputError(
            f"there is no figure {number}; those that are: {', '.join(map(str, known))}"
        )
    return number


def _reason(error: Exception) -> str:
    """Why a dataset cannot be shown."""
    text = " ".join(str(error.args[0] if error.args else error).split())
    if isinstance(error, KeyError):
        name = text.removeprefix("No variable named ").partition(". ")[0].strip("'")
        return f"it cannot be shown: {name!r} is missing or unknown"
    return text if isinstance(error, InputError) else f"it cannot be shown: {text}"


def _section(figure: xr.Dataset, claims: Sequence[Row]) -> Section:
    number = _number(figure)
    study = str(figure.attrs.get("study", ""))
    kind = forms()[number].kind
    repeats = len(set(figure["repeat"].values.tolist()))
    attrs = figure.attrs
    setting = attrs.get("setting", "")
    claim = setup_of(number, study)
    return Section(
        number=number,
        study=study,
        title=title(number, study),
        numbers={"table": _cells, "rounds": _totals, "bars": _ratios}[kind](figure),
        picture=None if kind == "table" else _picture(figure),
        tables=_matrix(figure) if kind == "table" else [],
        setup=setups.described(number, study),
        compared=claim is not None and "experiment" in claim.data,
        departures=[f"{aspect}: {text}" for aspect, text in setups.settings_of(figure).items()],
        findings=findings(figure),
        claims=_about(number, study, claims),
        command=str(attrs.get("command", "")),
        runs=f"{figure.sizes['run']} runs, {repeats} of each{_care(attrs)}; {setting} setting",
        machine=made_by(figure),
        busy=busy(figure),
    )


def _care(attrs: Mapping[Any, Any]) -> str:
    """What was done so that times of repeats do not depend on each other."""
    where = ", on worker processes of their own" if attrs.get("fresh") else ""
    return f"{where}, after a run that does not count" if attrs.get("warmup") else where


def _about(number: int, study: str, claims: Sequence[Row]) -> list[Row]:
    """The findings on a figure, or of a study beside it."""
    place = re.compile(rf"imsuite\.fig{number}[a-c]?\.")
    mine = [r for r in claims if place.match(r.claim.id) and r.claim.kind == "finding"]
    return [r for r in mine if r.claim.data.get("study", "") == study]


def _picture(figure: xr.Dataset) -> str:
    drawn = draw(figure)
    drawn.suptitle("")  # the section has a title
    number, study = _number(figure), str(figure.attrs.get("study", ""))
    return svg(drawn, f"Figure {number}: {title(number, study)}")


def _matrix(figure: xr.Dataset) -> list[Table]:
    """A row a kernel and input, a column a count, as the paper has them; its numbers where ours differ."""
    tables = [_grid(figure, text=False)]
    if any(cell.input in TEXT.values() for cell in cells(figure)):
        tables.append(_grid(figure, text=True, title="In the text of kernels:"))
    rows = [(kernel.upper(), *row) for kernel, row in code_table(code(figure)).items()]
    if rows:
        tables.append(Table(("", *CODE), rows, title="In the text of our kernels:"))
    return tables


def _grid(figure: xr.Dataset, text: bool, title: str = "") -> Table:
    columns, rows, at = grid(figure, text)
    body = [[f"{kernel.upper()} {given}", *(both(at.get((kernel, given, column))) for column in columns)]
            for kernel, given in rows]  # fmt: skip
    return Table(("", *columns), body, title)


def _cells(figure: xr.Dataset) -> Table:
    found = cells(figure)
    notes = {why: number for number, why in enumerate(reasons(found), 1)}
    rows = [row(cell, notes) for cell in found]
    return Table(HEADS, rows, notes=[why or NOTHING for why in notes])


def _totals(figure: xr.Dataset) -> Table:
    kernels = [name.upper() for name in figure["kernel"].values.tolist()]
    styles = [STYLES.get(style, style) for style in figure["count_as"].values.tolist()]
    numbers = (figure[name].values for name in ("n_rounds", *BY_ROUND))
    rows = list(zip(kernels, figure["kind"].values, styles, *numbers, strict=True))
    return Table(("kernel", "input", "style", "rounds", *BY_ROUND), rows)


def _ratios(figure: xr.Dataset) -> Table:
    form = forms()[int(figure.attrs["figure"])]
    rows = []
    for bar in bars(figure):
        what = bar.kernel.upper(), bar.program, bar.value, bar.ratio
        times = f"{1e3 * bar.seconds.mean:.4g}", f"{1e3 * bar.seconds.half:.2g}", bar.seconds.runs
        shared = f"yes: {bar.oversubscribed}" if bar.oversubscribed else ""
        rows.append((*what, *times, labelled(form, bar.base), shared))
    swept = (form.unit.strip(" ="), form.measure)
    heads = ("kernel", "program", *swept, "ms", "± ms", "runs", "over", "oversubscribed")
    return Table(heads, rows)


def write(text: str, path: Path) -> None:
    """Write the page: whole, or not at all."""
    with atomic_write(path) as part:
        Path(part).write_text(text, encoding="utf-8")
