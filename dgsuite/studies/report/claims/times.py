"""Checks of what IMSuite says of times (Figures 11 to 19), on results in a folder."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.studies.report.claims import verdicts
from dgsuite.studies.report.claims.data import Claim, figure_of
from dgsuite.studies.report.claims.evidence import Evidence
from dgsuite.studies.report.claims.setups import settings_of
from dgsuite.studies.report.claims.verdicts import Verdict, check, compared, condition, needed
from dgsuite.studies.report.factors import SERIAL_PROGRAM
from dgsuite.studies.report.results import bars, crowded, hardware_threads, programs
from dgsuite.studies.report.statistics import (
    Interval,
    above,
    agree,
    every,
    mean_ratio,
    ratio,
    slower,
    within,
)
from dgsuite.studies.report.tables import SERIAL

if TYPE_CHECKING:
    import xarray as xr

NAMED = 8
"""Curves that differ are named, up to this many."""

SHARE_OF_MOST = 0.75
"""Share of kernels that "most" asks for."""

ALIKE = 2.0
"""How many times as long a phase may take for phases to cost much the same."""

ABOUT = 0.25
"""Relative difference of an exponent up to which times grow in proportion."""

NEAR = 1.25
"""How many times as large another speed-up may be, or as small, to be alike."""

Curves = Mapping[tuple[str, str], Mapping[Any, Interval]]
"""Seconds by value of what is swept, by program and kernel."""


@condition
def workers_outnumber(figure: xr.Dataset) -> bool:
    """Whether there were more workers than processors."""
    return bool((figure["workers"] > figure["processors"]).any())


def _changes(figure: xr.Dataset, values: NDArray, by: str) -> list[float]:
    """How many times as long each of `values` takes at the last of what is swept as at the first.

    Of each parallel program and kernel that was run at both.
    """
    cost, at = figure["seconds"].values / values, figure[by].values
    keys = [*zip(programs(figure), figure["kernel"].values.tolist(), strict=True)]
    found = []
    parallel = figure["style"].values != SERIAL
    for key in dict.fromkeys(keys):
        mine = parallel & np.array([other == key for other in keys])
        if np.unique(at[mine]).size > 1:
            first, last = (
                cost[mine & (at == end)].mean() for end in (min(at[mine]), max(at[mine]))
            )
            found.append(float(last / first))
    return found


def _phases(figure: xr.Dataset) -> NDArray:
    """Phases of each run: each ends in a join or at a barrier."""
    return np.maximum(figure["finishes"].values + figure["barriers"].values, 1)


@condition
def phases_alike(figure: xr.Dataset) -> bool:
    """Whether a phase of the largest graphs takes less than twice the time of one of the smallest."""
    changes = _changes(figure, _phases(figure), "n")
    return bool(changes) and float(np.median(changes)) < ALIKE


@condition
def phases_count(figure: xr.Dataset) -> bool:
    """Whether times change with the phases more than with the messages, from one input to the other."""
    each = (_phases(figure), np.maximum(figure["comm"].values, 1))
    phases, messages = (np.abs(np.log(_changes(figure, values, "kind"))) for values in each)
    return len(phases) > 0 and bool(np.median(phases) < np.median(messages))


def curves(evidence: Evidence, number: int) -> Curves:
    """The curves of a figure's results."""
    return measured(_figure(evidence, number))


def _figure(evidence: Evidence, number: int) -> xr.Dataset:
    return needed(evidence.figure(number), f"no results of Figure {number}")


def measured(figure: xr.Dataset) -> Curves:
    """Seconds by value of what is swept, by program and kernel."""
    found: dict[tuple[str, str], dict[Any, Interval]] = {}
    for bar in bars(figure):
        found.setdefault((bar.program, bar.kernel), {})[bar.value] = bar.seconds
    return found


def lack(claim: Claim, *what: Any) -> str:
    """What a claim's figure has no times of, in words."""
    return f"the results of Figure {figure_of(claim)} lack {', '.join(map(str, what))}"


def told(claim: Claim, evidence: Evidence, holds: bool | None, ours: str) -> Verdict:
    """A verdict on times, with the settings in which the results depart; None is open, by their intervals."""
    figure = evidence.figure(figure_of(claim), claim.data.get("study", ""))
    assert figure is not None
    if holds is None:
        repeats = len(set(figure["repeat"].values.tolist()))
        return verdicts.unknown(f"the intervals of {repeats} repeats leave it open", ours)
    depart = ", ".join(settings_of(figure))
    setting = f"with another setting: {depart}" if depart else "the paper's setting"
    setting = ". ".join(filter(None, (setting, crowded(figure))))
    if holds:
        return Verdict(verdicts.AGREES, ours, setting)
    return verdicts.differing(claim, ours, figure, setting)


