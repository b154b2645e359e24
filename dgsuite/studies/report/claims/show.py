"""Claims with their verdicts, on a console and on a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dgsuite.base.tables import Table, table
from dgsuite.studies.report.claims.data import PAPERS
from dgsuite.studies.report.claims.verdicts import Row

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


def by_paper(rows: Sequence[Row]) -> Iterator[Table]:
    """A table a paper."""
    for paper, title in PAPERS.items():
        yield Table(HEADS, [line(row) for row in rows if row.claim.paper == paper], title)


def show(console: Any, rows: Sequence[Row]) -> None:
    """Print a table a paper, then how many claims have which verdict."""
    for found in by_paper(rows):
        console.print(table(*found[:2], left=range(len(HEADS)), title=found.title))
    console.print(summary(rows), highlight=False)
