"""Checks of what the scalability paper says, on our equations and on results in a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy import stats

from dgsuite.studies.experiment import model as config
from dgsuite.studies.report.claims import verdicts
from dgsuite.studies.report.claims.data import Claim, claims
from dgsuite.studies.report.claims.evidence import Evidence
from dgsuite.studies.report.claims.scalability_plans import (
    SIMULATED,
    THROTTLED,
    TIMES,
    paper_settings,
)
from dgsuite.studies.report.claims.verdicts import Verdict, check, compared, condition, needed
from dgsuite.studies.scaling import CompletionTime

if TYPE_CHECKING:
    from dgsuite.studies.scaling.analysis import Analysis

NO_DEMAND = f"no results of {THROTTLED}"


FLAT = 0.95
"""T that falls less steeply than 1/p to this power does not fall as 1/p."""

GOOD = 0.95
"""R² from which a fit is a good one: the least that is printed."""

EXPLAINED = 0.5
"""R² from which a fit is not one of noise."""

MORE = 1.1
"""How many times as long a run must take for less bandwidth to make it slower."""

ALIKE = 1.25
"""Ratio of the largest to the smallest below which ratios of demands are similar."""

NEAR = 0.1
"""Relative difference, or difference of demand constants, up to which a fit is the printed one."""


def _scales(evidence: Evidence, name: str) -> list[Analysis]:
    """What was found out about each graph of an experiment, from the smallest."""
    runs = needed(evidence.result(name), f"no results of {name}")
    return evidence.kept(name, lambda: _analysed(runs))


def _model(scale: Analysis) -> tuple[CompletionTime, float, float]:
    """The paper's form, fitted to the times of a graph, with C1 of processing and C2 of communication."""
    model = needed(scale.chosen, f"no results of {TIMES}")
    return model, float(model.coef_["1/p"]), float(model.coef_["1/sqrt(p)"])


def _times_of(scale: Analysis) -> tuple[float, float]:
    """C1 and C2 of a form that fits. Both are times, so neither may be negative."""
    model, c1, c2 = _model(scale)
    told = f"of {scale.sizes[0]} nodes: C1 {c1:.3g}, C2 {c2:.3g}, R² {model.r2_:.2f}"
    needed(min(c1, c2) >= 0, f"no statement, since a time of the fit is negative, {told}")
    needed(model.r2_ >= EXPLAINED, f"no statement, since the form does not fit, {told}")
    return c1, c2


def _of_each(
    claim: Claim, evidence: Evidence, name: str, found: Iterable[tuple[str, bool]], within: str = ""
) -> Verdict:
    """The verdict where something must hold of each graph: `found` has what to tell, and whether it holds."""
    told, holds = zip(*found, strict=True)
    return compared(claim, all(holds), list(told), within, evidence.result(name))


def _slope(p: NDArray, values: NDArray) -> tuple[float, float]:
    """Slope of log values over log p, and half of its 95 % interval."""
    line = stats.linregress(np.log(p), np.log(values))
    return float(line.slope), float(stats.t.ppf(0.975, len(p) - 2) * line.stderr)


def _share(c1: float, c2: float, p: float) -> float:
    """Communication's share of C1/p + C2/sqrt(p)."""
    return c2 * p**-0.5 / (c1 / p + c2 * p**-0.5)


@condition
def slower_link(results: xr.Dataset) -> bool:
    """Whether a node's link carries less than the paper's, and the graph is smaller."""
    setup = claims()["scalability.fig4.setup"].data
    theirs = setup["fixed"]["gbit_per_second"] * 1e9 / 8
    smaller = int(results["n"].max()) < 2 ** min(setup["vary"]["scale"])
    return smaller and float(results.attrs.get("nominal_bandwidth", np.inf)) < theirs


@condition
def fewer_workers(results: xr.Dataset) -> bool:
    """Whether the most workers, or processes, are fewer than the paper's fewest processes."""
    fewest = min(claims()["scalability.fig6.setup"].data["fixed"]["fitted_processes"])
    return bool(results["p" if "p" in results.dims else "workers"].max() < fewest)


