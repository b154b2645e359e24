"""The figures of a run, and the specification's output format."""

from __future__ import annotations

from typing import Any

from dgsuite.suites.graph500.options import Options
from dgsuite.suites.graph500.problem import Problem
from dgsuite.suites.graph500.search import Searches
from dgsuite.suites.options import EDGE_FACTOR
from dgsuite.suites.results import harmonic, statistics


def summary(problem: Problem, found: Searches, options: Options, workers: int) -> dict[str, Any]:
    """All figures as one mapping."""
    teps = [m / t for m, t in zip(found.edges, found.seconds, strict=True)]
    mean, error = harmonic(teps)
    return {
        "scale": problem.scale,
        "edge_factor": EDGE_FACTOR,
        "roots": len(found.roots),
        "workers": workers,
        "kernel": options.kernel,
        "partition": options.partition,
        "direction": options.direction,
        "generation_seconds": problem.generation,
        "construction_seconds": problem.construction,
        "median_seconds": statistics(found.seconds)["median"],
        "harmonic_mean_teps": mean,
        "harmonic_stddev_teps": error,
        "time": statistics(found.seconds),
        "nedge": statistics(found.edges),
        "teps": statistics(teps),
        "validated": len(found.checks),
        "wire_bytes": int(sum(found.wire) / len(found.wire)),
        "compare": {
            name: {"median_seconds": statistics(seconds)["median"]}
            for name, seconds in found.peers.items()
        },
    }


def report(figures: dict[str, Any]) -> str:
    """The figures in the specification's output format."""
    kernel = figures["kernel"]
    lines = [
        f"SCALE: {figures['scale']}",
        f"edgefactor: {figures['edge_factor']}",
        f"N{kernel.upper()}: {figures['roots']}",
        f"graph_generation: {figures['generation_seconds']:g}",
        f"num_mpi_processes: {figures['workers']}",
        f"construction_time: {figures['construction_seconds']:g}",
    ]
    for name, label in (("time", "time"), ("nedge", "nedge"), ("teps", "TEPS")):
        values = dict(figures[name])
        if name == "teps":
            del values["mean"], values["stddev"]
            values["harmonic_mean"] = figures["harmonic_mean_teps"]
            values["harmonic_stddev"] = figures["harmonic_stddev_teps"]
        lines += [f"{kernel}  {what}_{label}: {value:g}" for what, value in values.items()]
    lines.append(f"{kernel}  validated: {figures['validated']} of {figures['roots']}")
    lines.append(f"{kernel}  mean_wire_bytes: {figures['wire_bytes']}")
    for name, peer in figures["compare"].items():
        ratio = figures["median_seconds"] / peer["median_seconds"]
        lines.append(f"{name}  median_time: {peer['median_seconds']:g} (ours is {ratio:.2f} of it)")
    return "\n".join(lines)
