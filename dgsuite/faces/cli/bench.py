"""``dgsuite bench``: the project's own benchmarks, and comparing their results. Heavy imports come late."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dgsuite.base.errors import InputError, unknown
from dgsuite.faces.cli import console, options

if TYPE_CHECKING:
    from dgsuite.suites.benchmark import Comparison

MARK = "(__file__, __doc__)"
"""What the text of every benchmark has, since `benchmarks/common.py` makes its options of these."""


@click.command(
    context_settings={"ignore_unknown_options": True},
    epilog="Examples: dgsuite bench overhead --tiny; dgsuite bench --compare main~20 main",
)
@click.argument("name", required=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--compare",
    nargs=2,
    metavar="A B",
    help="Say which figures of B differ from those of A by more than noise: two files, folders or commits.",
)
@options.general
def bench(name: str | None, arguments: tuple[str, ...], compare: tuple[str, str] | None) -> None:
    """Run a benchmark of this project, with its own options (--json FILE, --tiny), or list them. They
    are not in the wheel: this takes a clone.
    """
    if compare:
        if name:
            raise InputError("--compare takes no name of a benchmark")
        _compare(*compare)
        return
    files = {file.stem: file for file in sorted(_folder().glob("*.py")) if MARK in file.read_text()}
    if name is None:
        _list(files)
    elif name not in files:
        raise InputError(unknown("benchmark", name, files))
    else:
        ended = subprocess.run([sys.executable, files[name], *arguments]).returncode
        click.get_current_context().exit(ended)


def _folder() -> Path:
    """The benchmarks of the clone that this is in, or is run from."""
    for root in (Path.cwd(), Path(__file__).parents[3]):
        if (root / "benchmarks" / "common.py").is_file():
            return root / "benchmarks"
    raise InputError("there are no benchmarks here: they are not in the wheel; run this in a clone")


def _list(files: dict[str, Path]) -> None:
    import ast

    from dgsuite.base.tables import table

    texts = {name: ast.get_docstring(ast.parse(file.read_text())) for name, file in files.items()}
    lines = (
        (name, " ".join((text or "").split("\n\n")[0].split())) for name, text in texts.items()
    )
    console.out().print(table(("benchmark", "what it measures"), lines, left=(0, 1)))


def _compare(before: str, after: str) -> None:
    from dgsuite.suites.benchmark import compared

    for name, found in compared(before, after):
        _show(name, found)


def _show(name: str, found: Comparison) -> None:
    from dgsuite.base.tables import table
    from dgsuite.suites.benchmark import amount, named

    print(
        f"{name}: {len(found.changes)} of {found.same + len(found.changes)} figures differ by more than "
        f"{found.noise:.2f} x; {found.only[0]} are in the first alone, {found.only[1]} in the second"
    )
    if found.changes:
        rows = (
            (
                named(c.row),
                amount(c.before, c.row["unit"]),
                amount(c.after, c.row["unit"]),
                f"{c.ratio:.2f} x",
            )
            for c in found.changes
        )
        console.out().print(table(("", "first", "second", "ratio"), rows))