def _analysed(results: xr.Dataset) -> list[Analysis]:
    """As the paper does: each size apart, by plain least squares."""
    from dgsuite.studies.scaling.analysis import analyse, split
    from dgsuite.studies.scaling.simulated import analyses

    if "simulated" in results.attrs:
        return analyses(results, paper_settings())
    runs = split(results)
    kept = [float(run.attrs["seconds"]) for run in runs]
    if not np.allclose(results.seconds.values, kept):
        raise verdicts.ContradictionError(
            "the results have other seconds by run than in the runs' attributes"
        )
    sizes = sorted({int(run.attrs["n"]) for run in runs})
    given = [[run for run in runs if int(run.attrs["n"]) == n] for n in sizes]
    return [analyse(mine, settings=paper_settings()) for mine in given]


def _on_the_cluster(evidence: Evidence) -> Evidence | None:
    """What is simulated of the paper's cluster, in place of the results of both experiments."""
    found = evidence.results.get(f"{SIMULATED}.nc")
    return None if found is None else evidence.kept(SIMULATED, lambda: _designed(found))


def _designed(runs: xr.Dataset) -> Evidence:
    from dgsuite.studies.scaling.simulated import designs

    parts = zip((TIMES, THROTTLED), designs(runs).values(), strict=True)
    return Evidence({f"{name}.nc": part for name, part in parts})


on_the_cluster = verdicts.judged_again("the paper's cluster", _on_the_cluster)
"""Judges what is simulated, too."""

OfGraph = Callable[["Analysis"], tuple[str, bool]]
"""What to tell of a graph, and whether what a paper says holds of it."""


def of_each_graph(name: str, within: str = "") -> Callable[[OfGraph], verdicts.Check]:
    """Make a check of all graphs of an experiment, measured and simulated, of a function of one."""

    def made(judge: OfGraph) -> verdicts.Check:
        @wraps(judge)
        def checked(claim: Claim, evidence: Evidence) -> Verdict:
            found = map(judge, _scales(evidence, name))
            return _of_each(claim, evidence, name, found, within)

        return check(on_the_cluster(checked))

    return made


def _computing(runs: xr.Dataset) -> Iterator[tuple[int, NDArray, NDArray, NDArray]]:
    """Nodes of each graph; of its runs processes, seconds, and how long the busiest process computes."""
    if "simulated" in runs.attrs:
        for n in runs.n.values:
            one = runs.sel(n=n).isel(bandwidth=-1, repeat=0)
            yield n, one.p.values, one.seconds.values, one["compute"].values
    else:
        busiest = runs.cpu_seconds.max("cluster").sum("round")
        for n in np.unique(runs.n):
            of = runs.n.values == n
            yield n, runs.workers.values[of], runs.seconds.values[of], busiest.values[of]


@check
@on_the_cluster
def parts(claim: Claim, evidence: Evidence) -> Verdict:
    """Powers of p of the time computing, and of the rest of T, with their 95 % intervals, on each graph."""
    found = []
    runs = needed(evidence.result(TIMES), f"no results of {TIMES}")
    for n, p, seconds, computing in _computing(runs):
        (one, near), (other, close) = _slope(p, computing), _slope(p, seconds - computing)
        told = f"of {n} nodes computing as p^{one:.2f} ± {near:.2f}, the rest p^{other:.2f} ± {close:.2f}"
        found.append((told, one - near <= -1 and other - close <= -0.5))
    return _of_each(claim, evidence, TIMES, found)


def _at_full(scale: Analysis) -> xr.DataArray:
    """Seconds at the whole bandwidth, medians of repeats."""
    return scale.runs.seconds.isel(bandwidth=-1).median("repeat")


@of_each_graph(TIMES, f"R² of {GOOD:g} or more")
def base_model(scale: Analysis) -> tuple[str, bool]:
    """R² of the formula's two terms alone, and their coefficients, which are times: neither is negative."""
    full = _at_full(scale)
    model = CompletionTime(("1/p", "1/sqrt(p)"), "equal", False).fit(full.p, full)
    c1, c2 = model.coef_
    told = f"of {scale.sizes[0]} nodes C1 {c1:.3g}, C2 {c2:.3g}, R² {model.r2_:.2f}"
    return told, min(c1, c2) >= 0 and model.r2_ >= GOOD


