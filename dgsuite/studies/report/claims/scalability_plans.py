"""Checks of what the scalability paper plans and defines, on experiment files and on our equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from dgsuite.studies.experiment import model as config
from dgsuite.studies.report.claims import verdicts
from dgsuite.studies.report.claims.data import Claim, claims, figure_of
from dgsuite.studies.report.claims.evidence import Evidence
from dgsuite.studies.report.claims.setups import NO_FILES
from dgsuite.studies.report.claims.verdicts import Verdict, check, compared, needed
from dgsuite.studies.scaling import BandwidthDemand, CompletionTime
from dgsuite.studies.scaling.terms import FORMS

TIMES = "scalability-figure2"
"""The experiment of Figures 2 and 3: times over the number of nodes."""

THROTTLED = "scalability-paper"
"""The experiment of Figures 4 to 6: times over bandwidth."""

SIMULATED = "scalability-simulated"
"""Both, simulated on the paper's cluster."""


def paper_fit() -> dict[str, Any]:
    """The paper's regression, as settings of an experiment have it."""
    return dict(claims()["scalability.eq1.regression"].data["fixed"])


def paper_settings() -> config.Scaling:
    """How the paper analyses: each size apart, by plain least squares."""
    fit = {k: v for k, v in paper_fit().items() if k in config.Scaling.model_fields}
    return config.Scaling.model_validate(fit)


def _times(evidence: Evidence) -> config.Config:
    return needed(evidence.planned(TIMES, full=False), NO_FILES)


def _aspects(file: config.Config) -> dict[str, Any]:
    """What an experiment has of what a set-up of the paper names."""
    points = config.points(file)
    share = file.throttle.processes_per_node if file.throttle else 1
    nodes = sorted({p.workers / share for p in points})
    whole = [int(x) if x == int(x) else x for x in nodes]
    gbit = round(8e-9 * share * file.throttle.share(), 6) if file.throttle else None
    percents = {p.bandwidth for p in points if p.bandwidth is not None}
    fitted = whole[:-1]
    return {
        "programs": sorted({p.kernel for p in points}),
        "scale": [float(s) for s in sorted({np.log2(p.n) for p in points if p.n})],
        "nodes": whole,
        "most_nodes": whole[-1],
        "processes_per_node": share,
        "threads_per_process": max(p.threads for p in points),
        "steps": sorted(b for b in percents if 20 <= b <= 40),
        "gbit_per_second": gbit,
        "points": len({(p.workers, p.n, p.repeat) for p in points}),
        "fitted_nodes": fitted,
        "predicted_nodes": whole[-1],
        "fitted_processes": [int(x * share) for x in fitted],
        "predicted_processes": int(whole[-1] * share),
        "pairs_per_cti": len(fitted) * (len(fitted) - 1) // 2,
    }


DERIVED = {
    "fitted_nodes": "nodes",
    "predicted_nodes": "nodes",
    "fitted_processes": "processes_per_node",
    "predicted_processes": "processes_per_node",
    "pairs_per_cti": "nodes",
}
"""Aspects that follow from others, whose reasons are theirs."""


def departures(claim: Claim, file: config.Config) -> dict[str, str]:
    """Where an experiment differs from a set-up, by aspect: "ours instead of the paper's".

    Aspects that the claim does not name are not compared, but for the link: it is the cluster's.
    """
    ours = _aspects(file)
    link = claims()["scalability.sec2.cluster"].data["fixed"]["gbit_per_second"]
    given = {**claim.data.get("vary", {}), **claim.data.get("fixed", {})}
    return verdicts.others(ours, {"gbit_per_second": link, "programs": ["bfs2d"], **given})


@check
def scalability_setting(claim: Claim, evidence: Evidence) -> Verdict:
    """The quick and the full setting beside the paper's, aspect by aspect.

    What departs must have its reason in the file's ``scaling.departs``. A reason there is for the quick
    setting: the full one departs silently where it has neither the paper's value nor the quick one's.
    """
    name = _experiment_of(claim)
    quick, full = (needed(evidence.planned(name, full), NO_FILES) for full in (False, True))
    reasons = quick.scaling.departs
    found, rest = departures(claim, quick), departures(claim, full)
    silent = [f"{a}: {text}" for a, text in found.items() if DERIVED.get(a, a) not in reasons]
    silent += [f"full {a}: {text}" for a, text in rest.items() if found.get(a) != text]
    setups = [c for c in claims().values() if c.check == claim.check and _experiment_of(c) == name]
    named = {DERIVED.get(aspect, aspect) for c in setups for aspect in departures(c, quick)}
    silent += [f"{a}: said to depart, but does not" for a in reasons if a not in named]
    ours = [f"{aspect}: {text}" for aspect, text in found.items()]
    ours += ["full: " + (", ".join(rest) + " as well" if rest else "as the paper")]
    why = {DERIVED.get(a, a): reasons.get(DERIVED.get(a, a), "") for a in found}
    text = "; ".join(f"{aspect}: {reason}" for aspect, reason in why.items() if reason)
    return Verdict(
        verdicts.DIFFERS if found else verdicts.EQUAL, ". ".join(ours), text, "; ".join(silent)
    )


