"""The check of printed tables of counts, cell by cell, and what the reasons for differences are tested on."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dgsuite.studies.report.claims import verdicts
from dgsuite.studies.report.claims.counts import FAC, obeys
from dgsuite.studies.report.claims.data import Claim
from dgsuite.studies.report.claims.evidence import COUNTS, INPUTS, Evidence, dataset
from dgsuite.studies.report.claims.verdicts import Verdict, check, condition
from dgsuite.studies.report.tables import cells_of, lines_of, reasons, summary


@check
def cells(claim: Claim, evidence: Evidence) -> Verdict:
    """Each printed cell beside ours; a difference needs a reason with its size, tested if it can be."""
    found = cells_of(claim, evidence.all_counted)
    odd = [f"{c.kernel} {c.input} {c.column} {c.difference:+d}" for c in found if c.why == ""]
    for entry in claim.data.get("difference", ()):
        when = entry.get("when")
        if when and not verdicts.CONDITIONS[when](TESTED_ON[when](claim, evidence)):
            odd.append(f"this reason does not hold: {entry['why']}")
    text = summary(found)
    lines = lines_of(claim)
    if lines.ours:
        text += f" {lines}, fewer in each program." if lines.fewer else f" {lines}."
        odd += [] if lines.fewer else ["some program of ours is longer"]
    if all(c.difference == 0 for c in found):
        return Verdict(verdicts.EQUAL, text, silent=", ".join(odd))
    return Verdict(
        verdicts.DIFFERS, text, " / ".join(r for r in reasons(found) if r), ", ".join(odd)
    )


@condition
def any_schedule(rows: xr.Dataset) -> bool:
    """Whether counts of recursive BF are those of some schedule, in each row: see `obeys`."""
    values = zip(rows["style"].values, *(rows[name].values for name in COUNTS), strict=True)
    return all(obeys(str(style), *map(int, counts)) for style, *counts in values)


@condition
def passes_of_loops(rows: xr.Dataset) -> bool:
    """Whether MST's joins and barriers are those of its counters: so many a phase, and a pass of a loop."""
    made = rows["fixed"] * rows["rounds"] + rows["each"] * rows["passes"]
    return bool((made == rows["counted"]).all())


def _passes(claim: Claim, evidence: Evidence) -> xr.Dataset:
    """MST's passes on both inputs, by its traces, and its counts in both styles."""
    rows = []
    for given in INPUTS:
        passes = int(np.isin(evidence.trace("mst", given)["name"], LOOPS).sum())
        rounds = evidence.run("mst", given).sizes["round"]
        for count, style, fixed, each in PASSES:
            rows.append((fixed, each, rounds, passes, evidence.total(count, "mst", given, style)))
    return dataset("row", ("fixed", "each", "rounds", "passes", "counted"), rows)


LOOPS = ("wake", "report", "turn", "transmit")
"""Phases of MST that a pass of a loop has."""

PASSES = (("finishes", "finish_async", 10, 3), ("finishes", FAC, 5, 2), ("barriers", FAC, 5, 1))
"""Of MST's counts in a style, how many its counters add a phase, and how many a pass."""


def _schedules(claim: Claim, evidence: Evidence) -> xr.Dataset:
    """Counts of recursive BF that a table of Figure 10 prints, and ours."""
    printed = claim.table()["bf"]
    rows = []
    for style, name in (("FA", "finish_async"), ("FAC", FAC)):
        for given in INPUTS:
            if f"{style} comm {given}" in printed:
                rows.append((style, *(int(printed.get(f"{style} {v} {given}", 0)) for v in COUNTS)))
                ours = (evidence.total(v, "bf", given, name, "recursive") for v in COUNTS)
                rows.append((style, *ours))
    return dataset("row", ("style", *COUNTS), rows)


TESTED_ON = {"any_schedule": _schedules, "passes_of_loops": _passes}
"""What the condition of a cell's reason is tested on."""
