"""The results in a folder."""

from __future__ import annotations

import sys
from pathlib import Path

import xarray as xr

from dgsuite.base.errors import InputError
from dgsuite.core.results.dataset import open_dataset


def results_in(folder: Path) -> dict[str, xr.Dataset]:
    """The results in a folder, by file name; files that cannot be read are named on stderr, and left out.

    Raises
    ------
    InputError
        None of the files can be read.
    """
    found, problems = {}, []
    for path in sorted(folder.glob("*.nc")):
        try:
            found[path.name] = open_dataset(path)
        except InputError as error:
            problems.append(error)
    if problems and not found:
        raise problems[0]
    for problem in problems:
        print(f"left out: {problem}", file=sys.stderr)
    return found
