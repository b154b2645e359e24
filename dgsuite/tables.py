"""Tables of the IMSuite paper beside ours: the difference of every cell, and where it comes from."""

from __future__ import annotations

import ast
import csv
import json
import operator
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from partition.errors import RunError
from partition.files import whole

if TYPE_CHECKING:
    import xarray as xr

INPUTS = {"mn": "Mn", "mx": "Mx", "spmin": "Mn", "chain": "Mn", "spmax": "Mx", "star": "Mx"}
INPUTS["ring"] = "ring"
"""The paper's names of inputs, by kind."""

OPERATIONS: dict[type, Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}
"""What formulas may do."""

STYLES = {"finish_async": "FA", "clocked": "FAC"}


class Cell(NamedTuple):
    """One cell of a table."""

    kernel: str
    input: str
    column: str
    ours: int
    paper: int | str
    difference: int
    """Ours less the paper's."""
    why: str | None
    """What explains the difference; None where there is none, "" where nothing does."""


def compare(figure: str, results: Sequence[xr.Dataset]) -> list[Cell]:
    """Our counts beside those of a figure.

    Parameters
    ----------
    figure
        "figure7", "figure8" or "figure10".
    results
        Datasets of faithful runs on 64 nodes, with attributes ``kind`` and ``counted_as``; a cell
        whose run is missing is left out. Serial runs are taken, others not.
    """
    data = _data(figure)
    reasons = {
        cell: (size, " ".join(entry["why"].split()))
        for entry in data["difference"]
        for cell, size in entry["cells"].items()
    }
    runs = {
        (r.attrs["kernel"], r.attrs["kind"], r.attrs["counted_as"]): r
        for r in results
        if r.attrs["style"] == "serial"
    }
    cells = []
    for (kernel, kind, style), run in runs.items():
        printed = data["paper"].get(kernel, {})
        expected = _formulas(printed, run) if figure == "figure7" else printed.get(INPUTS[kind], {})
        for column, paper in expected.items():
            variable = column.split()[-1]
            prefix = column.split()[0] if " " in column else "FA"
            if prefix != STYLES[style]:
                continue
            ours = int(run[variable].sum())
            difference = _differ(ours, paper)
            name = f"{kernel} {INPUTS[kind]} {column}"
            size, why = reasons.get(name, (0, ""))
            if size != difference:
                why = ""
            cells.append(
                Cell(
                    kernel,
                    INPUTS[kind],
                    column,
                    ours,
                    paper,
                    difference,
                    why if difference or size else None,
                )
            )
    return cells


def show(console: Any, figure: str, cells: Sequence[Cell]) -> None:
    """Print the table, then what explains its differences."""
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False, title=f"IMSuite, {figure}")
    for head in ("kernel", "input", "count", "ours", "paper", "difference", ""):
        right = head in ("ours", "paper", "difference")
        table.add_column(head, justify="right" if right else "left", no_wrap=True)
    notes: dict[str, int] = {}
    for cell in cells:
        mark = ""
        if cell.why is not None:
            note = cell.why or "not explained"
            mark = f"[{notes.setdefault(note, len(notes) + 1)}]"
        difference = f"{cell.difference:+d}" if cell.difference else ""
        row = (cell.kernel, cell.input, cell.column, str(cell.ours), str(cell.paper))
        table.add_row(*row, difference, mark.replace("[", r"\["))
    console.print(table)
    for note, number in notes.items():
        console.print(f"{number}. {note}", highlight=False, markup=False)
    equal = sum(cell.why is None for cell in cells)
    console.print(f"{equal} of {len(cells)} cells are equal.", highlight=False)


def write(path: str, heads: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    """Write a table as CSV: whole, or not at all."""
    with whole(path) as part, open(part, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(heads)
        writer.writerows(rows)


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


def _data(figure: str) -> dict[str, Any]:
    text = files("dgsuite").joinpath("paper", f"{figure}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _formulas(printed: dict[str, str], run: xr.Dataset) -> dict[str, int]:
    """The loops' formulas with the run's numbers in them."""
    n = int(run.attrs["n"])
    names = {"n": n, "R": run.sizes["round"], "P": n.bit_length() - 1}
    names["k"] = json.loads(run.attrs["parameters"]).get("k", 0)
    found = {column: evaluate(text, names) for column, text in printed.items()}
    if "FA finishes" in found:
        found["FA asyncs"] = n * found["FA finishes"]
    return found


def evaluate(formula: str, names: Mapping[str, int]) -> int:
    """The value of a formula: whole numbers, names of such, parentheses, ``+ - * // **``.

    Raises
    ------
    ValueError
        There is something else in it.
    """

    def value(node: ast.AST) -> int:
        match node:
            case ast.Constant(value=int(number)):
                return number
            case ast.Name(id=name) if name in names:
                return names[name]
            case ast.BinOp(left, operation, right) if type(operation) in OPERATIONS:
                found: int = OPERATIONS[type(operation)](value(left), value(right))
                return found
        raise ValueError(f"{ast.unparse(node)!r} in the formula {formula!r} cannot be evaluated")

    return value(ast.parse(formula, mode="eval").body)


def _differ(ours: int, paper: int | str) -> int:
    """Ours less the paper's; a number printed in thousands is equal to any that rounds to it."""
    if isinstance(paper, int):
        return ours - paper
    thousands = int(paper.removesuffix("K"))
    return 0 if round(ours / 1000) == thousands else ours - 1000 * thousands