@of_each_graph(TIMES, f"surely between -{FLAT} and 0")
def not_straight(scale: Analysis) -> tuple[str, bool]:
    """Slopes of log T over log p, with their 95 % intervals: T falls, and surely less than 1/p."""
    full = _at_full(scale)
    power, half = _slope(full.p.values, full.values)
    return f"slope {power:.2f} ± {half:.2f}", power - half > -FLAT and power + half < 0


@check
def sent_per_process(claim: Claim, evidence: Evidence) -> Verdict:
    """Slope of log bytes that a process sends over log p, with its 95 % interval, on each graph."""
    runs = needed(evidence.result(TIMES), f"no results of {TIMES}")
    sent = (runs.bytes.where(runs.bytes >= 0).sum("round") / runs.workers).values
    found = []
    for n in np.unique(runs.n):
        of = np.flatnonzero((runs.n.values == n) & (runs["repeat"].values == 0))
        power, half = _slope(runs.workers.values[of], sent[of])
        holds = -1 < power - half < -0.5 < power + half < 0
        found.append((f"bytes as p to the power {power:.2f} ± {half:.2f}", holds))
    return _of_each(claim, evidence, TIMES, found)


@check
@on_the_cluster
def fit(claim: Claim, evidence: Evidence) -> Verdict:
    """R², error and coefficients of the paper's form on each graph: as printed, or a better fit."""
    told = []
    scales = _scales(evidence, TIMES)
    holds = len(scales) > 1
    for scale, (_, r2, error, *printed) in zip(scales[-2:], claim.data["rows"], strict=False):
        model, c1, c2 = _model(scale)
        ours = {"R²": model.r2_, "MSE": model.mse_, "C1": c1, "C2": c2}
        told.append(f"of {scale.sizes[0]} nodes {verdicts.said(ours)}")
        holds &= model.r2_ > (1 - NEAR) * r2 and model.mse_ < (1 + NEAR) * error
        holds &= bool(np.allclose([c1, c2], printed, rtol=NEAR))
    within = f"{NEAR:.0%} of print"
    return compared(claim, holds, "; ".join(told), within, evidence.result(TIMES))


@of_each_graph(TIMES, f"R² of {GOOD:g} or more, errors below {NEAR:.0%} of T")
def good_fit(scale: Analysis) -> tuple[str, bool]:
    """R² of the paper's form on each graph, and its root mean square error beside the mean time."""
    model, *_ = _model(scale)
    error = float(np.sqrt(model.mse_) / scale.seconds().mean())
    return f"R² {model.r2_:.3g}, error {error:.1%}", model.r2_ >= GOOD and error < NEAR


@of_each_graph(TIMES)
def processing_dominates(scale: Analysis) -> tuple[str, bool]:
    """C1 beside C2 on each graph, and processing's part at the most workers."""
    c1, c2 = _times_of(scale)
    part = 1 - _share(c1, c2, float(scale.runs.p.max()))
    told = f"C1 {c1:.3g}, C2 {c2:.3g}, 1/p {part:.0%} of both at the most workers"
    return told, c1 > c2 and part > 0.5


def _seconds(found: Analysis) -> xr.DataArray:
    """Seconds on several workers, medians of repeats."""
    seconds: xr.DataArray = found.runs.seconds.median("repeat")
    return seconds.sel(p=seconds.p > 1)


@of_each_graph(THROTTLED)
def nonlinear(scale: Analysis) -> tuple[str, bool]:
    """Whether T of each graph is convex in bandwidth, and by how much it is below a straight line."""
    seconds = _seconds(scale)
    needed(seconds.sizes["bandwidth"] > 2, "bandwidth was not varied")
    ends = seconds.isel(bandwidth=[0, -1])
    middle = seconds.interp(bandwidth=float(ends.bandwidth.mean()))
    below = 1 - float((middle / ends.mean("bandwidth")).max())
    return f"at least {below:.0%} below a straight line", below > 0


@check
@on_the_cluster
def cluster_order(claim: Claim, evidence: Evidence) -> Verdict:
    """Times of each graph over those of one with more workers, and of the graph before, at each point."""
    scales = [_seconds(found) for found in _scales(evidence, THROTTLED)]
    needed(len(scales) > 1, "results of a single graph")
    steps = [s.isel(p=slice(None, -1)).values / s.isel(p=slice(1, None)).values for s in scales]
    found = {
        "fewer workers": np.concatenate([step.ravel() for step in steps]),
        "larger graph": np.concatenate([(b / a).values.ravel() for a, b in pairwise(scales)]),
    }
    told = {name: f"x {x.min():.2f} to {x.max():.2f}" for name, x in found.items()}
    holds = all(bool((x > 1).all()) for x in found.values())
    return compared(claim, holds, told, results=evidence.result(THROTTLED))


