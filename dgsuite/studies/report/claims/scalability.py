"""Checks of what the scalability paper says, on our equations and on results in a folder."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from dgsuite.studies.experiment import model as config
from dgsuite.studies.report.claims.data import Claim, claims, measured_elsewhere
from dgsuite.studies.report.claims.evidence import Evidence
from dgsuite.studies.report.claims.scalability_plans import THROTTLED, TIMES, paper_settings
from dgsuite.studies.report.claims.verdicts import Verdict, check, compared, condition, needed

if TYPE_CHECKING:
    from dgsuite.studies.scaling import CompletionTime
    from dgsuite.studies.scaling.analysis import Analysis

NO_DEMAND = f"no results of {THROTTLED}"


def _results(evidence: Evidence, name: str) -> xr.Dataset | None:
    """The runs of an experiment."""
    return evidence.result(name)


def _analysis(evidence: Evidence, name: str) -> Analysis | None:
    """What was found out about the largest graph of an experiment."""
    runs = _results(evidence, name)
    return None if runs is None else _analysed(_Held(runs))


def _found(evidence: Evidence, name: str) -> Analysis:
    return needed(_analysis(evidence, name), f"no results of {name}")


def _fitted(evidence: Evidence) -> tuple[Analysis, CompletionTime]:
    """What was found out about times, and the paper's form, fitted to them."""
    found = _found(evidence, TIMES)
    return found, needed(found.chosen, f"no results of {TIMES}")


def _parts(model: CompletionTime) -> tuple[float, float]:
    """C1 and C2, the coefficients of processing and of communication."""
    return float(model.coef_["1/p"]), float(model.coef_["1/sqrt(p)"])


@condition
def another_cluster(results: xr.Dataset) -> bool:
    """Whether the results are of another cluster than the paper's, by its processors."""
    return measured_elsewhere(results, "scalability.sec2.cluster")


@condition
def fewer_workers(results: xr.Dataset) -> bool:
    """Whether the most workers are fewer than the paper's fewest processes."""
    fewest = min(claims()["scalability.fig6.setup"].data["fixed"]["fitted_processes"])
    return bool(results["workers"].max() < fewest)


