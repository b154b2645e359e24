"""Checks of IMSuite's Figures 7 to 10, beside those of relations: formulas, curves, schedules, and printed
tables cell by cell, with what the reasons for differences are tested on.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import xarray as xr

from dgsuite import genval
from dgsuite.core.running.runner import run
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.report.claims import formulas, verdicts
from dgsuite.studies.report.claims.data import Claim, claims
from dgsuite.studies.report.claims.evidence import (
    COUNTS,
    INPUTS,
    RINGS,
    SUITE,
    Evidence,
    N,
    dataset,
)
from dgsuite.studies.report.claims.verdicts import Verdict, check, compared, condition
from dgsuite.studies.report.tables import cells_of, code, lines_of, reasons, summary

ALIKE = 0.85
"""Correlation from which two curves are alike."""

FAC = "clocked"
CLOCKED = tuple(k for k in SUITE if k != "dr")


@check
def code_sizes(claim: Claim, evidence: Evidence) -> Verdict:
    """Lines and static counts of our kernels within the paper's range."""
    given, rows = claim.data["values"], code()
    lines = [row.lines for row in rows]
    names = {"finishes": "most_fin", "barriers": "most_bar", "mutexes": "most_mut"}
    most = {name: max(getattr(row, name) for row in rows) for name in names}
    holds = given["least"] <= min(lines) and max(lines) <= given["most"]
    holds &= all(most[name] <= given[limit] for name, limit in names.items())
    ours = {"lines": f"{min(lines)} to {max(lines)}", **most}
    return compared(claim, holds, ours, results=max(lines) < given["least"])


@check
def formulas_at_64(claim: Claim, evidence: Evidence) -> Verdict:
    """The printed formulas' values on the paper's inputs."""
    parts = {"FA": "a", "FAC": "c"}
    printed = {style: claims()[f"imsuite.fig7{x}.table"].table() for style, x in parts.items()}
    odd = []
    for kernel, given, *values in claim.data["rows"]:
        inputs = [given] if given in INPUTS else INPUTS
        columns = zip(claim.data["columns"][2:], values, strict=True)
        there = [(column, expected) for column, expected in columns if expected != "-"]
        for (column, expected), i in product(there, inputs):
            text = printed[column.split()[0]][kernel][f"dynamic {column}"]
            at = formulas.letters(kernel, i.lower(), N)
            if formulas.value(text, at) != expected:
                odd.append(f"{kernel} {i} {column}")
    return compared(claim, not odd, verdicts.all_but(odd))


@check
def committee_size(claim: Claim, evidence: Evidence) -> Verdict:
    """K of the graph that stands for the paper's."""
    graph = genval.graph("mx", N, family="paper", kernel="kc")
    return compared(claim, graph.attrs["k"] == claim.data["values"]["K"], {"K": graph.attrs["k"]})


@cache
def grown(n: int, seed: int) -> tuple[int, int]:
    """Mutexes of MST on a tree, and on the same tree with edges added: SP-Max, which has the tree in it.

    Each edge of the tree has the same weight in both.
    """
    given: dict[str, Any] = {"seed": seed, "family": "paper", "kernel": "mst"}
    tree, whole = (genval.graph(i, n, **given) for i in ("mn", "mx"))
    weights = whole.to_scipy().multiply(tree.to_scipy().astype(bool))
    graphs = (Graph.from_scipy(weights.tocsr()), whole)
    few, many = (run("mst", g, style="serial", count_as=FAC, faithful=True) for g in graphs)
    return int(few.mutexes.sum()), int(many.mutexes.sum())


@check
def mst_mutexes(claim: Claim, evidence: Evidence) -> Verdict:
    """Mutexes of MST before and after edges were added to trees, of several sizes and seeds."""
    tried = [*product((16, 32, 64), (101, 7, 2024))]
    found = [(grown(n, seed), f"(n = {n}, seed {seed})") for n, seed in tried]
    more = [f"{few} to {many} {tree}" for (few, many), tree in found if many > few]
    example = f": {more[-1]}" if more else ""
    ours = f"more in {len(more)} of {len(tried)} trees{example}"
    return compared(claim, not more, ours, results=bool(more))


