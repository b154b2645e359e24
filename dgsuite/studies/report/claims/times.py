"""Checks of what IMSuite says of times (Figures 11 to 19), on results in a folder."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from dgsuite.studies.report.claims import verdicts
from dgsuite.studies.report.claims.data import Claim, figure_of
from dgsuite.studies.report.claims.evidence import Evidence
from dgsuite.studies.report.claims.kernels import joins_of_trees
from dgsuite.studies.report.claims.setups import setting, settings_of
from dgsuite.studies.report.claims.verdicts import Verdict, check, compared, condition, needed
from dgsuite.studies.report.factors import SERIAL_PROGRAM, TASKS, factors_of
from dgsuite.studies.report.results import bars, crowded, hardware_threads, programs
from dgsuite.studies.report.statistics import (
    Interval,
    above,
    agree,
    every,
    interval,
    mean_ratio,
    ratio,
    slower,
    within,
)
from dgsuite.studies.report.tables import SERIAL

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

WORSE = 1.05
"""How many times as large errors must be without a factor for times to depend on it."""

OUTWEIGHING_SHARE = 0.75
"""Share of the time from which tasks outweigh the rest."""


Curves = Mapping[tuple[str, str], Mapping[Any, Interval]]
"""Seconds by value of what is swept, by program and kernel."""


@condition
def workers_outnumber(figure: xr.Dataset) -> bool:
    """Whether there were more workers than processors."""
    return bool((figure["workers"] > figure["processors"]).any())


def _runs(figure: xr.Dataset) -> pd.DataFrame:
    """Times and bytes of the runs, with their programs and hardware threads."""
    table = figure[["seconds", "wire_bytes"]].to_dataframe()
    return table.assign(program=programs(figure), threads=hardware_threads(figure))


def _changes(figure: xr.Dataset, values: NDArray, by: str) -> list[float]:
    """How many times as long each of `values` takes at the last of what is swept as at the first.

    Of each parallel program and kernel that was run at both.
    """
    table = _runs(figure).assign(cost=figure["seconds"].values / values)
    means = table[table["style"] != SERIAL].groupby(["program", "kernel", by])["cost"].mean()
    ends = means.groupby(level=["program", "kernel"]).agg(["first", "last", "size"])
    changes: list[float] = (ends["last"] / ends["first"])[ends["size"] > 1].tolist()
    return changes


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


def _figure(evidence: Evidence, number: int, study: str = "") -> xr.Dataset:
    """The results of a figure, or of a study beside it."""
    beside = f"the study {study} beside " if study else ""
    return needed(evidence.figure(number, study), f"no results of {beside}Figure {number}")


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
    claim: Claim, evidence: Evidence, held: Mapping[Any, bool | None], of: float, first: str = ""
) -> Verdict:
    """Whether enough curves do what is said; those that the intervals leave open may or may not."""
    odd, unsure = ([key for key, holds in held.items() if holds is way] for way in (False, None))
    text = f"{first}{len(held) - len(odd) - len(unsure)} of {len(held)} curves"
    text += f"; not {_named(odd)}" if odd else ""
    text += f"; left open by their intervals: {_named(unsure)}" if unsure else ""
    may_fail = (1 - of) * len(held)
    holds = False if len(odd) > may_fail else (True if len(odd + unsure) <= may_fail else None)
    return told(claim, evidence, holds, text)


def _grows(times: Sequence[Interval], at: Sequence[float] = ()) -> bool | None:
    return every(slower(a, b) for a, b in itertools.pairwise(times))


def _falls_less(times: Sequence[Interval], at: Sequence[float]) -> bool | None:
    """Whether each step gains less than the one before."""
    return _grows([ratio(a, b) for a, b in itertools.pairwise(times)][::-1])


def _sharper(times: Sequence[Interval], at: Sequence[float]) -> bool | None:
    """Grows, and in the last step more than before."""
    *steps, last = [ratio(b, a) for a, b in itertools.pairwise(times)]
    return every([_grows(times), *(slower(step, last) for step in steps)])


def _in_proportion(times: Sequence[Interval], at: Sequence[float]) -> bool | None:
    """Whether times grow, from first to last about as what is swept."""
    by = at[-1] / at[0]
    grown = within(ratio(times[-1], times[0]), *sorted((by ** (1 - ABOUT), by ** (1 + ABOUT))))
    return every([_grows(times), grown])


def _inversely(times: Sequence[Interval], at: Sequence[float]) -> bool | None:
    """Whether times fall, from first to last about as what is swept grows."""
    return _in_proportion(times[::-1], [1 / value for value in at[::-1]])


SHAPES = {
    "grows": _grows,
    "falls less": _falls_less,
    "grows more sharply": _sharper,
    "in proportion": _in_proportion,
    "inversely": _inversely,
}
"""What a curve may be said to do, by what a claim calls it."""


@check
def shape(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether the curves of a figure have a shape, all of them or most, ascending in what is swept.

    A claim says which, and at which values, or from which value on.
    """
    held, powers = {}, []
    data = claim.data
    for key, curve in curves(evidence, figure_of(claim)).items():
        at = data.get("at") or sorted(value for value in curve if value >= data.get("from", 0))
        if len(at) > 1 and set(at) <= set(curve):
            times = [curve[value] for value in at]
            held[key] = SHAPES[data["shape"]](times, at)
            powers.append(math.log(times[-1].mean / times[0].mean) / math.log(at[-1] / at[0]))
    needed(held, lack(claim, *data.get("at", ["two values"])))
    ours = f"times as power {min(powers):.2f} to {max(powers):.2f} of what is swept; "
    return _share(claim, evidence, held, data.get("of", 1.0), ours)


