"""The form of a trace in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.engine.log import Log

RECORD = ("at", "source", "destination", "messages", "bytes")
"""Variables of a record."""

TEXTS = {
    "round": ("round of the phase, or depth of its tasks", "1"),
    "name": ("name of the phase", "1"),
    "compute_seconds": ("time computing", "s"),
    "exchange_seconds": ("time between phases: packing, transfer, waiting, delivery", "s"),
    "at": ("number of the phase", "1"),
    "source": ("cluster that sends", "1"),
    "destination": ("cluster that receives", "1"),
    "messages": ("messages", "1"),
    "bytes": ("payload of the messages", "byte"),
}


def of_run(dataset: xr.Dataset, log: Log) -> xr.Dataset:
    """The trace of a traced run, from its dataset and its log."""
    names = np.array(log.names, object)
    attrs = {**dataset.attrs, "title": f"trace of {dataset.attrs['title']}"}
    sent = log.table("traffic")
    records = [sent[name] for name in ("phase", *RECORD[1:])]
    return made(
        log["round"], names[log["phase"]], (log["compute"], log["exchange"]), records, attrs
    )


def made(
    rounds: NDArray,
    names: NDArray,
    seconds: tuple[NDArray, NDArray],
    records: Sequence[NDArray],
    attrs: Mapping[str, Any],
) -> xr.Dataset:
    """A trace of its parts.

    Parameters
    ----------
    rounds, names
        Of each phase.
    seconds
        Times computing and between phases, each of shape (phases, clusters).
    records
        Columns of the records, in the order of `RECORD`; by phase, source and destination.
    """
    phase = {"round": rounds, "name": names}
    times = dict(zip(("compute_seconds", "exchange_seconds"), seconds, strict=True))
    columns = dict(zip(RECORD, records, strict=True))

    def described(dims: Any, name: str, values: NDArray) -> Any:
        long_name, units = TEXTS[name]
        return dims, np.ascontiguousarray(values), {"long_name": long_name, "units": units}

    return xr.Dataset(
        {
            **{name: described("phase", name, values) for name, values in phase.items()},
            **{n: described(("phase", "cluster"), n, values) for n, values in times.items()},
            **{name: described("record", name, values) for name, values in columns.items()},
        },
        attrs=dict(attrs),
    )


def check(trace: xr.Dataset) -> None:
    """See that a dataset is a trace.

    Raises
    ------
    InputError
        It is none.
    """
    if missing := sorted(TEXTS.keys() - set(trace.variables)):
        raise InputError(
            f"not a trace of dgsuite: there is no {missing[0]!r}; make one with "
            f"dgsuite.run(..., trace='trace.parquet')"
        )


def matrix(trace: xr.Dataset) -> xr.Dataset:
    """Messages and bytes of each round as matrices, as `dgsuite.run(..., trace=True)` gives them.

    Parameters
    ----------
    trace
        As `read` gives it.

    Returns
    -------
    xarray.Dataset
        ``traffic`` and ``traffic_bytes``, with dims round, cluster (that sends) and cluster_to (that
        receives).

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3], clusters=2)
    >>> ds = dgsuite.run("bf", graph, trace="bf.nc")
    >>> dgsuite.traces.matrix(dgsuite.traces.read("bf.nc")).traffic.sum("round").values
    array([[2, 1],
           [1, 2]])
    """
    check(trace)
    rounds = int(trace["round"].max()) + 1 if trace.sizes["phase"] else 0
    clusters = trace.sizes["cluster"]
    found = np.zeros((2, rounds, clusters, clusters), np.int64)
    at = trace["round"].values[trace["at"].values], trace.source.values, trace.destination.values
    np.add.at(found[0], at, trace.messages.values)
    np.add.at(found[1], at, trace.bytes.values)
    dims = ("round", "cluster", "cluster_to")
    return xr.Dataset({"traffic": (dims, found[0]), "traffic_bytes": (dims, found[1])})


def between(trace: xr.Dataset) -> list[tuple[NDArray, NDArray, NDArray]]:
    """For each phase, what leaves its cluster: source, destination and bytes of payload, one entry for each
    pair of clusters.

    Parameters
    ----------
    trace
        As `read` gives it.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3], clusters=2)
    >>> ds = dgsuite.run("bf", graph, trace="bf.nc")
    >>> for source, destination, nbytes in dgsuite.traces.between(dgsuite.traces.read("bf.nc")):
    ...     print(source, destination, nbytes)
    [] [] []
    [0] [1] [4]
    [1] [0] [4]
    [] [] []
    """
    check(trace)
    apart = trace.source.values != trace.destination.values
    columns = [trace[name].values[apart] for name in ("source", "destination", "bytes")]
    ends = np.searchsorted(trace["at"].values[apart], np.arange(1, trace.sizes["phase"]))
    return [*zip(*(np.split(column, ends) for column in columns), strict=True)]
