"""The figures of a run: as a mapping, as text, as a dataset."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

import numpy as np
import xarray as xr

from dgsuite.base.tables import text
from dgsuite.partition.graph.graph import Graph
from dgsuite.suites.gap.trials import Trials
from dgsuite.suites.results import statistics


def summary(graph: Graph, found: Mapping[str, Trials]) -> dict[str, Any]:
    """The graph, and the times of each kernel."""
    kernels = {}
    for name, trials in found.items():
        time = statistics(trials.seconds)
        each = zip(trials.each, trials.seconds, trials.processor, trials.rounds, strict=True)
        kernels[name] = {
            "trials": len(trials.seconds),
            "least_seconds": time["min"],
            "median_seconds": time["median"],
            "time": time,
            "processor_seconds": statistics(trials.processor)["median"],
            "wire_bytes": int(np.mean(trials.wire)),
            "validated": trials.validated,
            "each": [
                {**own, "seconds": seconds, "processor_seconds": processor, "rounds": rounds}
                for own, seconds, processor, rounds in each
            ],
        }
    return {"n": graph.n, "m": graph.m, "directed": graph.directed, "kernels": kernels}


def report(figures: Mapping[str, Any]) -> str:
    """The figures as a table."""
    about = (
        f"{figures['graph']}: {figures['n']} nodes, {figures['m']} edges, built in "
        f"{figures['construction_seconds']:.3g} s; {figures['workers']} workers"
    )
    rows = []
    for name, kernel in figures["kernels"].items():
        times = [kernel["time"][of] for of in ("min", "median", "mean")]
        times.append(kernel["processor_seconds"])
        shown = [f"{1e3 * seconds:.4g} ms" for seconds in times]
        rows.append((name, kernel["trials"], *shown, kernel["validated"]))
    heads = ("kernel", "trials", "least", "median", "mean", "processor", "validated")
    return f"{about}\n{text(heads, rows)}"


def dataset(figures: Mapping[str, Any], found: Mapping[str, Trials]) -> xr.Dataset:
    """Times, rounds and bytes by kernel and trial, NaN where a kernel has fewer trials."""

    def table(measured: str, long_name: str, units: str) -> Any:
        rows = [getattr(one, measured) for one in found.values()]
        values = np.array([*zip_longest(*rows, fillvalue=np.nan)], float).T
        return ("kernel", "trial"), values, {"long_name": long_name, "units": units}

    about_processors = "processor time of the phases of all workers"
    trials = max(len(one.seconds) for one in found.values())
    return xr.Dataset(
        {
            "seconds": table("seconds", "time of the rounds", "s"),
            "processor_seconds": table("processor", about_processors, "s"),
            "rounds": table("rounds", "rounds", "1"),
            "wire_bytes": table("wire", "data sent between workers", "byte"),
        },
        {"kernel": list(found), "trial": np.arange(trials)},
        {
            "title": f"GAP on {figures['graph']}",
            **{key: figures[key] for key in ("n", "m", "workers", "construction_seconds")},
            "each": json.dumps({name: t.each for name, t in found.items()}),
        },
    )