def _experiment_of(claim: Claim) -> str:
    return TIMES if figure_of(claim) in (2, 3) else THROTTLED


@check
def strong_scaling(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether each size runs on several numbers of workers."""
    points = config.points(_times(evidence))
    by_size = {n: sorted({p.workers for p in points if p.n == n}) for n in {p.n for p in points}}
    same = all(len(workers) > 1 for workers in by_size.values())
    return compared(claim, same, {"n": sorted(by_size, key=str), "workers": by_size[points[0].n]})


@check
def regression(claim: Claim, evidence: Evidence) -> Verdict:
    """The experiments' fit beside plain least squares, on points that are off the curve."""
    files = [evidence.planned(name, full=False) for name in (TIMES, THROTTLED)]
    found = needed([file.scaling for file in files if file is not None], NO_FILES)
    paper = paper_fit()
    settings = [{name: getattr(s, name) for name in paper} for s in found]
    s = found[0]
    p = np.array([1.0, 2, 4, 8, 16])
    times = 1 + 8 / p + 2 / np.sqrt(p) + np.array([0.9, -0.9, 0.5, -0.3, 0.2])
    plain = np.linalg.lstsq(np.stack([p**0, 1 / p, p**-0.5], 1), times, rcond=None)[0]
    ours = CompletionTime(s.terms or FORMS[0], s.weights, s.bounded).fit(p, times).coef_.to_numpy()
    same = ours.shape == plain.shape and np.allclose(ours, plain, rtol=1e-6)
    odd = next((setting for setting in settings if setting != paper), paper)
    return compared(claim, same and odd == paper, odd | {"coefficients": ours.round(3).tolist()})


@check
def scale(claim: Claim, evidence: Evidence) -> Verdict:
    """Vertices and edges of a scale, by the rule of our experiment file."""
    from dgsuite.genval.families import plan

    file = _times(evidence)
    graph = needed(file.graph, NO_FILES)
    n = next(p.n for p in config.points(file) if p.n)
    per_node = plan(str(graph.generate), n, m=graph.edges).items / n
    odd = [
        name for name, value in claim.data["values"].items()
        if abs(2 ** int(name[-2:]) * (per_node if "edges" in name else 1) / value - 1) > 0.03
    ]  # fmt: skip
    return compared(claim, not odd, f"{per_node:g} edges per vertex", "print rounds")


def _made() -> tuple[xr.Dataset, dict[int, float]]:
    """Curves whose demand is known: T = 1 + b_p (100 / bw - 1), so that BW = 100 / (1 + CTI / b_p)."""
    known = {4: 0.2, 9: 0.3, 16: 0.4, 25: 0.5}
    percent = np.arange(20.0, 101)
    rows = [1 + b * (100 / percent - 1) for b in known.values()]
    coords = {"p": list(known), "bandwidth": percent}
    return xr.Dataset({"seconds": (("p", "bandwidth"), rows)}, coords), known


@check
def demand_equations(claim: Claim, evidence: Evidence) -> Verdict:
    """Demand, demand constant and prediction on made curves, beside the equations worked out by hand."""
    curves, known = _made()
    ctis = [0.2, 0.4, 0.6]
    model = BandwidthDemand(ctis).fit(curves.sel(p=[4, 9, 16]))
    demand = {p: np.array([100 / (1 + c / known[p]) for c in ctis]) for p in (4, 9, 16)}
    pairs = [(9, 4), (16, 4), (16, 9)]
    constant = np.mean([demand[a] / demand[b] / np.sqrt(a / b) for a, b in pairs])
    expected = demand[16] * constant * np.sqrt(25 / 16)
    off = max(
        abs(model.demand_constant_ / constant - 1),
        float(np.max(np.abs(np.asarray(model.predict(25, ctis)) / expected - 1))),
    )
    return compared(claim, off < 1e-3, f"off by {off:.1e}", "0.1 %, where curves are interpolated")


@check
def demand_ctis(claim: Claim, evidence: Evidence) -> Verdict:
    """How many increments are averaged over."""
    from dgsuite.studies.scaling.demand import CTIS

    wanted = claims()["scalability.fig6.dc"].data["values"]["ctis"]
    return compared(claim, wanted == CTIS, {"increments": CTIS}, "which five is not printed")


@check
def growth_factor(claim: Claim, evidence: Evidence) -> Verdict:
    """sqrt(450/288), and times the printed constants."""
    fixed = claims()["scalability.fig6.setup"].data["fixed"]
    constants = claims()["scalability.fig6.dc"].data["values"]
    root = float(np.sqrt(fixed["predicted_processes"] / fixed["p_star"]))
    ours: dict[str, Any] = {"sqrt_450_over_288": root}
    ours |= {f"growth_{s}": root * constants[f"DC_{s}"] for s in (27, 28)}
    holds = all(np.isclose(ours[k], v) for k, v in claim.data["values"].items())
    return compared(claim, holds, ours)
