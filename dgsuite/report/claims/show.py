"""Claims with their verdicts, on a console and on a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from dgsuite.report.claims.data import PAPERS
from dgsuite.report.claims.verdicts import Row
from dgsuite.tables import table

HEADS = ("claim", "the paper", "ours", "verdict", "why")


def line(row: Row) -> tuple[str, ...]:
    """A row under `HEADS`."""
    claim, verdict = row
    why = verdict.why + (f" SILENT: {verdict.silent}" if verdict.silent else "")
    return claim.id, f"{claim.place}: {claim.says}", verdict.ours, verdict.verdict, why.strip()


def silent(rows: Iterable[Row]) -> list[str]:
    """Claims that depart without a reason."""
    return [f"{r.claim.id}: {r.verdict.silent}" for r in rows if r.verdict.silent]


def summary(rows: Sequence[Row]) -> str:
    """How many claims have which verdict."""
    found = Counter(row.verdict.verdict for row in rows)
    counts = ", ".join(f"{name} {count}" for name, count in sorted(found.items()))
    return f"{len(rows)} claims: {counts}; {len(silent(rows))} depart without a reason"


def show(console: Any, rows: Sequence[Row]) -> None:
    """Print a table a paper, then how many claims have which verdict."""
    for paper, title in PAPERS.items():
        lines = [line(row) for row in rows if row.claim.paper == paper]
        console.print(table(HEADS, lines, left=range(len(HEADS)), title=title))
    console.print(summary(rows), highlight=False)


def section(rows: Sequence[Row]) -> str:
    """The page's section on claims."""
    parts = [f'<section id="claims"><h2>What the papers say</h2><p>{escape(summary(rows))}.</p>']
    top = "".join(f"<th>{head}</th>" for head in HEADS)
    for paper, title in PAPERS.items():
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in line(row))}</tr>"
            for row in rows
            if row.claim.paper == paper
        )
        parts.append(
            f'<details><summary>{escape(title)}</summary><div class="wide"><table class="claims">'
            f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div></details>"
        )
    return "".join(parts) + "</section>"