@check
def throttle(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether there are means to have less bandwidth, and whether runs, if there are any, took longer."""
    from typing import get_args

    from distributed.comm.registry import get_backend

    means = get_args(config.Throttle.model_fields["means"].annotation)
    told, slower = {}, True
    if evidence.result(THROTTLED) is not None:
        seconds = _seconds(_scales(evidence, THROTTLED)[-1])
        slower = bool((seconds.isel(bandwidth=0) > MORE * seconds.isel(bandwidth=-1)).all())
        told = {"less bandwidth slower": slower}
    there = get_backend("throttle+tcp") is not None and "tc" in means
    ours = {"means": means, **told}
    return compared(claim, there and slower, ours, "an emulator in software, or the kernel's")


@of_each_graph(THROTTLED, f"x {ALIKE:g}")
def similar_demands(scale: Analysis) -> tuple[str, bool]:
    """Of each graph the ratios of demands of the most and the fewest workers, over increments."""
    demand = needed(scale.demand, NO_DEMAND).demand_
    ratio = (demand.isel(p=-1) / demand.isel(p=0)).values
    there = ratio[np.isfinite(ratio)]
    told = f"{len(there)} of {len(ratio)} increments"
    needed(len(there) > 1, f"no statement: {told} have a demand")
    most = float(there.max() / there.min())
    return f"ratios within x {most:.2f}, of {told}", most < ALIKE


@check
@on_the_cluster
def demand_constant(claim: Claim, evidence: Evidence) -> Verdict:
    """The demand constants of the graphs."""
    values = claim.data["values"]
    found = [needed(each.demand, NO_DEMAND) for each in _scales(evidence, THROTTLED)]
    ours = [float(each.demand_constant_) for each in found]
    printed = [values["DC_27"], values["DC_28"]]
    holds = len(ours) == 2 and bool(np.allclose(ours, printed, rtol=0, atol=NEAR / 2))
    results = evidence.result(THROTTLED)
    return compared(claim, holds, {"DC": ours}, f"{NEAR / 2:g}", results)


@check
@on_the_cluster
def demand_error(claim: Claim, evidence: Evidence) -> Verdict:
    """Of each graph the largest error of the demand held out, percentage points."""
    off = []
    for found in _scales(evidence, THROTTLED):
        error = found.demand_error
        if error is None or not error.notnull().any():
            raise verdicts.MissingError(NO_DEMAND)
        off.append(float(abs(error).max()))
    values = claim.data["values"]
    holds = len(off) == 2 and off[0] < values["below_27"] and off[1] < values["below_28"]
    told = f"{' and '.join(f'{x:.1f}' for x in off)} points"
    return compared(claim, holds, told, results=evidence.result(THROTTLED))


@of_each_graph(TIMES)
def bandwidth_shortage(scale: Analysis) -> tuple[str, bool]:
    """Whether the share of communication in the fitted form grows with p, to more than a half."""
    first, last = (_share(*_times_of(scale), float(f(scale.runs.p))) for f in (min, max))
    return f"share {first:.0%} to {last:.0%}", last > max(first, 0.5)


@check
@on_the_cluster
def diminishing_return(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether communication is most of the completion time where one more machine stops to pay."""
    found, (c1, _) = [(scale, _times_of(scale)) for scale in _scales(evidence, TIMES)][-1]
    (end,) = found.stop.values()
    needed(not end.reason, f"no statement at how many machines to stop: {end.reason}")
    p = end.machines
    share = 1 - c1 / p / float(_model(found)[0].predict(p))
    needed(0 <= share <= 1, f"no statement: all but 1/p is {share:.0%} of the time")
    told = {"stop at": f"{p:g} machines", "all but 1/p there": f"{share:.0%} of the time"}
    within = f"more than half; one more machine saves less than {found.settings.gain:.0%}"
    return compared(claim, share > 0.5, told, within, found.runs)
