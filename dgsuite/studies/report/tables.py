"""Tables of the IMSuite paper beside ours: the difference of every cell, and where it comes from."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from dgsuite.base.errors import RunError
from dgsuite.base.tables import table
from dgsuite.studies.report.arithmetic import evaluate
from dgsuite.studies.report.claims import formulas
from dgsuite.studies.report.claims.data import Claim, claims, text_of
from dgsuite.studies.report.text import reason

if TYPE_CHECKING:
    import xarray as xr

    from dgsuite.studies.statics.counting import Statics

INPUTS = {"mn": "Mn", "mx": "Mx", "spmin": "Mn", "chain": "Mn", "spmax": "Mx", "star": "Mx"}
INPUTS["ring"] = "ring"
"""The paper's names of inputs, by kind."""

STYLES = {"finish_async": "FA", "clocked": "FAC"}

SERIAL = "in_turn"
"""Style of the paper's serial program, whose data may be in several places."""


def program(runtime: str | None, style: str) -> str:
    """The paper's name of a program, such as "X10-FA"; without a runtime that of its style."""
    if runtime == "HJ" and style == "clocked":
        return "HJ-FAP"
    name = "serial" if style == SERIAL else STYLES.get(style, style)
    return f"{runtime}-{name}" if runtime else name


TABLES = {
    "figure7": ("imsuite.fig7a.table", "imsuite.fig7b.table", "imsuite.fig7c.table"),
    "figure8": ("imsuite.fig8.table",),
    "figure10": ("imsuite.fig10a.table", "imsuite.fig10b.table"),
}
"""The claims that have a figure's printed cells."""

RECURSIVE = TABLES["figure10"]
"""Of these, those of recursive runs."""

LINES = " lines"
"""End of the names of columns that have lines of code."""

TEXT = {"iterative": "text", "recursive": "recursive text"}
"""In place of an input: a cell is about the text of kernels of a form."""


class Cell(NamedTuple):
    """One cell of a table."""

    kernel: str
    input: str
    column: str
    ours: int
    paper: int | str
    """As printed; of a formula its value, rounded."""
    difference: int
    """Ours less the paper's."""
    why: str | None
    """Reason for the difference; None if there is no difference, "" if it is unexplained."""
    printed: str = ""
    """The formula, if that is what is printed."""
    loops: int = -1
    """What the loops of the original make, where they are known beside a formula."""


def compare(figure: str, results: Sequence[xr.Dataset]) -> list[Cell]:
    """Our counts beside those of a figure, whose printed cells are claims.

    Parameters
    ----------
    figure
        "figure7", "figure8" or "figure10".
    results
        Datasets of faithful runs on 64 nodes, with attributes ``kind`` and ``counted_as``; a cell
        whose run is missing is left out. Serial runs are taken, others not.
    """
    return [cell for name in TABLES[figure] for cell in cells_of(claims()[name], results)]


def cells_of(claim: Claim, results: Sequence[xr.Dataset]) -> list[Cell]:
    """Our counts beside those of a claim's table; see `compare`."""
    runs = {
        (r.attrs["kernel"], INPUTS[r.attrs["kind"]], r.attrs["counted_as"]): r
        for r in results
        if r.attrs["style"] == "serial" and ("depth" in r.dims) == (claim.id in RECURSIVE)
    }
    found = (
        cell
        for kernel, row in claim.table().items()
        for column, text in row.items()
        if text != "-" and not column.endswith(LINES)
        for cell in _cells(claim, kernel, column, text, runs)
    )
    return list({cell[:3]: cell for cell in found}.values())


def _cells(
    claim: Claim, kernel: str, column: str, printed: Any, runs: Mapping[tuple, xr.Dataset]
) -> Iterator[Cell]:
    """The cell of a column, or for each input the cell of a formula."""
    kind, *words = column.split()
    if kind == "static":
        form, (short, count) = form_of(claim), words
        style = next(s for s, name in STYLES.items() if name == short)
        ours = int(getattr(in_text(kernel, form, style), count))
        why = None if ours == printed else reason(kernel, form, style, count, printed)
        yield Cell(kernel, TEXT[form], column, ours, printed, ours - printed, why)
        return
    formula = kind == "dynamic"
    words = words if formula else [kind, *words]
    inputs = ("Mn", "Mx", "ring") if formula else (words.pop(), "ring")
    style = next((s for s, short in STYLES.items() if short == words[0]), "finish_async")
    name = " ".join(words)
    for given in inputs:
        if (run := runs.get((kernel, given, style))) is None:
            continue
        cell = Cell(kernel, given, name, int(run[words[-1]].sum()), printed, 0, None)
        if formula:
            at = formulas.letters(kernel, run.attrs["kind"], int(run.attrs["n"]))
            expected = round(formulas.value(printed, at))
            cell = cell._replace(paper=expected, printed=printed, loops=_loops(kernel, name, run))
        yield _explained(claim, cell)


def _explained(claim: Claim, cell: Cell) -> Cell:
    """The cell with its difference from print, and what explains that and one from the loops."""
    difference = _differ(cell.ours, cell.paper)
    given = [_reason(cell, difference, claim.data.get("difference", ()))]
    if cell.loops >= 0:
        given.append(_reason(cell, cell.ours - cell.loops, _original()["difference"]))
    reasons = [reason for reason in given if reason is not None]
    why = " ".join(reasons) if all(reasons) else ""
    return cell._replace(difference=difference, why=why if reasons else None)


