"""Tables of one's own figures: number of machines, time and bandwidth, of any program."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.base.extras import NETCDF, check_installed
from dgsuite.studies.scaling.measure import by_point, missing_at

NAMES = {
    "p": ("p", "machines", "workers", "processes", "ranks"),
    "seconds": ("seconds", "time", "t"),
    "bandwidth": ("bandwidth",),
    "n": ("n", "size"),
}
"""What a table has, and the columns that are taken for it, in upper or lower case."""

NEEDED = ("p", "seconds")

FULL = 100.0
"""Bandwidth of a table without that column, in per cent. Where one is larger, all are bytes per second."""


def read(path: str | Path, columns: Mapping[str, str] | None = None) -> xr.Dataset:
    """Runs of any program, from a table.

    Parameters
    ----------
    path
        A CSV file, with any separator, or NetCDF (.nc). Each row is a run; rows of the same p, bandwidth and
        n are repeats.
    columns
        Names of the columns of ``p`` (machines), ``seconds``, ``bandwidth`` and ``n`` (size of the problem),
        where they are others than those of `NAMES`. The latter two are optional. Bandwidth is in per cent;
        where there is more than 100, in bytes per second, of which the most is 100 %.

    Returns
    -------
    xarray.Dataset
        As `dgsuite.studies.scaling.measured` returns it. ``n`` is 1 where the table has none. NaN
        stands for repeats of runs that were repeated less often than others.

    Raises
    ------
    InputError
        The file, column or row, and what would be right.

    Examples
    --------
    >>> from pathlib import Path
    >>> from dgsuite.studies.scaling import read
    >>> _ = Path("own.csv").write_text("machines,time\\n1,8.1\\n2,4.6\\n2,4.4\\n4,2.9\\n")
    >>> runs = read("own.csv")
    >>> runs.seconds.median("repeat").values.ravel()
    array([8.1, 4.5, 2.9])
    """
    path = Path(path)
    frame = _frame(path)
    found = _columns(path, frame, dict(columns or {}))
    values = {name: _numbers(path, frame, column, name) for name, column in found.items()}
    values.setdefault("bandwidth", np.full(len(frame), FULL))
    values.setdefault("n", np.ones(len(frame)))
    attrs: dict[str, object] = {"kernel": path.stem}
    most = values["bandwidth"].max()
    if most > FULL:
        values["bandwidth"] = FULL * values["bandwidth"] / most
        attrs["nominal_bandwidth"] = float(most)
    runs = _over(path, pd.DataFrame(values), attrs)
    counted = found["p"].lower()
    runs["p"].attrs["long_name"] = counted if counted.endswith("s") else "machines"
    return runs if runs.sizes["n"] > 1 else runs.squeeze("n")


def _frame(path: Path) -> pd.DataFrame:
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    if path.suffix == ".nc":
        check_installed(*NETCDF)
    try:
        if path.suffix == ".nc":
            frame = xr.load_dataset(path).to_dataframe().reset_index()
        else:
            frame = pd.read_csv(path, sep=None, engine="python", skipinitialspace=True)
    except (OSError, ValueError, csv.Error) as error:  # pandas' own are ValueErrors
        raise InputError(f"{path}: is no table in CSV or NetCDF: {error}") from None
    if frame.empty:
        raise InputError(f"{path}: has no rows")
    return frame


def _columns(path: Path, frame: pd.DataFrame, given: dict[str, str]) -> dict[str, str]:
    """The column of each name that the table has."""
    there = {str(column).strip().lower(): str(column) for column in frame.columns[::-1]}
    listed = ", ".join(map(str, frame.columns))
    if unknown := given.keys() - NAMES.keys():
        raise InputError(f"column {min(unknown)!r} is unknown; one of {', '.join(NAMES)}")
    for name, column in given.items():
        if column not in frame.columns:
            raise InputError(f"{path}: has no column {column!r} for {name}; it has {listed}")
    found = dict(given)
    for name, known in NAMES.items():
        named = [there[column] for column in known if column in there]
        if name not in found and named:
            found[name] = named[0]
        elif name not in found and name in NEEDED:
            raise InputError(
                f"{path}: no column is named {' or '.join(NAMES[name])}; it has {listed}. Name the "
                f"right one by --column {name}=COLUMN"
            )
    return found


def _numbers(path: Path, frame: pd.DataFrame, column: str, name: str) -> NDArray[np.float64]:
    """A column's numbers, all above 0."""
    values = pd.to_numeric(frame[column], errors="coerce").to_numpy(float)
    whole = name in ("p", "n")
    wrong = ~np.isfinite(values) | (values <= 0)
    if whole:
        wrong |= values != np.floor(values)
    if wrong.any():
        row = int(np.argmax(wrong))
        kind = "whole number" if whole else "number"
        raise InputError(
            f"{path}, row {row + 1}: {column} must be a {kind} above 0, got {frame[column].tolist()[row]!r}"
        )
    return values


def _over(path: Path, rows: pd.DataFrame, attrs: dict[str, object]) -> xr.Dataset:
    """Rows as seconds over n, p, bandwidth and repeat."""
    keys = ["n", "p", "bandwidth"]
    rows = rows.astype({"n": int, "p": int})
    rows["repeat"] = rows.groupby(keys).cumcount()
    found = by_point(rows.set_index([*keys, "repeat"])["seconds"]).assign_attrs(attrs)
    median = found.seconds.median("repeat")
    if (at := missing_at(median.isnull().values)) is not None:
        one = median[dict(zip(keys, at, strict=True))]
        of = f" of n = {int(one.n)}" if found.sizes["n"] > 1 else ""
        raise InputError(
            f"{path}: the row{of} of p = {int(one.p)} at bandwidth {float(one.bandwidth):g} % is missing"
        )
    return found
