"""Runs of the algorithms, their outputs compared with references and written."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray as xr
from distributed import Client
from numpy.typing import NDArray

import dgsuite
from dgsuite.base.errors import InputError
from dgsuite.kernels import KERNELS
from dgsuite.kernels.bsp import Weighted
from dgsuite.partition.client.settings import gathered
from dgsuite.partition.graph.graph import Graph
from dgsuite.suites import running
from dgsuite.suites.graphalytics import files
from dgsuite.suites.graphalytics.options import ALGORITHMS, TOLERANCE, UNREACHED, Options
from dgsuite.suites.graphalytics.setting import Setting, parameters


@dataclass
class Found:
    """What the runs of an algorithm showed.

    Attributes
    ----------
    parameters
        Of the kernel.
    makespans
        Seconds of each call, from the client and back, its output included.
    seconds
        Of the rounds of each.
    wrong
        Vertices whose value is not that of the reference; None where there is no reference.
    """

    parameters: dict[str, Any]
    makespans: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    wrong: int | None = None


def algorithms(setting: Setting, options: Options) -> list[str]:
    """The algorithms to run.

    Raises
    ------
    InputError
        The .properties file names none that there are here.
    """
    names = options.algorithms or setting.algorithms or list(ALGORITHMS)
    found = [name for name in dict.fromkeys(names) if name in ALGORITHMS]
    if not found:
        raise InputError(
            f"{setting.path}: algorithms = {', '.join(names)}: must have one of {', '.join(ALGORITHMS)}"
        )
    return found


def run(
    graph: Graph, setting: Setting, options: Options, client: Client
) -> Iterator[tuple[str, Found]]:
    """Run one algorithm after another; yields what its runs so far showed after each.

    Raises
    ------
    InputError
        There are no weights for an algorithm that needs them, or a parameter is wrong.
    RunError
        An output is not valid.
    """
    assert graph.labels is not None
    vertices = graph.labels.array
    for name in algorithms(setting, options):
        if ALGORITHMS[name].weighted and not graph.weighted:
            raise InputError(f"{setting.edges}: has no weights, which {name} needs")
        found = Found(parameters(name, setting, options, graph.labels[0]))
        kernel = ALGORITHMS[name].kernel
        how: dict[str, Any] = {"style": "clocked", "client": client, **found.parameters}
        if issubclass(KERNELS[kernel], Weighted):
            how["weighted"] = ALGORITHMS[name].weighted
        dgsuite.run(kernel, graph, **how)  # workers have imported what they need
        for _ in range(options.repetitions):
            begin = time.perf_counter()
            with gathered():
                ds = dgsuite.run(kernel, graph, **how)
            found.makespans.append(time.perf_counter() - begin)
            found.seconds.append(float(ds.attrs["seconds"]))
            if len(found.seconds) == options.repetitions:
                _finish(name, graph, vertices, ds, found, options)
            yield name, found


def _finish(
    name: str, graph: Graph, vertices: NDArray, ds: xr.Dataset, found: Found, options: Options
) -> None:
    """Check the last output, and write it."""
    if options.validate_outputs:
        running.check(ALGORITHMS[name].kernel, graph, ds, f"the output of {name}")
    output = values(name, ds)
    file = f"{options.graph}-{name.upper()}"
    reference = os.path.join(options.folder, file)
    if os.path.exists(reference):
        found.wrong = int(np.count_nonzero(wrong(name, vertices, output, reference)))
    if options.output is not None:
        files.write_output(os.path.join(options.output, file), vertices, output)


def values(name: str, ds: xr.Dataset) -> NDArray:
    """An algorithm's output as the benchmark has it, one value a vertex."""
    found: NDArray = ds[ALGORITHMS[name].output].values
    return np.where(found < 0, UNREACHED, found.astype(np.int64)) if name == "bfs" else found


def wrong(name: str, vertices: NDArray, found: NDArray, path: str) -> NDArray[np.bool_]:
    """Which values differ from those of a reference.

    Raises
    ------
    InputError
        The reference has other vertices, or cannot be read.
    """
    rule = ALGORITHMS[name].rule
    named, right = files.read_output(path, rule == "close")
    if not np.array_equal(named, vertices.astype(np.uint64)):
        raise InputError(f"{path}: has other vertices than the graph")
    if rule == "close":
        return far(found, right)
    right = right.astype(found.dtype) if found.dtype == np.int64 else right
    return other_parts(found, right) if rule == "parts" else found != right


def far(found: NDArray, right: NDArray) -> NDArray[np.bool_]:
    """Where real values differ by more than `TOLERANCE`, or one alone is infinite."""
    with np.errstate(invalid="ignore"):  # infinity minus infinity
        near = np.abs(found - right) <= TOLERANCE * np.abs(right)
    return ~np.where(np.isfinite(right), near, found == right)


def other_parts(found: NDArray, right: NDArray) -> NDArray[np.bool_]:
    """Which vertices are not with those of their part: a value of one side must mean one of the other."""
    _, ours, mine = np.unique(found, return_index=True, return_inverse=True)
    _, theirs, their = np.unique(right, return_index=True, return_inverse=True)
    return (right != right[ours][mine]) | (found != found[theirs][their])