def _reason(cell: Cell, difference: int, known: Sequence[Mapping[str, Any]]) -> str | None:
    """Why a cell differs; None if it does not, "" if no entry has that cell and size."""
    name = " ".join(cell[:3])
    for entry in known:
        why = OPEN * entry.get("open", False) + " ".join(entry["why"].split())
        if name in entry.get("cells", ()):
            return why if entry["cells"][name] == difference else ""
    return "" if difference else None


def form_of(claim: Claim) -> str:
    """Whether a table of Figure 7 is of recursive programs."""
    return "recursive" if claim.id == "imsuite.fig7b.table" else "iterative"


def in_text(kernel: str, form: str, style: str) -> Statics:
    """What is in the text of our kernel."""
    return next(r for r in code() if (r.kernel, r.form, r.style) == (kernel, form, style))


class Lines(NamedTuple):
    """Lines of code of the programs of a table: of ours, which are one for X10 and HJ, and of the paper's."""

    ours: list[int]
    paper: list[int]

    @property
    def fewer(self) -> bool:
        """Whether ours have fewer in each program: they are vectorised, and have no declarations."""
        return all(a < b for a, b in zip(self.ours, self.paper, strict=True))

    def __str__(self) -> str:
        here, there = (f"{min(of)} to {max(of)}" for of in self)
        return f"{len(self.ours)} numbers of lines are of another language: {here} for {there}"


def lines_of(claim: Claim) -> Lines:
    """The lines of code of a table's programs, which no cell compares: they are in two languages."""
    pairs = [
        (in_text(kernel, form_of(claim), "finish_async").lines, printed)
        for kernel, row in claim.table().items()
        for column, printed in row.items()
        if column.endswith(LINES) and printed != "-"
    ]
    return Lines([a for a, _ in pairs], [b for _, b in pairs])


@cache
def code() -> list[Statics]:
    """What is in the text of our kernels."""
    from dgsuite.studies.statics.counting import table

    return table()


def show(console: Any, figure: str, cells: Sequence[Cell]) -> None:
    """Print the table, then what explains its differences."""
    left = [k for k, h in enumerate(HEADS) if h not in ("ours", "paper", "difference", "loops")]
    notes = {why: number for number, why in enumerate(reasons(cells), 1)}
    rows = [row(cell, notes) for cell in cells]
    console.print(table(HEADS, rows, left=left, title=f"IMSuite, {figure}", wrap=False))
    for note, number in notes.items():
        console.print(f"{number}. {note or NOTHING}", highlight=False, markup=False)
    console.print(summary(cells), highlight=False)


HEADS = ("kernel", "input", "count", "ours", "paper", "difference", "loops", "printed", "")
"""Columns of a table of cells."""

NOTHING = "not explained"

OPEN = "Open: "
"""Start of the reason for a difference whose cause is not known."""


def reasons(cells: Iterable[Cell]) -> list[str]:
    """The reasons for differences, each once, in order."""
    return list(dict.fromkeys(cell.why for cell in cells if cell.why is not None))


def row(cell: Cell, notes: Mapping[str, int]) -> tuple[Any, ...]:
    """A cell under `HEADS`; reasons as numbers in brackets."""
    difference = f"{cell.difference:+d}" if cell.difference else ""
    loops = cell.loops if cell.loops >= 0 else ""
    note = "" if cell.why is None else f"[{notes[cell.why]}]"
    return (*cell[:5], difference, loops, cell.printed, note)


def summary(cells: Sequence[Cell]) -> str:
    """How many are equal."""
    equal = sum(cell.difference == 0 for cell in cells)
    unknown = [c for c in cells if (c.why or "").startswith(OPEN)]
    rest = "; the others are explained with the numbers" * (equal + len(unknown) < len(cells))
    if unknown:
        rest += f"; open: {', '.join(f'{c.kernel.upper()} {c.input} {c.column}' for c in unknown)}"
    return f"{equal} of {len(cells)} cells are equal{rest}."


def require(cells: Iterable[Cell]) -> None:
    """Refuse differences that nothing explains.

    Raises
    ------
    RunError
        Naming them.
    """
    odd = [c for c in cells if c.why == ""]
    if odd:
        named = ", ".join(f"{c.kernel} {c.input} {c.column} ({c.difference:+d})" for c in odd)
        raise RunError(f"differences from the paper that nothing explains: {named}")


@cache
def _original() -> dict[str, Any]:
    """What the original's loops make: `paper/loops.toml`."""
    return tomllib.loads(text_of("loops.toml"))


def _loops(kernel: str, column: str, run: xr.Dataset) -> int:
    """What the original's loops make of a run with as many rounds; -1 where no formula says it."""
    formula = _original()["loops"].get(kernel, {}).get(column)
    if formula is None:
        return -1
    n = int(run.attrs["n"])
    names = {"n": n, "R": run.sizes["round"], "P": n.bit_length() - 1}
    names["k"] = json.loads(run.attrs["parameters"]).get("k", 0)
    return int(evaluate(formula, names))


def _differ(ours: int, paper: int | str) -> int:
    """Ours less the paper's; a number printed in thousands is equal to any that rounds to it."""
    if isinstance(paper, int):
        return ours - paper
    thousands = int(paper.removesuffix("K"))
    return 0 if round(ours / 1000) == thousands else ours - 1000 * thousands
