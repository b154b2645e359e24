"""Comparison of outputs with references, by the benchmark's rules."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.suites.graphalytics.files import read_output
from dgsuite.suites.graphalytics.plan import ALGORITHMS, TOLERANCE, UNREACHED


def values(name: str, ds: xr.Dataset) -> NDArray:
    """An algorithm's output as the benchmark has it, one value a vertex."""
    found: NDArray = ds[ALGORITHMS[name].output].values
    if name == "bfs":
        return np.where(found < 0, UNREACHED, found.astype(np.int64))
    return found


def wrong(name: str, vertices: NDArray, found: NDArray, path: str) -> NDArray[np.bool_]:
    """Which values differ from those of a reference.

    Raises
    ------
    InputError
        The reference has other vertices, or cannot be read.
    """
    rule = ALGORITHMS[name].rule
    named, right = read_output(path, rule == "close")
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
