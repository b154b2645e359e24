"""The figures of a run: as a mapping, as text, as a dataset."""

from __future__ import annotations

import json
from collections.abc import Mapping
from statistics import median
from typing import Any

import numpy as np
import xarray as xr

from dgsuite.base.tables import text
from dgsuite.partition.graph.graph import Graph
from dgsuite.suites.graphalytics.options import size
from dgsuite.suites.graphalytics.run import Found


def summary(graph: Graph, found: Mapping[str, Found]) -> dict[str, Any]:
    """The graph, and the benchmark's metrics of each algorithm: medians of its runs."""
    scale, shirt = size(graph.n, graph.m)
    algorithms = {}
    for name, one in found.items():
        processing = median(one.seconds)
        algorithms[name] = {
            "parameters": one.parameters,
            "makespan_seconds": median(one.makespans),
            "processing_seconds": processing,
            "eps": graph.m / processing,
            "evps": (graph.n + graph.m) / processing,
            "compared": one.wrong is not None,
            "matches": None if one.wrong is None else not one.wrong,
            "wrong": one.wrong,
            "makespans": one.makespans,
            "processing": one.seconds,
        }
    about = {"n": graph.n, "m": graph.m, "directed": graph.directed, "scale": scale, "size": shirt}
    return {**about, "algorithms": algorithms}


def report(figures: Mapping[str, Any]) -> str:
    """The figures as a table."""
    kind = "directed" if figures["directed"] else "undirected"
    about = (
        f"{figures['graph']}: {figures['n']} vertices, {figures['m']} edges, {kind}; scale "
        f"{figures['scale']}, size {figures['size']}; loaded in {figures['load_seconds']:.3g} s; "
        f"{figures['workers']} workers"
    )
    rows = []
    for name, one in figures["algorithms"].items():
        words = {None: "none", True: "matches"}.get(one["matches"], f"{one['wrong']} differ")
        times = one["makespan_seconds"], one["processing_seconds"]
        shown = [f"{1e3 * seconds:.4g} ms" for seconds in times]
        rows.append((name, *shown, f"{one['eps']:.3g}", f"{one['evps']:.3g}", words))
    heads = ("", "makespan", "processing", "EPS", "EVPS", "reference")
    return f"{about}\n{text(heads, rows, left=(0, 5))}"


def dataset(figures: Mapping[str, Any]) -> xr.Dataset:
    """Times by algorithm and repetition, and the metrics of each algorithm."""
    every = figures["algorithms"]

    def table(key: str, long_name: str, units: str, *dims: str) -> Any:
        values = np.array([one[key] for one in every.values()], float)
        return ("algorithm", *dims), values, {"long_name": long_name, "units": units}

    attrs = {key: figures[key] for key in ("n", "m", "scale", "size", "load_seconds", "workers")}
    return xr.Dataset(
        {
            "makespan": table("makespans", "time of the whole call", "s", "repetition"),
            "processing": table("processing", "time of the rounds", "s", "repetition"),
            "eps": table("eps", "edges per second of processing", "s-1"),
            "evps": table("evps", "edges and vertices per second of processing", "s-1"),
            "wrong": table(
                "wrong", "vertices that differ from the reference, if there is one", "1"
            ),
        },
        {"algorithm": list(every)},
        {
            "title": f"Graphalytics on {figures['graph']}",
            "directed": int(figures["directed"]),
            "parameters": json.dumps({name: one["parameters"] for name, one in every.items()}),
            **attrs,
        },
    )