@check
def similar_rounds(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether both curves, drawn to the same width, go up and down alike; those of other kernels do not."""
    at = np.linspace(0, 1, N)
    found: dict[bool, dict[str, float]] = {True: {}, False: {}}
    several = [k for k in CLOCKED if k not in (*RINGS, "mis", "vc")]  # MIS and VC have few rounds
    for kernel in several:
        curves = [evidence.counted(kernel, i, FAC).comm.values for i in INPUTS]
        drawn = [np.interp(at, np.linspace(0, 1, len(c)), c) for c in curves]
        found[kernel in claim.data["kernels"]][kernel] = float(np.corrcoef(*drawn)[0, 1])
    named, others = found[True], found[False]
    holds = min(named.values()) >= ALIKE
    told = f"{verdicts.said(named)}; of others {verdicts.said(others)}"
    if holds and max(others.values()) >= ALIKE:
        return verdicts.unknown("no statement: the curves of other kernels are just as alike", told)
    return compared(claim, holds, told, f"a correlation of at least {ALIKE}")


@check
def by_level(claim: Claim, evidence: Evidence) -> Verdict:
    """Communication of BY by iteration, a round being the votes of one."""
    levels = []
    for i in INPUTS:
        comm = evidence.counted("by", i, FAC).comm.values
        levels.append(sorted(set(comm.reshape(N // 8 + 1, -1).sum(axis=1).tolist())))
    told = " and ".join(", ".join(map(str, level)) for level in levels)
    holds = all(len(level) == 1 for level in levels) and levels[0] < levels[1]
    return compared(claim, holds, f"{told} an iteration, Mn and Mx")


@check
def bf_relations(claim: Claim, evidence: Evidence) -> Verdict:
    """The relations of recursive BF, in print, in order, and in runs of Figure 10 on workers."""
    tables = [claims()[f"imsuite.fig10{part}.table"] for part in "ab"]
    rows, free = [row for table in tables for row in schedules(table, evidence)], 0
    if (figure := evidence.figure(10)) is not None:
        mine = figure.isel(run=((figure.kernel == "bf") & (figure.style == "finish_async")).values)
        free = mine.sizes["run"]
        counts = zip(*(mine[v].values.tolist() for v in COUNTS), strict=True)
        rows += [("FA", *each) for each in counts]
    odd = [row for row in rows if not obeys(*row)]
    told = f"{len(rows) - len(odd)} of {len(rows)} rows, {free} of runs on workers"
    return compared(claim, not odd, told)


def schedules(claim: Claim, evidence: Evidence) -> list[tuple[Any, ...]]:
    """Style and counts of recursive BF that a table of Figure 10 prints, and ours."""
    printed, rows = claim.table()["bf"], []
    for (style, name), given in product((("FA", "finish_async"), ("FAC", FAC)), INPUTS):
        if f"{style} comm {given}" in printed:
            rows.append((style, *(int(printed.get(f"{style} {v} {given}", 0)) for v in COUNTS)))
            ours = (evidence.total(v, "bf", given, name, "recursive") for v in COUNTS)
            rows.append((style, *ours))
    return rows


def obeys(style: str, comm: int, mutexes: int, asyncs: int, finishes: int, barriers: int) -> bool:
    """Whether counts of recursive BF are those of some schedule, with a root other than node 0."""
    if style == "FA":
        return comm == mutexes == asyncs + finishes // 2 + 1 and finishes % 2 == 0
    return comm == mutexes == 2 * asyncs + finishes + 1 and barriers == finishes


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
    return dataset("row", ("style", *COUNTS), schedules(claim, evidence))


TESTED_ON = {"any_schedule": _schedules, "passes_of_loops": _passes}
"""What the condition of a cell's reason is tested on."""
