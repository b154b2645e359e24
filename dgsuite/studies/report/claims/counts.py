"""Checks of IMSuite's Figures 7 to 9: formulas and orders beside our counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dgsuite import genval
from dgsuite.core.running.runner import run
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.report.claims import formulas, verdicts
from dgsuite.studies.report.claims.data import Claim, claims
from dgsuite.studies.report.claims.evidence import INPUTS, RINGS, SUITE, Evidence, N, clocked
from dgsuite.studies.report.claims.verdicts import Verdict, check, compared, condition
from dgsuite.studies.report.tables import code

if TYPE_CHECKING:
    import xarray as xr

    from dgsuite.studies.statics.counting import Statics

ALIKE = 0.85
"""Correlation from which two curves are alike."""

FAC = "clocked"
CLOCKED = tuple(k for k in SUITE if k != "dr")


@check
def asyncs(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether each join has n tasks, in runs and in the text."""
    odd = [
        k for k in SUITE for style in _styles(k)
        if any((run.asyncs != N * run.finishes).any()
               for run in (evidence.counted(k, i, style) for i in INPUTS))
    ]  # fmt: skip
    text = [r.kernel for r in code() if r.form == "iterative" and r.asyncs != r.finishes]
    differing = sorted({*odd, *text})
    joins = {
        k: {int(x) for i in INPUTS for x in _tasks_a_join(evidence.counted(k, i))}
        for k in differing
    }
    return compared(claim, not differing, verdicts.all_but(differing), results=joins)


def _tasks_a_join(run: xr.Dataset) -> NDArray:
    """Tasks of a join, in the rounds that have joins."""
    joins = run.finishes.values
    return run.asyncs.values[joins > 0] / joins[joins > 0]


