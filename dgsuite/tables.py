"""Tables of text, as commands print them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table


def table(
    heads: Sequence[str],
    rows: Iterable[Iterable[Any]] = (),
    *,
    left: Container[int] = (0,),
    title: str | None = None,
    wrap: bool = True,
) -> Table:
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
    from rich.markup import escape
    from rich.table import Table

    made = Table(box=None, pad_edge=False, header_style="bold", title=title, title_justify="left")
    for column, head in enumerate(heads):
        made.add_column(
            head,
            justify="left" if column in left else "right",
            no_wrap=not wrap,
            overflow="fold",
        )
    for row in rows:
        made.add_row(*(escape(str(cell)) for cell in row))
    return made
