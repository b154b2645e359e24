"""Checks of what IMSuite says of messages, on traces of runs with a cluster for each node."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dgsuite import genval
from dgsuite.studies.report.claims.data import Claim, claims
from dgsuite.studies.report.claims.evidence import SUITE, Evidence, N, dataset, inputs_of
from dgsuite.studies.report.claims.verdicts import Verdict, check, compared, condition


@condition
def counted_in_print(runs: xr.Dataset) -> bool:
    """Whether the communication of runs is that of Figure 8, so that the paper's programs have the same."""
    printed = claims()["imsuite.fig8.table"].table()
    return all(
        int(run["comm"]) == printed[str(run["kernel"].item())][f"FA comm {run['input'].item()}"]
        for run in (runs.isel(run=at) for at in range(runs.sizes["run"]))
    )


@check
def along_links(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether each message goes from a node to itself or to a neighbour, in which phases it does not."""
    odd: dict[str, int] = {}
    total, runs = 0, []
    for kernel, given in [(k, i) for k in SUITE for i in inputs_of(k)]:
        trace = evidence.trace(kernel, given)
        linked = _links(kernel, given)[trace["source"].values, trace["destination"].values]
        sent = trace["messages"].values
        total += int(sent.sum())
        phases = trace["name"].values[trace["at"].values]
        for name in np.unique(phases[~linked]):
            odd[f"{kernel} {given} {name}"] = int(sent[~linked & (phases == name)].sum())
        if not linked.all():
            runs.append((kernel, given, int(evidence.run(kernel, given)["comm"].sum())))
    of = f"{total} messages on both inputs"
    if not odd:
        return compared(claim, True, f"all of {of}")
    results = dataset("run", ("kernel", "input", "comm"), runs)
    told = ", ".join(f"{name} {count}" for name, count in odd.items())
    return compared(claim, False, f"{sum(odd.values())} of {of} are not: {told}", results=results)


def _links(kernel: str, given: str) -> NDArray[np.bool_]:
    """Which nodes are neighbours; each node is its own."""
    graph = genval.graph(given.lower(), N, family="paper", kernel=kernel)
    linked = graph.to_scipy().toarray().astype(bool) | np.eye(N, dtype=bool)
    return linked | linked.T


def communication(trace: xr.Dataset) -> str:
    """How far a kernel's words go.

    "unicast": in a phase no node sends to two others. "broadcast": from a phase of some name to the next of
    that name every node gets as many words as there are others. "multicast": anything between.
    """
    source, destination, at = (trace[n].values for n in ("source", "destination", "at"))
    other = source != destination
    pairs = np.unique(np.stack([at[other], source[other], destination[other]]), axis=1)
    _, receivers = np.unique(pairs[:2], axis=1, return_counts=True)
    if receivers.max() == 1:
        return "unicast"
    names = trace["name"].values
    for name in np.unique(names):
        wave = np.cumsum(names == name)  # 0: before the first
        words = np.zeros((wave[-1] + 1, N), int)
        np.add.at(words, (wave[at], destination), np.where(other, trace["messages"].values, 0))
        if (words[1:] >= N - 1).all():
            return "broadcast"
    return "multicast"


@check
def conformance(claim: Claim, evidence: Evidence) -> Verdict:
    """Communication, lock step and faulty nodes of each kernel, by its runs on both inputs."""
    odd = []
    for kernel, row in claim.table().items():
        made = [communication(evidence.trace(kernel, given)) for given in inputs_of(kernel)]
        found = next((m for m in ("multicast", "broadcast") if m in made), "unicast")
        if found != row["communication"]:
            odd.append(f"{kernel} {found}")
        runs = [evidence.run(kernel, given) for given in inputs_of(kernel)]
        alone = all(int(run["finishes"].sum()) == 1 for run in runs)
        if alone != (row["timing"] == "asynchronous"):
            odd.append(f"{kernel} {'one join' if alone else 'in lock step'}")
        fails = any("traitor" in run and bool(run["traitor"].any()) for run in runs)
        if fails != row["failure"]:
            odd.append(f"{kernel} {'has' if fails else 'has no'} faulty nodes")
    return compared(claim, not odd, odd or "all kernels")
