"""The results in a folder."""

from __future__ import annotations

import sys
from pathlib import Path

import xarray as xr

from dgsuite.dataset import open_dataset
from partition.errors import InputError


def results_in(folder: Path) -> dict[str, xr.Dataset]:
    """The results in a folder, by file name; files that cannot be read are named on stderr, and left out.

    Raises
    ------
    InputError
        There is none that can be read.
    """
    found, problems = {}, []
    for path in sorted(folder.glob("*.nc")):
        try:
            found[path.name] = open_dataset(path)
        except InputError as error:
            problems.append(error)
    if not found:
        nothing = InputError(f"{folder}: holds no results (*.nc); dgsuite run makes some")
        raise problems[0] if problems else nothing
    for problem in problems:
        print(f"left out: {problem}", file=sys.stderr)
    return found
