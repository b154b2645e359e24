"""The results in a folder, or that of a file."""

from __future__ import annotations

import sys
from pathlib import Path

import xarray as xr

from dgsuite.base.errors import InputError
from dgsuite.core.results.dataset import open_dataset
from dgsuite.kernels.bsp import COUNTS

UNFIT = (InputError, KeyError, ValueError)
"""Errors that say that a dataset lacks something, or has a value that it cannot have: one of another program
may. Any other error is a mistake of this one.
"""

NUMBERS = (*COUNTS, "wire_bytes", "seconds", "rounds", "valid", "oversubscribed")
"""Variables that have numbers, where a dataset has them."""


def check_numbers(ds: xr.Dataset) -> None:
    """Check that variables have numbers that must.

    Raises
    ------
    InputError
        One has something else.
    """
    for name in NUMBERS:
        if name in ds and ds[name].dtype.kind not in "biuf":
            raise InputError(f"it cannot be shown: {name!r} has {ds[name].dtype}, not numbers")


def results_in(given: Path) -> dict[str, xr.Dataset]:
    """The results in a folder, or that of a file, by file name.

    Files of a folder that cannot be read are named on stderr, and left out.

    Raises
    ------
    InputError
        None of the files can be read.
    """
    found, problems = {}, []
    for path in [given] if given.is_file() else sorted(given.glob("*.nc")):
        try:
            found[path.name] = open_dataset(path)
        except InputError as error:
            problems.append(error)
    if problems and not found:
        raise problems[0]
    for problem in problems:
        print(f"left out: {problem}", file=sys.stderr)
    return found
