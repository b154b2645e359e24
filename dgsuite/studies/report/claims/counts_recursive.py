"""Checks of IMSuite's Figure 10: relations and orders of counts of recursive programs."""

from __future__ import annotations

from dgsuite.studies.report.claims.counts import FAC, order
from dgsuite.studies.report.claims.data import Claim, claims
from dgsuite.studies.report.claims.evidence import COUNTS, INPUTS, Evidence, N
from dgsuite.studies.report.claims.verdicts import Verdict, check, compared

RECURSIVE_CLOCKED = ("bf", "dst", "mst")
RECURSIVE = ("bf", "dst", "by", "dr", "mst")


@check
def bf_relations(claim: Claim, evidence: Evidence) -> Verdict:
    """The relations of recursive BF, in print, in order, and in runs of Figure 10 on workers."""
    tables = [claims()[f"imsuite.fig10{part}.table"].table()["bf"] for part in "ab"]
    rows: list[tuple[str, list[int]]] = []
    for i in INPUTS:
        for style, row in zip(("FA", "FAC"), tables, strict=True):
            rows.append((style, [int(row.get(f"{style} {v} {i}", 0)) for v in COUNTS]))
        for style, name in (("FA", "finish_async"), ("FAC", FAC)):
            rows.append((style, [evidence.total(v, "bf", i, name, "recursive") for v in COUNTS]))
    free = 0
    if (figure := evidence.figure(10)) is not None:
        mine = figure.isel(run=((figure.kernel == "bf") & (figure.style == "finish_async")).values)
        free = mine.sizes["run"]
        counts = zip(*(mine[v].values.tolist() for v in COUNTS), strict=True)
        rows += [("FA", list(each)) for each in counts]
    odd = [row for row in rows if not obeys(row[0], *row[1])]
    told = f"{len(rows) - len(odd)} of {len(rows)} rows, {free} of runs on workers"
    return compared(claim, not odd, told)


def obeys(style: str, comm: int, mutexes: int, asyncs: int, finishes: int, barriers: int) -> bool:
    """Whether counts of recursive BF are those of some schedule, with a root other than node 0."""
    if style == "FA":
        return comm == mutexes == asyncs + finishes // 2 + 1 and finishes % 2 == 0
    return comm == mutexes == 2 * asyncs + finishes + 1 and barriers == finishes


@check
def like_iterative(claim: Claim, evidence: Evidence) -> Verdict:
    """Orders of Mn-In and Mx-In, recursive beside iterative."""
    odd = []
    for style, kernels in (("finish_async", RECURSIVE), (FAC, RECURSIVE_CLOCKED)):
        for variable in ("comm", "mutexes"):
            flat = order(evidence, variable, kernels, style=style)
            deep = order(evidence, variable, kernels, "recursive", style)
            odd += [f"{k} {variable} {style}" for k in kernels if flat[k] * deep[k] < 0]
    others = {text.split()[0] for text in odd}
    ours = f"the other way round: {', '.join(odd) or 'none'}"
    return compared(claim, len(others) < 2, ours, "for the most part")


@check
def by_mutex(claim: Claim, evidence: Evidence) -> Verdict:
    """Mutexes of recursive BY beside its communication."""
    pairs = [
        [evidence.total(v, "by", i, form="recursive") for v in ("mutexes", "comm")] for i in INPUTS
    ]
    told = "; ".join(f"{m} and {c}" for m, c in pairs)
    return compared(claim, all(m > c for m, c in pairs), told)


@check
def dst_comm(claim: Claim, evidence: Evidence) -> Verdict:
    """What recursive DST saves with clocks: communication beside remote tasks."""
    pairs = [
        [evidence.total(v, "dst", i, form="recursive") - evidence.total(v, "dst", i, FAC, "recursive")
         for v in ("comm", "asyncs")] for i in INPUTS
    ]  # fmt: skip
    told = "; ".join(f"{c} of {a} tasks" for c, a in pairs)
    return compared(claim, all(c * N == a * (N - 1) for c, a in pairs), told)


@check
def mst_equal(claim: Claim, evidence: Evidence) -> Verdict:
    """Mutexes and barriers of recursive MST on both inputs."""
    mutexes = {evidence.total("mutexes", "mst", i, s, "recursive")
               for i in INPUTS for s in ("finish_async", FAC)}  # fmt: skip
    barriers = {evidence.total("barriers", "mst", i, FAC, "recursive") for i in INPUTS}
    ours = {"mutexes": sorted(mutexes), "barriers": sorted(barriers)}
    return compared(claim, len(mutexes) == len(barriers) == 1, ours)
