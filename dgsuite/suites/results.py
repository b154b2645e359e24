"""Datasets of suites: what made them, and their files; and statistics of trials."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr
from distributed import Client

from dgsuite.core.results.dataset import made_by
from dgsuite.core.results.dataset import save as write
from dgsuite.core.results.provenance import machine_of


def save(dataset: xr.Dataset, path: str, client: Client) -> None:
    """Write a dataset with attributes that say which code, versions and machines made it.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    dataset.attrs |= made_by(machine_of(client))
    write(dataset, path)


def statistics(values: Sequence[float]) -> dict[str, float]:
    """Minimum, quartiles, maximum, mean and standard deviation, as Graph500's specification has them."""
    v = np.asarray(values, float)
    names = ("min", "firstquartile", "median", "thirdquartile", "max")
    found = dict(zip(names, np.quantile(v, [0, 0.25, 0.5, 0.75, 1]).tolist(), strict=True))
    found["mean"] = float(v.mean())
    found["stddev"] = float(v.std(ddof=1)) if len(v) > 1 else 0.0
    return found


def harmonic(values: Sequence[float]) -> tuple[float, float]:
    """Harmonic mean, and its standard error (Norris 1940, as Graph500's specification asks)."""
    inverse = 1 / np.asarray(values, float)
    mean = 1 / inverse.mean()
    if len(inverse) < 2:
        return float(mean), 0.0
    return float(mean), float(inverse.std(ddof=1) * mean**2 / np.sqrt(len(inverse) - 1))