class _Held:
    """A dataset as a key: by identity."""

    def __init__(self, runs: xr.Dataset) -> None:
        self.runs = runs

    def __hash__(self) -> int:
        return id(self.runs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and self.runs is other.runs


@cache
def _analysed(held: _Held) -> Analysis:
    """As the paper does: each size apart, by plain least squares."""
    from dgsuite.studies.scaling.analysis import analyse, split

    runs = split(held.runs)
    largest = max(int(run.attrs["n"]) for run in runs)
    found = [run for run in runs if int(run.attrs["n"]) == largest]
    return analyse(found, settings=paper_settings())


@check
def not_straight(claim: Claim, evidence: Evidence) -> Verdict:
    """Slope of log T over log p."""
    full = _found(evidence, TIMES).runs.seconds.isel(bandwidth=-1).median("repeat")
    steep = float(np.polyfit(np.log(full.p), np.log(full), 1)[0])
    told, within = f"slope {steep:.2f}", "a slope above -1"
    return compared(claim, steep > -1, told, within, _results(evidence, TIMES))


@check
def fit(claim: Claim, evidence: Evidence) -> Verdict:
    """R^2 and coefficients of the paper's form."""
    _, model = _fitted(evidence)
    ours = {"R^2": model.r2_, "MSE": model.mse_}
    ours |= {f"C({t})": float(c) for t, c in model.coef_.items()}
    return compared(claim, False, ours, results=_results(evidence, TIMES))


@check
def good_fit(claim: Claim, evidence: Evidence) -> Verdict:
    """R^2 of the paper's form."""
    found, model = _fitted(evidence)
    return compared(claim, model.r2_ >= 0.95, {"R^2": model.r2_}, "R^2 of 0.95 or more", found.runs)


@check
def processing_dominates(claim: Claim, evidence: Evidence) -> Verdict:
    """C1 beside C2."""
    found, model = _fitted(evidence)
    c1, c2 = _parts(model)
    return compared(claim, c1 > c2, {"C1": c1, "C2": c2}, results=found.runs)


def _seconds(found: Analysis) -> xr.DataArray:
    """Seconds on several workers, medians of repeats."""
    seconds: xr.DataArray = found.runs.seconds.median("repeat")
    return seconds.sel(p=seconds.p > 1)


@check
def nonlinear(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether T falls with bandwidth, convex, at each number of workers above one."""
    found = _found(evidence, THROTTLED)
    seconds = _seconds(found)
    needed(seconds.sizes["bandwidth"] > 2, "bandwidth was not varied")
    ends = seconds.isel(bandwidth=[0, -1])
    middle = seconds.interp(bandwidth=float(ends.bandwidth.mean()))
    convex = bool((middle < ends.mean("bandwidth")).all())
    fewer = bool((seconds.diff("p") < 0).all())
    told = {"convex": convex, "fewer workers slower": fewer}
    return compared(claim, convex and fewer, told, results=found.runs)


@check
def throttle(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether there are means to have less bandwidth, and whether runs, if there are any, took longer."""
    from typing import get_args

    from distributed.comm.registry import get_backend

    means = get_args(config.Throttle.model_fields["means"].annotation)
    slower = True
    if (found := _analysis(evidence, THROTTLED)) is not None:
        seconds = _seconds(found)
        slower = bool((seconds.isel(bandwidth=0) > seconds.isel(bandwidth=-1)).all())
    there = get_backend("throttle+tcp") is not None and "tc" in means
    ours = {"means": means} | ({} if found is None else {"less bandwidth slower": slower})
    return compared(claim, there and slower, ours, "an emulator in software, or the kernel's")


@check
def similar_demands(claim: Claim, evidence: Evidence) -> Verdict:
    """Ratio of demands of the largest and smallest number of workers, over increments."""
    demand = needed(_found(evidence, THROTTLED).demand, NO_DEMAND).demand_
    ratio = demand.isel(p=-1) / demand.isel(p=0)
    spread = float(ratio.max() / ratio.min())
    told, results = f"ratios within x {spread:.2f}", _results(evidence, THROTTLED)
    return compared(claim, spread < 1.25, told, "a quarter", results)


@check
def demand_constant(claim: Claim, evidence: Evidence) -> Verdict:
    """The demand constant."""
    ours = needed(_found(evidence, THROTTLED).demand, NO_DEMAND).demand_constant_
    values = claim.data["values"]
    holds = values["DC_27"] <= ours <= values["DC_28"]
    return compared(claim, holds, {"DC": ours}, results=_results(evidence, THROTTLED))


@check
def demand_error(claim: Claim, evidence: Evidence) -> Verdict:
    """Largest error of the demand held out, percentage points."""
    error = _found(evidence, THROTTLED).demand_error
    needed(error is not None, NO_DEMAND)
    assert error is not None  # for the checker of types: an array has no truth value
    off = float(abs(error).max())
    holds = off < claim.data["values"]["below_27"]
    return compared(claim, holds, f"{off:.1f} points", results=_results(evidence, THROTTLED))


@check
def bandwidth_shortage(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether the share of communication in the fitted form grows with p."""
    found, model = _fitted(evidence)
    c1, c2 = _parts(model)
    first, last = (c2 * p**-0.5 / (c1 / p + c2 * p**-0.5) if c1 + c2 else np.nan
                   for p in (float(found.runs.p.min()), float(found.runs.p.max())))  # fmt: skip
    told = f"share {first:.0%} to {last:.0%}"
    return compared(claim, last > first, told, results=found.runs)


@check
def diminishing_return(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether communication is most of the completion time where one more machine stops to pay."""
    found, model = _fitted(evidence)
    (end,) = found.stop.values()
    needed(not end.reason, f"no statement at how many machines to stop: {end.reason}")
    p = end.machines
    share = 1 - _parts(model)[0] / p / float(model.predict(p))
    told = {"stop at": f"{p:g} machines", "all but 1/p there": f"{share:.0%} of the time"}
    within = f"more than half; one more machine saves less than {found.settings.gain:.0%}"
    return compared(claim, share > 0.5, told, within, found.runs)