@condition
def without_traitors(tasks: Mapping[str, set[int]]) -> bool:
    """Whether BY alone has other joins, all of n - t tasks, where t = n/8 - 1."""
    return dict(tasks) == {"by": {N - (N // 8 - 1)}}


def _styles(kernel: str) -> tuple[str, ...]:
    return ("finish_async", FAC) if clocked(kernel) else ("finish_async",)


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
    return compared(claim, holds, ours, results=max(lines) / given["least"])


@condition
def shorter(lines: float) -> bool:
    """Whether our longest program is shorter than the paper's shortest."""
    return lines < 1


def _text() -> dict[str, tuple[Statics, Statics]]:
    """What is in the text of the iterative kernels: with joins alone, and with barriers."""
    rows = {(r.kernel, r.style): r for r in code() if r.form == "iterative"}
    return {k: (rows[k, "finish_async"], rows[k, FAC]) for k in CLOCKED}


@check
def phase_sum(claim: Claim, evidence: Evidence) -> Verdict:
    """Joins of FA beside joins and barriers of FAC: in our runs and texts, and in the printed texts."""
    odd = [
        f"{k} {i}" for k, i in product(CLOCKED, INPUTS)
        if evidence.total("finishes", k, i) !=
        evidence.total("finishes", k, i, FAC) + evidence.total("barriers", k, i, FAC)
    ]  # fmt: skip
    odd += [f"{k} text" for k, (a, b) in _text().items() if a.finishes != b.finishes + b.barriers]
    fa, fac = (claims()[f"imsuite.fig7{x}.table"].table() for x in "ac")
    suspect = [
        k for k in CLOCKED
        if fa[k]["static FA finishes"] != sum(fac[k][f"static FAC {n}"] for n in ("finishes", "barriers"))
    ]  # fmt: skip
    return compared(
        claim, not odd, f"{verdicts.all_but(odd)}; of the printed texts {verdicts.all_but(suspect)}"
    )


@check
def fac_fewer(claim: Claim, evidence: Evidence) -> Verdict:
    """Equal mutexes, and fewer joins and tasks, with clocks, in runs and in the text."""
    odd = [
        f"{k} text" for k, (a, b) in _text().items()
        if a.mutexes != b.mutexes or b.finishes >= a.finishes or b.asyncs >= a.asyncs
    ]  # fmt: skip
    for k, i in product(CLOCKED, INPUTS):
        fa, fac = ({n: evidence.total(n, k, i, style) for n in ("mutexes", "finishes", "asyncs")}
                   for style in ("finish_async", FAC))  # fmt: skip
        if fa["mutexes"] != fac["mutexes"] or any(fac[n] >= fa[n] for n in ("finishes", "asyncs")):
            odd.append(f"{k} {i}")
    return compared(claim, not odd, verdicts.all_but(odd))


@check
def fac_lighter(claim: Claim, evidence: Evidence) -> Verdict:
    """How many times as many joins FA has, by kernel."""
    ratios = dict.fromkeys(CLOCKED, 0.0)
    for k, i in product(CLOCKED, INPUTS):
        fa, fac = (evidence.total("finishes", k, i, style) for style in ("finish_async", FAC))
        ratios[k] = max(ratios[k], fa / fac)
    most = max(ratios, key=lambda k: ratios[k])
    holds = min(ratios.values()) > 1 and most == "ds" and 1.5 < ratios["lcr"] < 2.5
    told = f"FA/FAC joins: lcr {ratios['lcr']:.1f}, {most} {ratios[most]:.0f}"
    return compared(claim, holds, told)


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
def corrected(claim: Claim, evidence: Evidence) -> Verdict:
    """HS and LCR in their right rows."""
    styles = {"FA": "finish_async", "FAC": FAC}
    ours = {
        k: {s: evidence.total("comm", k, "Mx", style) for s, style in styles.items()} for k in RINGS
    }
    paper = {k: {s: row[f"Comm {s}"] for s in styles} for k, row in claim.table().items()}
    return compared(claim, ours == paper, ours)


@check
def merged_phases(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether (FA - FAC) / (n - 1) of our communication is whole."""
    odd = [
        k for k, i in product(CLOCKED, INPUTS)
        if k not in RINGS
        and (evidence.total("comm", k, i) - evidence.total("comm", k, i, FAC)) % (N - 1)
    ]  # fmt: skip
    return compared(claim, not odd, f"{verdicts.all_but(odd)} without a remainder")


@check
def committee_size(claim: Claim, evidence: Evidence) -> Verdict:
    """K of the graph that stands for the paper's."""
    graph = genval.graph("mx", N, family="paper", kernel="kc")
    return compared(claim, graph.attrs["k"] == claim.data["values"]["K"], {"K": graph.attrs["k"]})


def order(
    evidence: Evidence, variable: str, kernels: Sequence[str], form: str = "iterative",
    style: str = "finish_async",
) -> dict[str, int]:  # fmt: skip
    """The sign of Mx - Mn, by kernel."""
    mn, mx = ({k: evidence.total(variable, k, i, style, form) for k in kernels} for i in INPUTS)
    return {k: (mx[k] > mn[k]) - (mx[k] < mn[k]) for k in kernels}


@check
def mutex_order(claim: Claim, evidence: Evidence) -> Verdict:
    """Mutexes more on Mx-In but for MST; none where there are none."""
    signs = order(evidence, "mutexes", SUITE)
    without = [k for k in SUITE if evidence.total("mutexes", k, "Mx") == 0]
    more = [k for k, sign in signs.items() if sign > 0]
    holds = more == ["bf", "dst", "by", "ds", "kc", "dp", "mis"] and signs["mst"] <= 0
    holds &= without == ["dr", "hs", "lcr", "vc"]
    return compared(claim, holds, {"more on Mx": more, "none": without})


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
    return compared(claim, not more, ours, results=(len(more), len(tried)))


@condition
def refuted(found: tuple[int, int]) -> bool:
    """Whether there is a graph of which it does not hold: one is enough."""
    return found[0] > 0


@check
def mis_comm(claim: Claim, evidence: Evidence) -> Verdict:
    """Communication of MIS beside its mutexes."""
    pairs = [
        (evidence.total("comm", "mis", i, style), evidence.total("mutexes", "mis", i, style))
        for style in ("finish_async", FAC) for i in INPUTS
    ]  # fmt: skip
    told = "; ".join(f"{c} and {m}" for c, m in pairs)
    return compared(claim, all(c < m for c, m in pairs), told)


@check
def comm_order(claim: Claim, evidence: Evidence) -> Verdict:
    """Communication more on Mx-In but for DST and DR."""
    signs = order(evidence, "comm", SUITE)
    clocks = order(evidence, "comm", CLOCKED, style=FAC)
    expected = {k: 0 if k in RINGS else -1 if k in ("dst", "dr") else 1 for k in SUITE}
    holds = signs == expected and all(clocks[k] == expected[k] for k in CLOCKED)
    return compared(claim, holds, {"less on Mx": [k for k, sign in signs.items() if sign < 0]})


def _rounds(evidence: Evidence, kernel: str) -> tuple[int, int]:
    style = FAC if kernel != "dr" else "finish_async"
    mn, mx = (evidence.counted(kernel, i, style).sizes["round"] for i in INPUTS)
    return mn, mx


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
    within = "iterations, not rounds of votes, which grow within one"
    return compared(claim, holds, f"{told} an iteration, Mn and Mx", within)


@check
def fewer_rounds(claim: Claim, evidence: Evidence) -> Verdict:
    """Rounds on both inputs of the kernels that are said to need fewer on Mx-In."""
    found = {k: _rounds(evidence, k) for k in ("bf", "dst", "dr", "ds", "dp")}
    return compared(claim, all(mx < mn for mn, mx in found.values()), _pairs(found), results=found)


@condition
def iterations_of_figure_8(rounds: Mapping[str, tuple[int, int]]) -> bool:
    """Whether DR has one round, and DS as many as the differences of communication in Figure 8 make."""
    printed = claims()["imsuite.fig8.table"].table()["ds"]
    made = [
        (printed[f"FA comm {i}"] - printed[f"FAC comm {i}"]) // (N - 1) // 10 + 1 for i in INPUTS
    ]
    odd = {k for k, (mn, mx) in rounds.items() if mx >= mn}
    return odd == {"dr", "ds"} and rounds["dr"] == (1, 1) and [*rounds["ds"]] == made


def _pairs(found: dict[str, tuple[int, int]]) -> str:
    return ", ".join(f"{k} {mn} and {mx}" for k, (mn, mx) in found.items())


@check
def mis_rounds(claim: Claim, evidence: Evidence) -> Verdict:
    """Rounds of MIS on both inputs."""
    mn, mx = _rounds(evidence, "mis")
    return compared(claim, mx > mn, _pairs({"mis": (mn, mx)}))


@check
def vc_rounds(claim: Claim, evidence: Evidence) -> Verdict:
    """Rounds of VC: to six colours, and of what is left three launches each to shift down."""
    given = claim.data["values"]
    mn, mx = _rounds(evidence, "vc")
    shifts = [
        (evidence.total("finishes", "vc", i) - 2 * r) / 3 for i, r in (("Mn", mn), ("Mx", mx))
    ]
    holds = mn == given["six_colour_rounds_chain"] and mx >= 1
    holds &= set(shifts) == {given["shift_down_rounds"]}
    return compared(claim, holds, f"{mn} on the chain, {mx} on the star, and {shifts[0]:g}")
