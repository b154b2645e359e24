"""Completion times of measured runs, as the models take them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from partition.errors import InputError


def completion(dataset: xr.Dataset, oversubscribed: bool = False) -> float:
    """Completion time of a run, seconds.

    Parameters
    ----------
    oversubscribed
        Whether more workers ran than there are processors. Then they did not compute side by side,
        and the time is put together: for each round the most processor time of a cluster, and the least
        time that one spent between phases, which is that of the last to arrive.
    """
    if not oversubscribed:
        return float(dataset.attrs["seconds"])
    each = dataset.cpu_seconds.max("cluster") + dataset.exchange_seconds.min("cluster")
    return float(each.sum())


def measured(results: Sequence[xr.Dataset], processors: int | None = None) -> xr.Dataset:
    """Runs of one kernel as ``seconds`` over ``p`` (workers), ``bandwidth`` (per cent) and ``repeat``.

    Parameters
    ----------
    results
        Datasets of runs, with the attributes that an experiment gives them.
    processors
        Of the machine; by default this one's. Runs on more workers are put together from processor time.

    Raises
    ------
    InputError
        Runs of different kernels, or a combination that is missing.
    """
    import os

    kernels = sorted({str(ds.attrs["kernel"]) for ds in results})
    if len(kernels) != 1:
        raise InputError(f"the runs must be of one kernel, got {', '.join(kernels) or 'none'}")
    processors = processors or os.cpu_count() or 1
    values: dict[tuple[int, float, int], float] = {}
    for ds in results:
        workers = int(ds.attrs["workers"])
        key = (workers, float(ds.attrs.get("bandwidth", 100)), int(ds.attrs.get("repeat", 0)))
        values[key] = completion(ds, workers > processors)
    ps, bandwidths, repeats = (sorted(set(axis)) for axis in zip(*values, strict=True))
    seconds = np.full((len(ps), len(bandwidths), len(repeats)), np.nan)
    for (p, bandwidth, repeat), value in values.items():
        seconds[ps.index(p), bandwidths.index(bandwidth), repeats.index(repeat)] = value
    if np.isnan(seconds).any():
        i, j, k = np.argwhere(np.isnan(seconds))[0]
        raise InputError(
            f"the run on {ps[i]} workers at {bandwidths[j]:g} % of bandwidth, repeat {repeats[k]}, is missing"
        )
    found = xr.Dataset(
        {"seconds": (("p", "bandwidth", "repeat"), seconds, {"units": "s"})},
        {"p": ps, "bandwidth": bandwidths, "repeat": repeats},
        {"kernel": kernels[0], "processors": processors},
    )
    found["seconds"].attrs["long_name"] = "completion time"
    found["p"].attrs["long_name"] = "workers"
    found["bandwidth"].attrs = {"long_name": "bandwidth", "units": "percent"}
    return found
