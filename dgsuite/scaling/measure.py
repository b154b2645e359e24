"""Completion times of measured runs, as the models take them."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import xarray as xr

from partition.errors import InputError

SAME = ("style", "form", "counted_as", "n", "m", "kind", "threads", "workload")
"""What all runs have in common, besides the parameters of their kernel."""


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


def check_run(dataset: xr.Dataset) -> None:
    """That a dataset is of a run.

    Raises
    ------
    InputError
        It is not.
    """
    for name in ("kernel", "workers", "seconds"):
        if name not in dataset.attrs:
            raise InputError(
                f"a dataset without the attribute {name!r} is not of a run; make some with dgsuite.run "
                f"or python -m dgsuite.experiment"
            )


def processors_of(results: Sequence[xr.Dataset]) -> int | None:
    """Processors of the machine that measured some runs; None if a run does not say, or they differ."""
    found = {int(ds.attrs.get("processors", 0)) for ds in results}
    return found.pop() or None if len(found) == 1 else None


def measured(results: Sequence[xr.Dataset], processors: int | None = None) -> xr.Dataset:
    """Runs of one kernel as ``seconds`` over ``p`` (workers), ``bandwidth`` (per cent) and ``repeat``.

    Parameters
    ----------
    results
        Datasets of runs, with the attributes that an experiment gives them. They differ in workers,
        bandwidth and repeat alone, and in clusters where these follow the workers.
    processors
        Of the machine that measured; by default what the runs say. Times of runs on more workers are put
        together from processor time. Where the number is not known all times are taken as measured, and
        the attribute ``processors`` is 0.

    Raises
    ------
    InputError
        Datasets that are not of runs, runs that differ in something else, or in nothing, or a
        combination that is missing.
    """
    for ds in results:
        check_run(ds)
    kernels = sorted({str(ds.attrs["kernel"]) for ds in results})
    if len(kernels) != 1:
        raise InputError(f"the runs must be of one kernel, got {', '.join(kernels) or 'none'}")
    processors = processors or processors_of(results) or 0
    values: dict[tuple[int, float, int], float] = {}
    runs: dict[tuple[int, float, int], xr.Dataset] = {}
    for ds in results:
        _check_same(results[0], ds)
        workers = int(ds.attrs["workers"])
        key = (workers, float(ds.attrs.get("bandwidth", 100)), int(ds.attrs.get("repeat", 0)))
        if key in runs:
            _check_same(runs[key], ds, "clusters")
            raise InputError(
                f"there are two runs on {key[0]} workers at {key[1]:g} % of bandwidth, repeat {key[2]}, and "
                f"nothing tells them apart; a run takes no more workers than it has clusters, here "
                f"{ds.attrs.get('clusters')}"
            )
        runs[key] = ds
        values[key] = completion(ds, 0 < processors < workers)
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


def _check_same(one: xr.Dataset, other: xr.Dataset, *more: str) -> None:
    """That two runs have in common what all runs must, and more."""
    a, b = (
        {name: ds.attrs.get(name) for name in (*SAME, *more)}
        | json.loads(ds.attrs.get("parameters", "{}"))
        for ds in (one, other)
    )
    if differ := [name for name in a | b if a.get(name) != b.get(name)]:
        name = differ[0]
        raise InputError(
            f"runs of kernel {one.attrs['kernel']!r} differ in {', '.join(differ)}: {name} is "
            f"{a.get(name)!r} in one and {b.get(name)!r} in another; they may differ in workers, bandwidth "
            f"and repeat alone: sweep over one value of the rest, or select the runs that have it"
        )