@check
def ratios(claim: Claim, evidence: Evidence) -> Verdict:
    """Times at one value over those at another, of programs and kernels, within what a claim says of each."""
    found = dict(curves(evidence, figure_of(claim)))
    if (beside := evidence.figure(figure_of(claim), claim.data.get("beside", "none"))) is not None:
        found |= measured(beside)
    held: dict[tuple[str, str], bool | None] = {}
    each = []
    for given in claim.data["ratio"]:
        first, last = given["over"]
        mine = {
            (program, kernel): ratio(curve[last], curve[first])
            for (program, kernel), curve in found.items()
            if program in given.get("programs", [program])
            and kernel in given["kernels"]
            and {first, last} <= set(curve)
        }
        what = lack(claim, f"{' or '.join(given['kernels'])} at {first} and {last}")
        needed(mine or claim.data.get("some"), what)
        for key, changed in mine.items():
            sides = ((above(changed, given[end]), end == "least") for end in ENDS if end in given)
            held[key] = every(agree(*side) for side in sides)
            each.append(f"{' '.join(key)} x {changed}")
    needed(held, what)
    return _share(claim, evidence, held, 1.0, f"{', '.join(each)}; " * (len(each) <= NAMED))


ENDS = ("least", "most")


@condition
def accesses_outweigh(figure: xr.Dataset) -> bool:
    """Whether all programs that beat the serial one on one thread send less than half of its bytes."""
    table = _runs(figure).query("threads == 1")
    if SERIAL_PROGRAM not in table["program"].values:
        return False
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
    figure = _figure(evidence, 19, "factors")
    bare = (figure["runtime"].values == "HJ") & (figure["workload"].values == "")
    needed(bare.any(), "the study of factors has no HJ programs without a workload")
    runs = figure["seconds"].isel(run=bare).to_dataframe()
    means = 1000 * runs.groupby(["kernel", "kind"])["seconds"].mean()
    tens = int(means.between(10, 100, inclusive="left").sum())
    told = f"{min(means):.0f} to {max(means):.0f} ms, {tens} of {len(means)} from 10 to 100"
    return compared(claim, tens >= SHARE_OF_MOST * len(means), told, "for most", figure)


NO_EXTREMES = "no times of VC on a chain and on a star"


