"""Checks of what IMSuite says of times without a figure, on the results of studies beside its figures."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING

import numpy as np

from dgsuite.studies.report.claims import verdicts
from dgsuite.studies.report.claims.data import Claim
from dgsuite.studies.report.claims.evidence import Evidence
from dgsuite.studies.report.claims.setups import setting
from dgsuite.studies.report.claims.times import Curves, alike, lack, measured, told
from dgsuite.studies.report.claims.verdicts import Verdict, check, condition, needed
from dgsuite.studies.report.factors import TASKS, factors_of

if TYPE_CHECKING:
    import xarray as xr

WORSE = 1.05
"""How many times as large errors must be without a factor for times to depend on it."""

OUTWEIGHING_SHARE = 0.75
"""Share of the time from which tasks outweigh the rest."""


def studied(judge: Callable[[Claim, Evidence, xr.Dataset], Verdict]) -> verdicts.Check:
    """A check of a study's results and of its experiment file: what departs in it is found, too."""

    @verdicts.answering
    def of_results(claim: Claim, evidence: Evidence) -> Verdict:
        number, study = claim.data["figure"], claim.data["study"]
        figure = evidence.figure(number, study)
        missing = f"no results of the study {study} beside Figure {number}"
        return judge(claim, evidence, needed(figure, missing))

    @wraps(judge)
    def checked(claim: Claim, evidence: Evidence) -> Verdict:
        found, file = of_results(claim, evidence), setting(claim, evidence).silent
        return found._replace(silent="; ".join(filter(None, (found.silent, file))))

    return check(checked)


def _parted(found: Curves, one: str, other: str) -> tuple[Curves, Curves]:
    """The curves of programs with one ending, and of those with another, each without it."""
    first, second = (
        {(name.removesuffix(end), k): c for (name, k), c in found.items() if name.endswith(end)}
        for end in (one, other)
    )
    return first, second


@studied
def alike_inputs(claim: Claim, evidence: Evidence, figure: xr.Dataset) -> Verdict:
    """Gain of the most threads over one, on Mn-In beside Mx-In."""
    mx, mn = _parted(measured(figure), " on Mx-In", " on Mn-In")
    return alike(claim, evidence, mx, mn, "on Mn-In over Mx-In")


@studied
def alike_programs(claim: Claim, evidence: Evidence, figure: xr.Dataset) -> Verdict:
    """Gain of the most threads over one, of HJ-FAP beside HJ-FA."""
    joined, phased = _parted(measured(figure), "-FA", "-FAP")
    return alike(claim, evidence, joined, phased, "HJ-FAP over HJ-FA")


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
