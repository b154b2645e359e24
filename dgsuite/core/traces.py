"""Traces of runs: what clusters send each other, phase by phase; written, read, and used by simulators.

A trace is an `xarray.Dataset` with dims

* ``phase``, one for each phase that ran: its ``round`` (in recursive form, depth) and ``name``, and, with
  dim ``cluster``, ``compute_seconds`` and ``exchange_seconds`` (time until the next phase);
* ``record``, one for each pair of clusters with messages in a phase: the number of the phase, ``source``,
  ``destination`` (both may be the same cluster), ``messages``, and ``bytes`` of payload.

Its attributes are those of the run's dataset.
"""

from __future__ import annotations

import os

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dgsuite.base import files, formats, netcdf
from dgsuite.base.errors import InputError
from dgsuite.core.engine.log import Log

__all__ = ["between", "matrix", "read", "write"]

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
"""The variables of a trace: what each is, and its unit."""


def of_run(dataset: xr.Dataset, log: Log) -> xr.Dataset:
    """The trace of a traced run, from its dataset and its log."""
    names, sent = np.array(log.names, object), log.table("traffic")
    values = {
        "round": ("phase", log["round"]),
        "name": ("phase", names[log["phase"]]),
        "compute_seconds": (("phase", "cluster"), log["compute"]),
        "exchange_seconds": (("phase", "cluster"), log["exchange"]),
        "at": ("record", sent["phase"]),
        **{name: ("record", sent[name]) for name in ("source", "destination", "messages", "bytes")},
    }
    described = {
        name: (
            dims,
            np.ascontiguousarray(found),
            dict(zip(("long_name", "units"), TEXTS[name], strict=True)),
        )
        for name, (dims, found) in values.items()
    }
    title = f"trace of {dataset.attrs['title']}"
    return xr.Dataset(described, attrs=dataset.attrs | {"title": title})


def _check(trace: xr.Dataset) -> None:
    """See that a dataset is a trace.

    Raises
    ------
    InputError
        It is none.
    """
    if missing := sorted(TEXTS.keys() - set(trace.variables)):
        raise InputError(
            f"not a trace of dgsuite: there is no {missing[0]!r}; make one with "
            f"dgsuite.run(..., trace='trace.nc')"
        )


def write(trace: xr.Dataset, path: str | os.PathLike[str]) -> None:
    """Write a trace as NetCDF, with its variables: whole, or not at all.

    Parameters
    ----------
    path
        Its name ends in ``.nc``.

    Raises
    ------
    InputError
        Another ending, a file that cannot be written, or a dataset that is no trace.

    Examples
    --------
    Half of the messages:

    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3], clusters=2)
    >>> ds = dgsuite.run("bfs", graph, trace="bfs.nc")
    >>> trace = dgsuite.traces.read("bfs.nc")
    >>> dgsuite.traces.write(trace.assign(messages=trace.messages // 2), "half.nc")
    """
    _check(trace)
    files.check_writable(path, ".nc")
    netcdf.write(trace.assign_attrs({formats.KEY: formats.current("trace")}), path)


def read(path: str | os.PathLike[str]) -> xr.Dataset:
    """Read a trace that `write` wrote.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    InputError
        No such file, not a trace, or one in the form of a later version.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3], clusters=2)
    >>> ds = dgsuite.run("bfs", graph, trace="bfs.nc")
    >>> int(dgsuite.traces.read("bfs.nc")["messages"].sum()), int(ds.messages.sum())
    (6, 6)
    """
    trace, name = netcdf.read(path), os.fspath(path)
    trace.attrs = formats.without("trace", trace.attrs, name)
    try:
        _check(trace)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    return trace


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
    _check(trace)
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
    _check(trace)
    apart = trace.source.values != trace.destination.values
    columns = [trace[name].values[apart] for name in ("source", "destination", "bytes")]
    ends = np.searchsorted(trace["at"].values[apart], np.arange(1, trace.sizes["phase"]))
    return [*zip(*(np.split(column, ends) for column in columns), strict=True)]
