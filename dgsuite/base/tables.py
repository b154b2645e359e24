"""Tables, and how commands print them."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import rich.table


class Marked(str):
    """A cell that stands out on a page."""


class Table(NamedTuple):
    """A table to be shown."""

    heads: Sequence[str]
    rows: Sequence[Sequence[Any]]
    """Cells of any type."""
    title: str = ""
    notes: Sequence[str] = ()
    """What the cells refer to by number, from 1."""
    remarks: Sequence[str] = ()
    """Lines below it."""

    @property
    def numeric(self) -> set[int]:
        """Columns whose cells begin with a number, or are empty."""
        columns = range(len(self.heads))
        shown = [[str(row[i]) for row in self.rows if str(row[i])] for i in columns]
        return {i for i in columns if shown[i] and all(map(NUMBER.match, shown[i]))}


NUMBER = re.compile(r"[+-]?\d[\d.,]*(e[+-]?\d+)?K?($|\s)")
"""Start of a cell that is a number, perhaps with more behind it."""


def table(
    heads: Sequence[str],
    rows: Iterable[Iterable[Any]] = (),
    *,
    left: Container[int] = (0,),
    title: str | None = None,
    wrap: bool = True,
) -> rich.table.Table:
    """A table without lines.

    Parameters
    ----------
    rows
        Cells of any type; text in brackets is not markup.
    left
        Columns whose cells begin at the same place; those of others end there.
    wrap
        Whether a long cell may have several lines.
    """
    import rich.table
    from rich.markup import escape

    made = rich.table.Table(
        box=None, pad_edge=False, header_style="bold", title=title, title_justify="left"
    )
    for column, head in enumerate(heads):
        made.add_column(
            head, justify="left" if column in left else "right", no_wrap=not wrap, overflow="fold"
        )
    for row in rows:
        made.add_row(*(escape(str(cell)) for cell in row))
    return made


def text(
    heads: Sequence[str], rows: Iterable[Iterable[Any]], *, left: Container[int] = (0,)
) -> str:
    """A table as lines of text."""
    from rich.console import Console

    console = Console(width=200, color_system=None)
    with console.capture() as captured:
        console.print(table(heads, rows, left=left))
    return "\n".join(line.rstrip() for line in captured.get().splitlines())
