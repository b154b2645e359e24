"""Completion times of measured runs, as the models take them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.results.checking import check_attributes

LINK = ("nominal_bandwidth", "processes_per_node")
"""What an experiment says of the throttled link: bytes per second, and the processes that share it."""

NEEDED = ("kernel", "workers", "seconds")
"""Attributes of a run that are looked at."""

SAME = ("style", "form", "counted_as", "kind", "threads", "workload", *LINK, "throttle_means")
"""What all runs have in common, besides the parameters of their kernel."""


def completion(dataset: xr.Dataset, oversubscribed: bool = False) -> float:
    """Completion time of a run, seconds.

    Parameters
    ----------
    oversubscribed
        Whether more workers ran than there are processors. Then they did not compute side by side,
        and the time is put together: for each round the most processor time of a cluster, and the least
        time that one spent between phases, which is that of the last to arrive.

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite.studies.scaling import completion
    >>> ds = dgsuite.run("bfs", dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3]))
    >>> completion(ds) == ds.attrs["seconds"]
    True
    """
    if not oversubscribed:
        return float(dataset.attrs["seconds"])
    each = dataset.cpu_seconds.max("cluster") + dataset.exchange_seconds.min("cluster")
    return float(each.sum())


class Key(NamedTuple):
    """What tells apart the runs of a kernel."""

    n: int
    p: int
    bandwidth: float
    repeat: int

    def __str__(self) -> str:
        return f"{self.p} workers at {self.bandwidth:g} % of bandwidth, repeat {self.repeat}"


def measured(results: Sequence[xr.Dataset], processors: int | None = None) -> xr.Dataset:
    """Runs of one kernel as ``seconds`` over ``p`` (workers), ``bandwidth`` (per cent) and ``repeat``.

    Parameters
    ----------
    results
        Datasets of runs, with the attributes that an experiment gives them. They differ in workers,
        bandwidth, repeat and size alone, and in clusters where these follow the workers.
    processors
        Of the machine that measured; by default what each run says. Times of runs on more workers are put
        together from processor time. Where the number is not known times are taken as measured, and
        the attribute ``processors`` is 0.

    Returns
    -------
    xarray.Dataset
        ``seconds``; ``oversubscribed`` over p, whether times were put together; attributes ``kernel``,
        ``processors``, and where the runs have them ``nominal_bandwidth`` (of a node's link, bytes per
        second) and ``processes_per_node``. The coordinate ``n`` is the number of nodes of the graph. Runs of
        several sizes have it as the first dim; there the times of workers that a size was not run on are
        NaN.

    Raises
    ------
    InputError
        Datasets that are not of runs, runs that differ in something else, or in nothing, or a
        combination that is missing.

    Examples
    --------
    Runs on one and two workers, here made from one run:

    >>> import dgsuite
    >>> from dgsuite.studies.scaling import measured
    >>> ds = dgsuite.run("bfs", dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3]))
    >>> runs = [ds.assign_attrs(workers=p) for p in (1, 2)]
    >>> measured(runs).seconds.dims
    ('p', 'bandwidth', 'repeat')
    """
    for ds in results:
        check_attributes(ds, NEEDED)
    kernels = sorted({str(ds.attrs["kernel"]) for ds in results})
    if len(kernels) != 1:
        raise InputError(f"the runs must be of one kernel, got {', '.join(kernels) or 'none'}")
    values: dict[Key, float] = {}
    runs: dict[Key, xr.Dataset] = {}
    of_size: dict[int, xr.Dataset] = {}
    oversubscribed = set()
    for ds in results:
        attrs = ds.attrs
        workers = int(attrs["workers"])
        if workers < 1:
            raise InputError(
                f"a run of kernel {attrs['kernel']!r} in style {attrs.get('style')!r} has no workers to "
                "count; run it in style 'clocked' or 'finish_async'"
            )
        bandwidth, repeat = float(attrs.get("bandwidth", 100)), int(attrs.get("repeat", 0))
        key = Key(int(attrs["n"]), workers, bandwidth, repeat)
        _check_same(results[0], ds)
        _check_same(of_size.setdefault(key.n, ds), ds, "m")
        if key in runs:
            _check_same(runs[key], ds, "clusters")
            raise InputError(
                f"there are two runs on {key}, and nothing tells them apart; a run takes no more workers "
                f"than it has clusters, here {attrs.get('clusters')}"
            )
        runs[key] = ds
        shared = 0 < (processors or int(attrs.get("processors", 0))) < workers
        if shared:
            oversubscribed.add(workers)
        values[key] = completion(ds, shared)
    found = by_point(pd.Series(values).rename_axis([*Key._fields]))
    several = found.sizes["n"] > 1
    if (at := missing_at(np.isnan(found.seconds.values))) is not None:
        missing = Key(*(found[name].values[i] for name, i in zip(Key._fields, at, strict=True)))
        of = f" of n = {missing.n}" if several else ""
        raise InputError(f"the run{of} on {missing} is missing")
    text = "more workers than processors: times are put together from processor time and exchanges"
    found["oversubscribed"] = found.p.isin([*oversubscribed])
    found["oversubscribed"].attrs["long_name"] = text
    found["n"].attrs["long_name"], found["p"].attrs["long_name"] = "nodes of the graph", "workers"
    found.attrs = {
        "kernel": kernels[0],
        "processors": processors or min(int(ds.attrs.get("processors", 0)) for ds in results),
        **{name: results[0].attrs[name] for name in LINK if name in results[0].attrs},
    }
    return found if several else found.squeeze("n")


def by_point(seconds: pd.Series) -> xr.Dataset:
    """Times by n, p, bandwidth and repeat, as `measured` returns them; NaN where there is none."""
    found = seconds.to_xarray().to_dataset(name="seconds")
    found["seconds"].attrs = {"long_name": "completion time", "units": "s"}
    found["bandwidth"].attrs = {"long_name": "bandwidth", "units": "percent"}
    return found.assign(oversubscribed=("p", np.zeros(found.sizes["p"], bool)))


def missing_at(absent: NDArray[np.bool_]) -> NDArray[np.int64] | None:
    """Indices of the first combination of n, p, bandwidth and so on that is missing, if any is.

    Where there are several n, not each of them needs all p.
    """
    if len(absent) > 1:
        absent = absent & ~absent.all(axis=tuple(range(2, absent.ndim)), keepdims=True)
    return np.argwhere(absent)[0] if absent.any() else None


def _check_same(one: xr.Dataset, other: xr.Dataset, *more: str) -> None:
    """Check that two runs agree in the attributes that all runs must share, and in some more."""
    a, b = (
        {name: ds.attrs.get(name) for name in (*SAME, *more)}
        | json.loads(ds.attrs.get("parameters", "{}"))
        for ds in (one, other)
    )
    if differ := [name for name in a | b if a.get(name) != b.get(name)]:
        name = differ[0]
        raise InputError(
            f"runs of kernel {one.attrs['kernel']!r} differ in {', '.join(differ)}: {name} is "
            f"{a.get(name)!r} in one and {b.get(name)!r} in another; they may differ in workers, bandwidth, "
            f"size and repeat alone: sweep over one value of the rest, or select the runs that have it"
        )
