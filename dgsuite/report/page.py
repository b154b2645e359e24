"""The study as one self-contained HTML page, in light or dark colours as the reader's system is set."""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from dgsuite.report.claims import setups, show
from dgsuite.report.claims.data import setup_of
from dgsuite.report.claims.verdicts import Row
from dgsuite.report.draw import CODE, both, code_table, draw, grid, labelled
from dgsuite.report.forms import forms
from dgsuite.report.results import BY_ROUND, bars, cells, code, findings
from dgsuite.report.statistics import LEVEL
from dgsuite.report.tables import HEADS, NOTHING, STYLES, TEXT, reasons, row
from partition.errors import InputError
from partition.files import atomic_write

SHOWN = 60
"""Runs of other results that are listed, at most."""


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
        By file name, why a dataset is not on the page: files of older versions or other programs may be
        incomplete.
    """
    sections: dict[str, tuple[int, str]] = {}
    rows: list[Sequence[Any]] = []
    left_out = {}
    for name, ds in results.items():
        try:
            if "figure" in ds.attrs:
                sections[name] = _number(ds), _section(ds, claims)
            else:
                rows += _rows(name, ds)
        except Exception as error:
            left_out[name] = _reason(error)
    figures = [results[name] for name in sections]
    numbers = sorted({number for number, _ in sections.values()})
    links = [f'<a href="#figure{n}">{n}. {escape(forms()[n].title)}</a>' for n in numbers]
    absent = [n for n in forms() if n not in numbers]
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    body = [
        "<header><h1>IMSuite's characterisation, on Dask</h1>",
        _paragraph(
            "Figures 7 to 19 of Gupta and Nandivada, IMSuite: a benchmark suite for simulating "
            "distributed algorithms (J. Parallel Distrib. Comput. 75, 2015), as dgsuite makes them."
        ),
        _machine(figures),
        f"<nav>{_list(links)}</nav></header>",
        *(section for _, section in sorted(sections.values())),
        show.section(claims) if claims else "",
        _others(rows) if rows else "",
        _absent(absent) if figures and absent else "",
    ]
    text = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>dgsuite: characterisation study</title><style>\n{style}</style></head>\n"
        f"<body><main>{''.join(body)}</main></body></html>\n"
    )
    return text, left_out


def _number(figure: xr.Dataset) -> int:
    number = int(figure.attrs["figure"])
    if number not in forms():
        raise InputError(
            f"there is no figure {number}; those that are: {', '.join(map(str, forms()))}"
        )
    return number


def _reason(error: Exception) -> str:
    """Why a dataset cannot be shown."""
    text = " ".join(str(error.args[0] if error.args else error).split())
    if isinstance(error, KeyError):
        name = text.removeprefix("No variable named ").partition(". ")[0].strip("'")
        return f"it cannot be shown: {name!r} is missing or unknown"
    return text if isinstance(error, InputError) else f"it cannot be shown: {text}"


def _machine(figures: Sequence[xr.Dataset]) -> str:
    if not figures:
        return ""
    settings = sorted({str(ds.attrs.get("setting", "")) for ds in figures})
    return _paragraph(
        f"Setting: {' and '.join(settings)}. Times are means of repeats, each on worker processes of its "
        f"own after a warm-up that is thrown away; ± is half the {LEVEL:.0%} confidence interval "
        f"(Student's t), as Georges, Buytaert and Eeckhout ask (OOPSLA 2007). FA: finish-async; FAC: "
        f"clocked.",
        "small",
    )


def _made_by(figure: xr.Dataset) -> str:
    """The machine and the versions that made a figure."""
    versions = json.loads(figure.attrs.get("versions", "{}"))
    named = [f"{name} {number}" for name, number in versions.items()]
    return f"Machine: {figure.attrs.get('machine', 'not noted')}. {', '.join(named)}"


def _section(figure: xr.Dataset, claims: Sequence[Row]) -> str:
    number = _number(figure)
    form = forms()[number]
    table = {"table": _cells, "rounds": _totals, "bars": _ratios}[form.kind](figure)
    alt = f"Figure {number}: {form.title}"
    shown = f'<figure><img alt="{escape(alt)}" src="{_picture(figure)}"></figure>'
    if form.kind == "table":
        shown = _matrix(figure)
    repeats = len(set(figure["repeat"].values.tolist()))
    runs = (
        f"{figure.sizes['run']} runs, {repeats} of each; {figure.attrs.get('setting', '')} setting"
    )
    about = _paragraph(runs, "small") + _paragraph(_made_by(figure), "small")
    return f"""
<section id="figure{number}"><h2>Figure {number}. {escape(form.title)}</h2>
<div class="pair"><div>{shown}</div>
<div><h3>The paper</h3>{_paper(number, claims)}
<h3>Here</h3>{_departures(figure)}{_list(map(escape, findings(figure)))}{_verdicts(number, claims)}
<h3>Again</h3><pre>{escape(str(figure.attrs.get("command", "")))}</pre>{about}</div></div>
<details><summary>Numbers</summary>{table}</details></section>
"""


def _paper(number: int, claims: Sequence[Row]) -> str:
    """What the paper has in this place: its set-up, and what it says."""
    said = [r.claim.says for r in _about(number, claims)]
    return _paragraph(setups.described(number)) + _list(map(escape, said))


def _departures(figure: xr.Dataset) -> str:
    """In what the runs are others than the paper's."""
    found = setups.settings_of(figure)
    if not found:
        claim = setup_of(int(figure.attrs["figure"]))
        compared = claim is not None and "experiment" in claim.data
        return _paragraph("The paper's setting.") if compared else ""
    departs = [f"{aspect}: {text}" for aspect, text in found.items()]
    return _paragraph("Set up otherwise, ours for the paper's:") + _list(map(escape, departs))


