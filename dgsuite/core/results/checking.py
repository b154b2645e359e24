"""What is checked of a dataset before it is used as the result of a run: any program may have made it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np
import xarray as xr

from dgsuite.base.errors import InputError

TEXT = ("title", "kernel", "form", "style", "parameters", "cluster_sizes")
"""Attributes that are text."""

SIZES = ("n", "m", "clusters", "workers")
"""Attributes that are integers from 0."""

SECONDS = ("compute_seconds", "exchange_seconds")
"""Variables that a run has by round, or depth, and cluster."""

COUNTS = ("messages", "bytes", "wire_bytes", "comm")
"""Variables that are numbers."""


def check(ds: xr.Dataset, where: str = "the dataset") -> None:
    """Check the types of what is there.

    Raises
    ------
    InputError
        It names the attribute or variable that has another one.
    """
    for name, value in ds.attrs.items():
        wrong = (
            (name in TEXT and not isinstance(value, str))
            or (name in SIZES and not (isinstance(value, int | np.integer) and value >= 0))
            or (name == "seconds" and not isinstance(value, Real))
            or (name == "cluster_sizes" and not _sizes(value))
        )
        if wrong:
            raise InputError(f"{where}: the attribute {name} cannot be {repr(value)[:80]}")
    for name in (*SECONDS, *COUNTS):
        if name in ds.variables and ds.variables[name].dtype.kind not in "iuf":
            raise InputError(f"{where}: {name} must be numbers, not {ds.variables[name].dtype}")
    for name, variable in ds.variables.items():
        if variable.shape != tuple(ds.sizes[dim] for dim in variable.dims):
            raise InputError(
                f"{where}: {name} has shape {variable.shape}, and the dataset has sizes {dict(ds.sizes)}"
            )
    node = ds.variables.get("node")
    if node is not None and node.dims != ("node",):
        raise InputError(f"{where}: 'node' must have the dimension node, not {node.dims}")


def of_one_run(ds: xr.Dataset) -> xr.Dataset:
    """A dataset, which must be that of one run.

    Raises
    ------
    InputError
        It is not.
    """
    if "kernel" not in ds.attrs or not {"round", "depth"} & {*ds.dims}:
        raise InputError(
            "the dataset is not the result of one run: dgsuite.run returns such datasets"
        )
    check(ds)
    return ds


def _sizes(text: str) -> bool:
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, list) and all(type(size) is int and size >= 0 for size in found)


def check_attributes(ds: xr.Dataset, names: Iterable[str]) -> None:
    """Check that a dataset has some attributes of a run.

    Raises
    ------
    InputError
        It names one that is missing.
    """
    for name in names:
        if name not in ds.attrs:
            raise InputError(
                f"a dataset without the attribute {name!r} is not of a run; make some with dgsuite.run "
                "or dgsuite run"
            )


def check_run(ds: xr.Dataset, index: str) -> None:
    """Check that what a summary of a run shows is there.

    Parameters
    ----------
    index
        "round" or "depth".

    Raises
    ------
    InputError
        It names what is missing, or has other dimensions.
    """
    check_attributes(ds, ("title", "kernel", "style", *SIZES, "seconds"))
    for name in SECONDS:
        if name not in ds.variables or ds.variables[name].dims != (index, "cluster"):
            raise InputError(f"the dataset has no variable {name} by {index} and cluster")