def _named(keys: Sequence[Any]) -> str:
    """Names of curves, up to so many."""
    more = f" and {len(keys) - NAMED} more" if len(keys) > NAMED else ""
    return ", ".join(" ".join(map(str, key)) for key in keys[:NAMED]) + more


def _share(
    claim: Claim, evidence: Evidence, held: Mapping[Any, bool | None], of: float = 1.0
) -> Verdict:
    """Whether enough curves do what is said; those that the intervals leave open may or may not."""
    odd, unsure = ([key for key, holds in held.items() if holds is way] for way in (False, None))
    text = f"{len(held) - len(odd) - len(unsure)} of {len(held)} curves"
    text += f"; not {_named(odd)}" if odd else ""
    text += f"; left open by their intervals: {_named(unsure)}" if unsure else ""
    may_fail = (1 - of) * len(held)
    holds = False if len(odd) > may_fail else (True if len(odd + unsure) <= may_fail else None)
    return told(claim, evidence, holds, text)


def _each(
    claim: Claim, evidence: Evidence, holds: Callable[[list[Interval]], bool | None],
    values: tuple[Any, ...] = (), of: float = 1.0,
) -> Verdict:  # fmt: skip
    """Whether something holds of the curves' times, ascending in what is swept, or at some values."""
    held = {}
    for key, curve in curves(evidence, figure_of(claim)).items():
        at = values or sorted(curve)
        if len(at) > 1 and set(at) <= set(curve):
            held[key] = holds([curve[v] for v in at])
    return _share(claim, evidence, needed(held, lack(claim, *(values or ("two values",)))), of)


def _grows(times: Sequence[Interval]) -> bool | None:
    return every(slower(a, b) for a, b in itertools.pairwise(times))


def _in_proportion(times: Sequence[Interval], at: Sequence[float], power: float = 1) -> bool | None:
    """Whether times grow about as a power of what is swept, from its first value to the last."""
    grown, by = ratio(times[-1], times[0]), at[-1] / at[0]
    ends = sorted(by ** (power * part) for part in (1 - ABOUT, 1 + ABOUT))
    return within(grown, *ends)


def _sharper(times: Sequence[Interval]) -> bool | None:
    """Grows, and in the last step more than before."""
    *steps, last = [ratio(b, a) for a, b in itertools.pairwise(times)]
    return every([_grows(times), *(slower(step, last) for step in steps)])


