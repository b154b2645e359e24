"""What-if from a trace: the traffic of a run that was made, on the clusters that it had."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dgsuite.base import tables
from dgsuite.base.errors import InputError
from dgsuite.core import traces
from dgsuite.studies.scaling.whatif import what_if

if TYPE_CHECKING:
    from rich.table import Table


def from_trace(trace: xr.Dataset | str | os.PathLike[str]) -> xr.Dataset:
    """The traffic of a traced run, in the form that `what_if` takes.

    Parameters
    ----------
    trace
        Of `dgsuite.run(..., trace=...)`: the file, or what `dgsuite.core.traces.read` gives.

    Returns
    -------
    xarray.Dataset
        As `dgsuite.studies.scaling.trace` gives, for one number of clusters: that of the run. Bytes are the
        payload of all messages of the algorithm. The engine sends fewer where it combines messages or
        shares broadcast values, which `dgsuite.studies.scaling.trace` counts. ``share`` is the measured one
        of the cluster that computed longest.

    Raises
    ------
    InputError
        Not a trace.

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite.studies.scaling import from_trace
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3], clusters=2)
    >>> ds = dgsuite.run("bf", graph, trace="bf.nc")
    >>> from_trace("bf.nc").total_bytes.values
    array([[0, 4, 4, 0]])
    """
    if not isinstance(trace, xr.Dataset):
        trace = traces.read(trace)
    p, phases = int(trace.sizes["cluster"]), int(trace.sizes["phase"])
    sent, got, partners = np.zeros((3, phases, p), np.int64)
    for k, (source, destination, nbytes) in enumerate(traces.between(trace)):
        np.add.at(sent[k], source, nbytes)
        np.add.at(got[k], destination, nbytes)
        np.add.at(partners[k], source, 1)
    compute = trace.compute_seconds.values
    total = compute.sum(axis=1)
    share = np.divide(compute.max(axis=1), total, out=np.full(phases, 1 / p), where=total > 0)

    def busiest(values: NDArray, long_name: str, units: str) -> Any:
        return ("clusters", "step"), values[None], {"long_name": long_name, "units": units}

    return xr.Dataset(
        {
            "out_bytes": busiest(sent.max(axis=1), "bytes sent by the busiest cluster", "B"),
            "in_bytes": busiest(got.max(axis=1), "bytes received by the busiest cluster", "B"),
            "partners": busiest(
                partners.max(axis=1), "clusters that the busiest cluster sends to", "1"
            ),
            "total_bytes": busiest(sent.sum(axis=1), "bytes between clusters", "B"),
            "share": busiest(share, "part of the work that the busiest cluster has", "1"),
            "compute_seconds": (
                "step",
                total,
                {"long_name": "time computing, all clusters", "units": "s"},
            ),
        },
        {
            "clusters": [p],
            "step": np.arange(phases),
            "round": ("step", trace["round"].values),
            "phase": ("step", trace["name"].values),
        },
        {name: trace.attrs[name] for name in ("kernel", "n", "m") if name in trace.attrs},
    )


def table(path: str, bandwidth: str, latency: str) -> Table:
    """What-if of a trace's file, as a table for people.

    Parameters
    ----------
    bandwidth, latency
        Lists with units, such as "1GB,100MB" per second and "10us,1ms".
    """
    rates = _quantities(bandwidth, "bandwidth")
    delays = _quantities(latency, "latency")
    traffic = from_trace(path)
    found = what_if(traffic, None, [*rates.values()], [*delays.values()])
    title = f"{traffic.attrs.get('kernel', path)} on {int(traffic.clusters[0])} clusters, what if"
    heads = ("bandwidth", "latency", "seconds", "computing", "busiest link", "messages")
    rows: list[tuple[str, ...]] = []
    for i, rate in enumerate(rates):
        for j, delay in enumerate(delays):
            one = found.isel(clusters=0, bandwidth=i, latency=j)
            names = ("seconds", "compute", "transfer", "barrier")
            rows.append((rate, delay, *(f"{float(one[name]):.4g}" for name in names)))
    return tables.table(heads, rows, left=(), title=title)


def _quantities(text: str, what: str) -> dict[str, float]:
    """Numbers of a list with units, by how they are written."""
    from dask.utils import parse_bytes, parse_timedelta

    parse = parse_bytes if what == "bandwidth" else parse_timedelta
    try:
        return {part.strip(): float(parse(part.strip())) for part in text.split(",")}
    except (ValueError, KeyError, TypeError):
        hint = "1GB,100MB" if what == "bandwidth" else "10us,1ms"
        raise InputError(
            f"--{what} {text}: not a list of values with units, such as {hint}"
        ) from None
