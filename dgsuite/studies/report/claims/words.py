"""Checks of what the papers define: words, parameters, scopes."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import numpy as np
import xarray as xr

import dgsuite
from dgsuite import genval
from dgsuite.kernels import KERNELS
from dgsuite.studies.report.claims import verdicts
from dgsuite.studies.report.claims.data import Claim
from dgsuite.studies.report.claims.evidence import SUITE, Evidence, N
from dgsuite.studies.report.claims.kernels import valid
from dgsuite.studies.report.claims.setups import NO_FILES, TIMED, Made, planned
from dgsuite.studies.report.claims.verdicts import Verdict, check, compared, condition, needed


@check
def places(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether each place of X10's programs is a process with its data, and their number is fixed."""
    points = [p for n in TIMED for p in evidence.points(n) if p.runtime == "X10"]
    needed(points, NO_FILES)
    odd = {p.describe() for p in points if p.workers != p.clusters}
    varied = {p.hwts or 0 for p in points if p.clusters == N}
    text = f"{verdicts.all_but(sorted(odd))}; 64 places on {min(varied)} to {max(varied)} hardware threads"
    return compared(claim, not odd and len(varied) > 1, text, "a place is a worker process")


@check
def validators(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether each kernel has a validator, which refuses an output with an error in it."""
    odd = []
    for kernel in SUITE:
        ran, name = evidence.run(kernel, "Mx"), next(iter(KERNELS[kernel].outputs))
        wrong = ran.assign({name: (ran[name].dims, _spoilt(ran[name].values))})
        if not valid(kernel, ran) or valid(kernel, wrong):
            odd.append(kernel)
    told = f"{verdicts.all_but(odd)} accept an output and refuse a wrong one"
    return compared(claim, not odd, told)


def _spoilt(values: np.ndarray) -> np.ndarray:
    """Values of which one is wrong: the other truth value, or a number that is no answer."""
    wrong = values.copy()
    wrong.flat[1] = ~wrong.flat[1] if wrong.dtype.kind == "b" else -9
    return wrong


@check
def variables(claim: Claim, evidence: Evidence) -> Verdict:
    """Which variables of a run count what the paper names."""
    ds = evidence.run("bf", "Mn", "clocked")
    named = claim.data.get("names") or [row[0] for row in claim.data["rows"]]
    ours = claim.data["stands"]
    there = all(name in ds or name in ds.attrs for name in ours.values())
    others = [word for word in named if word not in ours]
    return compared(claim, there, ours, f"no operations: {verdicts.said(others)}" if others else "")


@check
def parameters(claim: Claim, evidence: Evidence) -> Verdict:
    """What programs vary in the full settings of Figures 11 to 19: one of three, or several in sync."""
    ours, holds, inputs = {}, True, []
    for n in TIMED:
        points = [p for p in evidence.points(n) if p.style != "in_turn"]
        runs: dict[str, list[Made]] = {}
        for made in planned(points):
            runs.setdefault(made.program, []).append(made)
        varied = needed([_varied(mine) for mine in runs.values()], NO_FILES)
        holds &= None not in varied and all(found == varied[0] for found in varied)
        holds &= all(max(r.sizes, r.places) % min(r.sizes, r.places) == 0 for r in planned(points))
        inputs += [n] * (len({p.kind for p in points}) > 1)
        ours[f"Figure {n}"] = varied[0] or "the input"
    alone = [name for name, found in ours.items() if found == "the input"]
    return compared(claim, holds and alone == [f"Figure {n}" for n in inputs], ours)


def _varied(runs: Sequence[Made]) -> list[str] | None:
    """Which of the three parameters a program varies; None where several have different values."""
    names = [n for n in ("threads", "sizes", "places") if len({getattr(r, n) for r in runs}) > 1]
    in_sync = all(len({getattr(run, name) for name in names}) <= 1 for run in runs)
    return names if in_sync else None


@check
def traces(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether a trace has all messages of a run, between which clusters, and counts them as the run does."""
    graph = genval.graph("mx", N, family="paper", kernel="bf").repartition(4)
    ran = dgsuite.run("bf", graph, style="serial", trace=True, faithful=True)
    traffic = ran.traffic.values
    between = int(traffic.sum() - np.trace(traffic, axis1=1, axis2=2).sum())
    ours = {"messages in the trace": int(traffic.sum()), "between clusters": between}
    counted = [int(ran.messages.sum()), int(ran.remote_messages.sel(model="MP").sum())]
    return compared(claim, list(ours.values()) == counted, ours)


@check
def sizes_together(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether an experiment fits several sizes of a graph together."""
    found = needed(evidence.planned("scalability-sizes", full=False), NO_FILES)
    sizes = sorted({n for run in found.run for n in run.n or ()})
    ours = {"sizes": sizes, "fitted": found.scaling.sizes}
    return compared(claim, len(sizes) > 1 and found.scaling.sizes == "together", ours)


@check
def betweenness(claim: Claim, evidence: Evidence) -> Verdict:
    """Scores beside those of the definition, on a graph with several shortest paths."""
    graph = nx.gnm_random_graph(60, 150, seed=11)
    ran = dgsuite.run("bc", dgsuite.Graph.from_networkx(graph), style="serial", weighted=False)
    scores = nx.betweenness_centrality(graph, normalized=False)
    theirs = np.array([scores[v] for v in ran.node.values.tolist()])
    error = float(np.abs(ran.betweenness.values - theirs).max())
    return compared(claim, error < 1e-9, f"largest difference from the definition {error:.1g}")


@check
def mailbox(claim: Claim, evidence: Evidence) -> Verdict:
    """In which order messages are delivered; runs of different cuts show it."""
    graph = genval.graph("mx", N, family="paper", kernel="dst")
    cuts = [dgsuite.run("dst", graph, style="serial", clusters=k, faithful=True) for k in (1, 4, N)]
    told = "by receiver and sender; a mailbox holds all messages of a phase"
    return compared(claim, False, told, results=cuts)


@condition
def runs_repeat(runs: Sequence[xr.Dataset]) -> bool:
    """Whether runs on other cuts have the same outputs and counts of messages."""
    names = ["messages", *KERNELS["dst"].outputs]
    kept = [run[names].drop_vars("cluster", errors="ignore") for run in runs]
    return all(one.equals(kept[0]) for one in kept)
