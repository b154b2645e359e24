"""Tables in HTML, as notebooks show objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup


def table(caption: str, rows: Iterable[Sequence[str]], heads: Sequence[str] = ()) -> str:
    """A table in HTML. The first cell of a row is its heading.

    Parameters
    ----------
    rows
        Cells of text, which is escaped, or of `markupsafe.Markup`, which is not.
    """
    left = Markup("<{0} style='text-align:left'>{1}</{0}>")
    top = Markup("<tr>{}</tr>").format(_joined(left.format("th", head) for head in heads))
    body = _joined(
        Markup("<tr>{}{}</tr>").format(
            left.format("th", first), _joined(left.format("td", cell) for cell in rest)
        )
        for first, *rest in rows
    )
    text = Markup("<table><caption>{}</caption>{}{}</table>").format(
        caption, top if heads else "", body
    )
    return str(text)


def _joined(parts: Iterable[Markup]) -> Markup:
    return Markup("").join(parts)