@check
def improves(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether times fall from one to eight threads, about as the threads grow."""
    threads = (1, 2, 4, 8)

    def falls(times: list[Interval]) -> bool | None:
        return every([_grows(times[::-1]), _in_proportion(times[::-1], threads[::-1], -1)])

    return _each(claim, evidence, falls, threads)


@check
def gains(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether 16 threads gain a little less than 8, and 32 much less."""

    def less(times: list[Interval]) -> bool | None:
        gained = [ratio(a, b) for a, b in itertools.pairwise(times)]
        return _grows(gained[::-1])

    return _each(claim, evidence, less, (4, 8, 16, 32), SHARE_OF_MOST)


@check
def hs_dip(claim: Claim, evidence: Evidence) -> Verdict:
    """HS from 16 to 32 threads, in X10-FA and in HJ-FA."""
    found = curves(evidence, 11)
    pair = [found.get((p, "hs"), {}) for p in ("X10-FA", "HJ-FA")]
    needed(all({16, 32} <= set(curve) for curve in pair), lack(claim, "hs on 16 and 32 threads"))
    x10, hj = (ratio(curve[32], curve[16]) for curve in pair)
    holds = every([above(x10), not above(hj)])
    return told(claim, evidence, holds, f"time x {x10} in X10-FA, x {hj} in HJ-FA")


@check
def sixty_four(claim: Claim, evidence: Evidence) -> Verdict:
    """What 64 threads gain over 32 in X10-FAC."""
    found = curves(evidence, 11)
    pair = {k: found.get(("X10-FAC", k), {}) for k in ("hs", "bf")}
    there = all({32, 64} <= set(curve) for curve in pair.values())
    needed(there, lack(claim, "hs and bf on 32 and 64 threads"))
    ours = {k: ratio(curve[32], curve[64]) for k, curve in pair.items()}
    paper = {k: 1 + claim.data["values"][f"{k}_improvement_percent_32_to_64"] / 100 for k in ours}
    holds = every(within(ours[k], paper[k] - 0.1, paper[k] + 0.1) for k in ours)
    text = ", ".join(f"{k} {100 * (gain.mean - 1):+.0f} %" for k, gain in ours.items())
    return told(claim, evidence, holds, text)


@condition
def accesses_outweigh(figure: xr.Dataset) -> bool:
    """Whether all programs that beat the serial one on one thread send less than half of its bytes."""
    runs = figure.isel(run=hardware_threads(figure) == 1)
    if SERIAL_PROGRAM not in programs(runs):
        return False
    table = runs[["seconds", "wire_bytes"]].to_dataframe().assign(program=programs(runs))
    means = table.groupby(["kernel", "program"])[["seconds", "wire_bytes"]].mean().unstack()
    faster = means["seconds"].lt(means["seconds", SERIAL_PROGRAM], axis=0)
    less = (2 * means["wire_bytes"]).lt(means["wire_bytes", SERIAL_PROGRAM], axis=0)
    return bool(faster.any(axis=None)) and bool((less | ~faster).all(axis=None))


@check
def serial_first(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether the serial program is the faster one up to four threads, and not from eight on."""
    held = {
        (bar.program, bar.kernel, bar.value): agree(above(bar.ratio), bar.value > 4)
        for bar in bars(_figure(evidence, 11))
        if isinstance(bar.base, str)
    }
    return _share(claim, evidence, needed(held, lack(claim, "the serial program")), SHARE_OF_MOST)


@check
def hj_times(claim: Claim, evidence: Evidence) -> Verdict:
    """Mean times of HJ's kernels without a workload, in the study of factors."""
    figure = needed(
        evidence.figure(19, "factors"), "no results of the study factors beside Figure 19"
    )
    bare = (figure["runtime"].values == "HJ") & (figure["workload"].values == "")
    needed(bare.any(), "the study of factors has no HJ programs without a workload")
    runs = figure["seconds"].isel(run=bare).to_dataframe()
    means = 1000 * runs.groupby(["kernel", "kind"])["seconds"].mean()
    tens = int(means.between(10, 100, inclusive="left").sum())
    told = f"{min(means):.0f} to {max(means):.0f} ms, {tens} of {len(means)} from 10 to 100"
    return compared(claim, tens >= SHARE_OF_MOST * len(means), told, "for most", figure)


@check
def alike_recursive(claim: Claim, evidence: Evidence) -> Verdict:
    """Gain of the most threads over one, recursive beside iterative."""
    flat, deep = (curves(evidence, number) for number in (11, 12))
    return alike(claim, evidence, flat, deep, "recursive over iterative")


def alike(claim: Claim, evidence: Evidence, one: Curves, other: Curves, what: str) -> Verdict:
    """Whether the speed-ups of the most threads over the fewest are those of other curves.

    They are not if one of a kernel, or the mean of a program's kernels, is surely further apart than `NEAR`;
    and they are if the means are surely within.
    """
    ratios: dict[str, dict[str, Interval]] = {}
    for program, kernel in sorted(one.keys() & other.keys()):
        first, second = one[program, kernel], other[program, kernel]
        common = sorted(set(first) & set(second))
        if len(common) > 1:
            gains = (ratio(curve[common[0]], curve[common[-1]]) for curve in (second, first))
            ratios.setdefault(program, {})[kernel] = ratio(*gains)
    needed(ratios, lack(claim, "two curves to compare"))
    means = {program: mean_ratio([*mine.values()]) for program, mine in ratios.items()}
    apart = [
        f"{program} {kernel} x {gain}"
        for program, mine in ratios.items()
        for kernel, gain in mine.items()
        if _near(gain) is False
    ]
    mean = ", ".join(f"{p} x {m} over {len(ratios[p])} kernels" for p, m in means.items())
    odd = ", ".join(apart) or "none"
    text = f"speed-up {what}: {mean}; surely further apart than {NEAR:g}: {odd}"
    return told(claim, evidence, every([not apart, *map(_near, means.values())]), text)


def _near(gain: Interval) -> bool | None:
    return within(gain, 1 / NEAR, NEAR)


@check
def mst_dip(claim: Claim, evidence: Evidence) -> Verdict:
    """Recursive MST in one place from 16 to 32 threads."""
    found = curves(evidence, 13).items()
    mst = {p: c for (p, k), c in found if k == "mst" and {16, 32} <= set(c)}
    needed(mst, lack(claim, "mst on 16 and 32 threads"))
    text = ", ".join(f"{p} time x {ratio(c[32], c[16])}" for p, c in mst.items())
    return told(claim, evidence, every(slower(c[16], c[32]) for c in mst.values()), text)


@check
def size_grows(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether times grow with the input, and most for BY."""
    held: list[bool | None] = []
    odd: list[str] = []
    most: dict[tuple[str, Any], dict[str, Interval]] = {}
    for (program, kernel), curve in curves(evidence, 14).items():
        at = sorted(curve)
        held.append(_grows([curve[v] for v in at]))
        odd += [f"{program} {kernel}"] * (held[-1] is False)
        most.setdefault((program, at[-1]), {})[kernel] = ratio(curve[at[-1]], curve[at[0]])
    groups = [(p, of) for (p, n), of in most.items() if "by" in of]
    needed(groups or odd, lack(claim, "by"))
    steepest = verdicts.said({p: max(of, key=lambda kernel: of[kernel].mean) for p, of in groups})
    held += [slower(of[k], of["by"]) for _, of in groups for k in of if k != "by"]
    text = f"not growing: {', '.join(odd) or 'none'}; steepest: {steepest or 'BY is not there'}"
    return told(claim, evidence, every(held), text)


@check
def clusters_grow(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether times grow with the clusters, from two on, and in proportion to them, for most."""
    held, powers = {}, []
    for key, curve in curves(evidence, 15).items():
        at = sorted(value for value in curve if value > 1)
        if len(at) > 1:
            times = [curve[value] for value in at]
            held[key] = every([_grows(times), _in_proportion(times, at)])
            powers.append(math.log(times[-1].mean / times[0].mean) / math.log(at[-1] / at[0]))
    found = _share(claim, evidence, needed(held, lack(claim, "two values")), SHARE_OF_MOST)
    return found._replace(ours=f"p^{min(powers):.2f} to p^{max(powers):.2f}; {found.ours}")


@condition
def exchange_outweighs(figure: xr.Dataset) -> bool:
    """Whether half a phase on one place, the most that a second saves, takes less than an exchange of two.

    An exchange takes what a phase on two places takes at least, of any kernel; medians are over kernels.
    """
    stands, each = np.array(programs(figure)), figure["seconds"].values / _phases(figure)
    found = []
    for name in dict.fromkeys(stands.tolist()):
        one, two = (each[(stands == name) & (figure["clusters"].values == k)] for k in (1, 2))
        if len(one) and len(two):
            found.append(bool(np.median(one) / 2 < two.min()))
    return bool(found) and all(found)


@check
def one_to_two(claim: Claim, evidence: Evidence) -> Verdict:
    """Which kernels gain from a second cluster."""
    found = curves(evidence, 15).items()
    two = {key: slower(c[2], c[1]) for key, c in found if {1, 2} <= set(c)}
    needed(two, lack(claim, "two clusters"))
    paper = {"X10-FA": claim.data["values"]["fa"], "X10-FAC": claim.data["values"]["fac"]}
    holds = every(
        agree(gains, kernel in paper[program]) for (program, kernel), gains in two.items()
    )
    ours = {p: sorted(k for (q, k), gains in two.items() if p == q and gains) for p, _ in two}
    text = "; ".join(f"{p}: {', '.join(names) or 'none'}" for p, names in ours.items())
    return told(claim, evidence, holds, f"gain from a second place: {text}")


@check
def grows_sharply(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether times grow with U_n or W_n, in the last step more than before."""
    return _each(claim, evidence, _sharper)


@check
def n_grows(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether times of V_n grow."""
    return _each(claim, evidence, _grows)


@check
def by_reversal(claim: Claim, evidence: Evidence) -> Verdict:
    """BY on Mx-In over Mn-In, in one place and in many; the study of factors has what Figure 19 lacks."""
    beside = evidence.figure(19, "factors")
    found = dict(curves(evidence, 19)) | dict({} if beside is None else measured(beside))
    programs = {p: found.get((p, "by"), {}) for p in ("X10-FA", "HJ-FA")}
    needed(all(programs.values()), lack(claim, "by in X10-FA and HJ-FA"))
    ratios = {p: ratio(c["mx"], c["mn"]) for p, c in programs.items()}
    text = ", ".join(f"{p} {ratio}" for p, ratio in ratios.items())
    holds = every([above(ratios["X10-FA"]), agree(above(ratios["HJ-FA"]), False)])
    return told(claim, evidence, holds, text)
