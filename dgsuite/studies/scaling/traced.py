"""What-if from a trace: the traffic of a run that was made, on the clusters that it had."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dgsuite.core import traces


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