def _verdicts(number: int, claims: Sequence[Row]) -> str:
    """The verdicts on the claims."""
    told = []
    for claim, verdict in _about(number, claims):
        rest = ": ".join(filter(None, (verdict.ours, verdict.why)))
        told.append(f"{claim.says} {verdict.verdict.capitalize()}. {rest}")
    return _list(map(escape, told))


def _about(number: int, claims: Sequence[Row]) -> list[Row]:
    """The findings on a figure."""
    place = re.compile(rf"imsuite\.fig{number}[a-c]?\.")
    return [r for r in claims if place.match(r.claim.id) and r.claim.kind == "finding"]


def _picture(figure: xr.Dataset) -> str:
    buffer = io.BytesIO()
    draw(figure).savefig(buffer, dpi=110, format="png")
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def _matrix(figure: xr.Dataset) -> str:
    """A row a kernel and input, a column a count, as the paper has them; its numbers where ours differ."""
    shown = _grid(figure, text=False)
    if any(cell.input in TEXT.values() for cell in cells(figure)):
        shown += _paragraph("In the text of kernels:", "small") + _grid(figure, text=True)
    return shown + _code(figure)


def _grid(figure: xr.Dataset, text: bool) -> str:
    columns, rows, at = grid(figure, text)
    body = [
        (
            f"{kernel.upper()} {given}",
            *(both(at.get((kernel, given, column))) for column in columns),
        )
        for kernel, given in rows
    ]
    return _table(("", *columns), body)


def _code(figure: xr.Dataset) -> str:
    """Counts in the text of kernels, if the figure shows them."""
    rows = [(kernel.upper(), *row) for kernel, row in code_table(code(figure)).items()]
    if not rows:
        return ""
    return _paragraph("In the text of our kernels:", "small") + _table(("", *CODE), rows)


def _cells(figure: xr.Dataset) -> str:
    found = cells(figure)
    notes = {why: number for number, why in enumerate(reasons(found), 1)}
    explained = "".join(f"<li>{escape(why or NOTHING)}</li>" for why in notes)
    table = _table(HEADS, (row(cell, notes) for cell in found))
    return table + (f"<ol>{explained}</ol>" if notes else "")


def _totals(figure: xr.Dataset) -> str:
    rows = [
        (
            str(figure["kernel"].values[i]).upper(),
            figure["kind"].values[i],
            STYLES.get(style, style),
            figure["n_rounds"].values[i],
            *(figure[name].values[i] for name in BY_ROUND),
        )
        for i, style in enumerate(figure["count_as"].values.tolist())
    ]
    return _table(("kernel", "input", "style", "rounds", *BY_ROUND), rows)


def _ratios(figure: xr.Dataset) -> str:
    form = forms()[int(figure.attrs["figure"])]
    rows = [
        (
            bar.kernel.upper(),
            bar.program,
            bar.value,
            bar.ratio,
            f"{1e3 * bar.seconds.mean:.4g}",
            f"{1e3 * bar.seconds.half:.2g}",
            bar.seconds.runs,
            labelled(form, bar.base),
            f"yes: {bar.oversubscribed}" if bar.oversubscribed else "",
        )
        for bar in bars(figure)
    ]
    heads = (
        "kernel",
        "program",
        form.unit.strip(" ="),
        form.measure,
        "ms",
        "± ms",
        "runs",
        "over",
        "oversubscribed",
    )
    return _table(heads, rows)


def _rows(name: str, ds: xr.Dataset) -> list[Sequence[Any]]:
    """Rows of the table of other results: a run of a file each."""
    rows: list[Sequence[Any]] = []
    runs = [ds.isel(run=i) for i in range(ds.sizes["run"])] if "run" in ds.dims else [ds]
    for run in runs[:SHOWN]:
        known = {**run.attrs, **{k: v.item() for k, v in run.coords.items() if v.ndim == 0}}
        totals = [
            int(run[v].values.clip(0).sum()) if v in run else "" for v in ("messages", "comm")
        ]
        time = ""
        if np.ndim(seconds := run.get("seconds", known.get("seconds", ""))) == 0 and seconds != "":
            time = f"{1e3 * float(seconds):.4g}"
            if run.get("oversubscribed", known.get("oversubscribed")):
                time += " (oversubscribed)"
        where = [known.get(k, "") for k in ("style", "n", "kind", "clusters")]
        what = known.get("kernel", known.get("title", ""))
        rows.append((name, what, *where, *totals, time))
    if len(runs) > SHOWN:
        rows.append((name, f"and {len(runs) - SHOWN} more", *[""] * 7))
    return rows


def _others(rows: Sequence[Sequence[Any]]) -> str:
    heads = ("file", "what", "style", "n", "kind", "clusters", "messages", "comm", "ms")
    return f'<section id="others"><h2>Other results</h2>{_table(heads, rows)}</section>'


def _absent(numbers: Iterable[int]) -> str:
    lines = "\n".join(f"dgsuite run configs/figure{n:02}.toml" for n in numbers)
    return f"<section><h2>Not here yet</h2><pre>{lines}</pre></section>"


def _table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(str(value))}</td>' for value in row)}</tr>" for row in rows
    )
    return (
        f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _list(items: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def _paragraph(text: str, kind: str = "") -> str:
    return f'<p class="{kind}">{escape(" ".join(text.split()))}</p>'


def write(text: str, path: Path) -> None:
    """Write the page: whole, or not at all."""
    with atomic_write(path) as part:
        Path(part).write_text(text, encoding="utf-8")
