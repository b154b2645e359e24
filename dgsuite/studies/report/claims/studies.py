"""Checks of what IMSuite says of times without a figure, on the results of studies beside its figures."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.studies.report.claims.data import Claim
from dgsuite.studies.report.claims.evidence import Evidence
from dgsuite.studies.report.claims.setups import setting
from dgsuite.studies.report.claims.times import Curves, alike, lacks, measured, told
from dgsuite.studies.report.claims.verdicts import Check, Verdict, check, condition, unknown
from dgsuite.studies.report.results import programs

if TYPE_CHECKING:
    import xarray as xr

WORSE = 1.05
"""How many times as large errors must be without a factor for times to depend on it."""

MOST = 0.75
"""Share of the time from which tasks outweigh the rest."""


def studied(judge: Callable[[Claim, Evidence, int, xr.Dataset], Verdict]) -> Check:
    """A check of a study's results and of its experiment file: what departs in it is found, too."""

    @wraps(judge)
    def checked(claim: Claim, evidence: Evidence) -> Verdict:
        number, study = claim.data["figure"], claim.data["study"]
        figure = evidence.figure(number, study)
        if figure is None:
            found = unknown(f"no results of the study {study} beside Figure {number}")
        else:
            found = judge(claim, evidence, number, figure)
        file = setting(claim, evidence).silent
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
def alike_inputs(claim: Claim, evidence: Evidence, number: int, figure: xr.Dataset) -> Verdict:
    """Gain of the most threads over one, on Mn-In beside Mx-In."""
    mx, mn = _parted(measured(figure), " on Mx-In", " on Mn-In")
    return alike(claim, evidence, number, mx, mn, "on Mn-In over Mx-In")


@studied
def alike_programs(claim: Claim, evidence: Evidence, number: int, figure: xr.Dataset) -> Verdict:
    """Gain of the most threads over one, of HJ-FAP beside HJ-FA."""
    joined, phased = _parted(measured(figure), "-FA", "-FAP")
    return alike(claim, evidence, number, joined, phased, "HJ-FAP over HJ-FA")


class Factors(NamedTuple):
    """What the times of a program's runs may depend on, besides a constant for the start of a run."""

    seconds: NDArray
    kernels: NDArray
    counts: Mapping[str, NDArray]

    def costs(self, names: Sequence[str], runs: NDArray | slice = slice(None)) -> NDArray:
        """Seconds of the start, and that each of some counts costs, at least 0.

        Errors count by their share of the time.
        """
        from scipy.optimize import nnls

        design, seconds = self._design(names)[runs], self.seconds[runs]
        scale = np.maximum(design.max(axis=0), 1)
        costs, _ = nnls(design / scale / seconds[:, None], np.ones(len(seconds)))
        return np.asarray(costs / scale)

    def _design(self, names: Sequence[str]) -> NDArray:
        return np.stack([np.ones(len(self.seconds)), *(self.counts[n] for n in names)], axis=1)

    def error(self, names: Sequence[str]) -> float:
        """How far predictions of kernels are off that were left out of the fit, as a factor: 1 is exact."""
        logs = []
        for kernel in np.unique(self.kernels):
            out = self.kernels == kernel
            made = self._design(names)[out] @ self.costs(names, ~out)
            logs.append(np.log(np.maximum(made, TINY) / self.seconds[out]))
        return float(np.exp(np.sqrt(np.mean(np.concatenate(logs) ** 2))))

    def share(self, name: str) -> float:
        """Share of the time, but for the computation, that a factor takes in the fit to all."""
        names = list(self.counts)
        taken = self.costs(names)[1:] * self._design(names)[:, 1:].sum(axis=0)
        rest = sum(t for n, t in zip(names, taken, strict=True) if n != COMPUTATION)
        return float(taken[names.index(name)] / rest) if rest else 0.0


TINY = 1e-9
"""Seconds that a prediction has at least."""

COMPUTATION, TASKS = "computation", "tasks"


def factors_of(figure: xr.Dataset) -> dict[str, Factors]:
    """By program, its runs: a row a run. Counts that are the same for all runs are no factors."""
    work = [json.loads(w)["operations"] if w else 0 for w in figure["workload"].values.tolist()]
    stands = np.array(programs(figure))
    counts = {
        COMPUTATION: figure["asyncs"].values * np.array(work),
        TASKS: figure["asyncs"].values + figure["finishes"].values,
        "communication": figure["comm"].values,
        "mutexes": figure["mutexes"].values,
    }
    found = {}
    for name in dict.fromkeys(stands.tolist()):
        mine = stands == name
        one_place = name.startswith("HJ")
        kept = {
            what: values[mine].astype(float)
            for what, values in counts.items()
            if np.ptp(values[mine]) and not (one_place and what == "communication")
        }
        found[name] = Factors(figure["seconds"].values[mine], figure["kernel"].values[mine], kept)
    return found


@condition
def tasks_outweigh(figure: xr.Dataset) -> bool:
    """Whether tasks take most of the time but for the computation, by each program's fit to all factors."""
    found = factors_of(figure).values()
    return all(TASKS in one.counts and one.share(TASKS) > MOST for one in found)


@studied
def factors(claim: Claim, evidence: Evidence, number: int, figure: xr.Dataset) -> Verdict:
    """Whether times of kernels are predicted worse, from those of others, without each of the factors."""
    said, holds = [], True
    for name, one in factors_of(figure).items():
        if len(np.unique(one.kernels)) < 2 or not {TASKS, "mutexes"} <= one.counts.keys():
            return lacks(number, f"kernels of {name} with other tasks and mutexes")
        every = list(one.counts)
        whole = one.error(every)
        without = {f: one.error([n for n in every if n != f]) for f in every}
        holds &= min(without.values()) > WORSE * whole
        each = ", ".join(f"{f} {e:.2f}" for f, e in without.items())
        said.append(f"{name}: off by a factor of {whole:.2f}, without {each}")
    return told(claim, evidence, number, holds, "; ".join(said))
