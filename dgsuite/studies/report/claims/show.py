"""Claims with their verdicts, on a console and on a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from dgsuite.base.tables import Table, table
from dgsuite.studies.report.claims.data import PAPERS
from dgsuite.studies.report.claims.verdicts import DIFFERS, KINDS, RESULTS, VERDICTS, Row

HEADS = ("claim", "the paper", "ours", "verdict", "rests on", "why")


def line(row: Row) -> tuple[str, ...]:
    """A row under `HEADS`."""
    claim, verdict = row
    why = verdict.why + (f" SILENT: {verdict.silent}" if verdict.silent else "")
    ours = f"{verdict.ours}. {verdict.beside}" if verdict.beside else verdict.ours
    paper = f"{claim.place}: {claim.says}"
    return claim.id, paper, ours, verdict.verdict, verdict.kind, why.strip()


def silent(rows: Iterable[Row]) -> list[str]:
    """Claims that depart without a reason."""
    return [f"{r.claim.id}: {r.verdict.silent}" for r in rows if r.verdict.silent]


def summary(rows: Sequence[Row]) -> str:
    """How many claims have which verdict, by what it rests on."""
    parts = []
    for kind in KINDS:
        mine = [row.verdict.verdict for row in rows if row.verdict.kind == kind]
        parts.append(f"{len(mine)} {kind}" + (f" ({_counted(mine)})" if mine else ""))
    told = f"{len(rows)} claims: {', '.join(parts)}; {len(silent(rows))} depart without a reason"
    counts = _counted([row.verdict.beside.verdict for row in rows if row.verdict.beside])
    return f"{told}; on the papers' machines, simulated: {counts}" if counts else told


def _counted(verdicts: Sequence[str]) -> str:
    return ", ".join(f"{v} {verdicts.count(v)}" for v in VERDICTS if v in verdicts)


class Outline(NamedTuple):
    """What a reader sees first: how the claims came out, and why some differ."""

    counts: Table
    """A row for each paper, a column for each verdict: of those that are measured or simulated."""
    open: list[Row]
    """Those that differ without a reason that holds."""
    causes: list[tuple[str, list[Row]]]
    """Reasons of differences with the claims that have them, the most frequent first."""

    @property
    def differ(self) -> int:
        """How many claims differ."""
        return len(self.open) + sum(len(rows) for _, rows in self.causes)

    @property
    def tested(self) -> int:
        """How many of these have a reason whose condition holds of the results."""
        return sum("when" in row.claim.data for _, rows in self.causes for row in rows)


def outline(rows: Sequence[Row]) -> Outline:
    """How claims came out."""
    counts = []
    for title, mine in by_paper(rows).items():
        found = Counter(r.verdict.verdict for r in mine if r.verdict.kind in RESULTS)
        counts.append((title, *(found[verdict] for verdict in VERDICTS)))
    causes: dict[str, list[Row]] = {}
    for row in rows:
        if row.verdict.verdict == DIFFERS and not row.verdict.silent:
            causes.setdefault(row.claim.why or row.verdict.why, []).append(row)
    ordered = sorted(causes.items(), key=lambda cause: -len(cause[1]))
    unexplained = [row for row in rows if row.verdict.silent]
    return Outline(Table(("", *VERDICTS), counts), unexplained, ordered)


def state(row: Row) -> str:
    """A verdict as a word of the page's styles."""
    return "open" if row.verdict.silent else row.verdict.verdict.replace(" ", "-")


def by_paper(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The claims of each paper, by its title."""
    return {title: [r for r in rows if r.claim.paper == paper] for paper, title in PAPERS.items()}


def show(console: Any, rows: Sequence[Row]) -> None:
    """Print a table a paper, then how many claims have which verdict."""
    for title, mine in by_paper(rows).items():
        console.print(table(HEADS, map(line, mine), left=range(len(HEADS)), title=title))
    console.print(summary(rows), highlight=False, soft_wrap=True)