@check
def vc_extremes(claim: Claim, evidence: Evidence) -> Verdict:
    """Times of VC on a star over those on a chain; and joins on these and on random trees, of short runs."""
    figures = [evidence.figure(*given) for given in ((19,), (19, "factors"), (11, "mn"))]
    runs = [_runs(figure) for figure in figures if figure is not None]
    gains, more = {}, {}
    table = pd.concat(needed(runs, NO_EXTREMES)).query("kernel == 'vc'")
    for key, of in table.groupby(["program", "clusters", "threads", "workload"]):
        chain, star = (of[of["kind"] == kind] for kind in ("mn", "mx"))
        if len(chain) and len(star):
            gains[key] = ratio(interval(star["seconds"]), interval(chain["seconds"]))
            more[key] = bool(chain["wire_bytes"].min() > star["wire_bytes"].max())
    needed(gains, NO_EXTREMES)
    joins = joins_of_trees()
    held = {key: above(gain) for key, gain in gains.items()}
    ordered = all(max(few) <= min(many) for few, many in itertools.pairwise(joins.values()))
    each = ", ".join(f"{name} {p}/{t} x {gain}" for (name, p, t, _), gain in gains.items())
    told = f"star over chain by places/threads: {each}; joins: {verdicts.said(joins)}"
    results = joins, [more[key] for key, holds in held.items() if holds is False]
    return compared(claim, every([ordered, *held.values()]), told, results=results)


@condition
def rounds_and_bytes(found: tuple[Mapping[str, list[int]], list[bool]]) -> bool:
    """Whether a random tree takes a round of two joins more than the star at most, and places send each other
    more bytes on a chain wherever it is slower.
    """
    joins, more = found
    (chain,), (star,) = joins["chain"], joins["star"]
    return chain <= star <= min(joins["rn"]) and max(joins["rn"]) <= star + 2 and all(more)


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
def same_mutexes(claim: Claim, evidence: Evidence) -> Verdict:
    """Mutexes of HJ's programs beside X10's, in runs that have both: of the study of factors."""
    figure = _figure(evidence, 19, "factors")
    both = figure["mutexes"].to_dataframe().groupby(["kernel", "kind", "runtime"])["mutexes"]
    each = both.agg(["min", "max"]).unstack().dropna()
    needed(len(each), "no kernel was run in both")
    odd = each[each.nunique(axis=1) > 1].index
    told = f"{len(each) - len(odd)} of {len(each)} kernels and inputs have the same"
    return compared(claim, odd.empty, told)


def studied(judge: Callable[[Claim, Evidence, xr.Dataset], Verdict]) -> verdicts.Check:
    """A check of a study's results and of its experiment file: what departs in it is found, too."""

    @verdicts.answering
    def of_results(claim: Claim, evidence: Evidence) -> Verdict:
        figure = _figure(evidence, claim.data["figure"], claim.data["study"])
        return judge(claim, evidence, figure)

    @wraps(judge)
    def checked(claim: Claim, evidence: Evidence) -> Verdict:
        found, file = of_results(claim, evidence), setting(claim, evidence).silent
        return found._replace(silent="; ".join(filter(None, (found.silent, file))))

    return check(checked)


@studied
def alike_parts(claim: Claim, evidence: Evidence, figure: xr.Dataset) -> Verdict:
    """Gain of the most threads over one: of programs with one ending beside those with another."""
    first, second = (
        {(n.removesuffix(end), k): c for (n, k), c in measured(figure).items() if n.endswith(end)}
        for end in claim.data["parts"]
    )
    return alike(claim, evidence, first, second, claim.data["gain"])


@condition
def tasks_outweigh(figure: xr.Dataset) -> bool:
    """Whether tasks take most of the time but for the computation, by each program's fit to all factors."""
    found = factors_of(figure).values()
    return all(TASKS in one.counts and one.share(TASKS) > OUTWEIGHING_SHARE for one in found)


@studied
def factors(claim: Claim, evidence: Evidence, figure: xr.Dataset) -> Verdict:
    """Whether times of kernels are predicted worse, from those of others, without each of the factors."""
    said, holds = [], True
    for name, one in factors_of(figure).items():
        there = len(np.unique(one.kernels)) > 1 and {TASKS, "mutexes"} <= one.counts.keys()
        needed(there, lack(claim, f"kernels of {name} with other tasks and mutexes"))
        every = list(one.counts)
        whole = one.error(every)
        without = {f: one.error([n for n in every if n != f]) for f in every}
        holds &= min(without.values()) > WORSE * whole
        each = ", ".join(f"{f} {e:.2f}" for f, e in without.items())
        said.append(f"{name}: off by a factor of {whole:.2f}, without {each}")
    return told(claim, evidence, holds, "; ".join(said))
