"""What kernels take over each transport: two workers each, taking turns."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import ExitStack

import numpy as np
import xarray as xr

import genval
from dgsuite.runner import run
from dgsuite.sweep import local


def measure(
    protocols: Sequence[str], kernels: Sequence[str], nodes: int, repeats: int, degree: int = 16
) -> xr.Dataset:
    """Seconds of the rounds of clocked runs on a random graph of that many nodes.

    Returns
    -------
    xarray.Dataset
        ``kernel_seconds(protocol, kernel, repeat)`` and its medians, ``kernel_median_seconds``.
    """
    seconds = np.full((len(protocols), len(kernels), repeats), np.nan)
    with ExitStack() as stack, warnings.catch_warnings():
        clients = [stack.enter_context(local(2, 1, "0", protocol)) for protocol in protocols]
        graphs = [
            genval.graph("er", nodes, m=nodes * degree // 2, seed=1, clusters=2, client=client)
            for client in clients
        ]
        for k, kernel in enumerate(kernels):
            for client, graph in zip(clients, graphs, strict=True):
                run(kernel, graph, client=client)
            for r in range(repeats):
                for p, (client, graph) in enumerate(zip(clients, graphs, strict=True)):
                    seconds[p, k, r] = run(kernel, graph, client=client).attrs["seconds"]
    dims = ("protocol", "kernel", "repeat")
    return xr.Dataset(
        {
            "kernel_seconds": (dims, seconds, {"units": "s", "long_name": "time of rounds"}),
            "kernel_median_seconds": (
                dims[:2],
                np.median(seconds, axis=-1),
                {"units": "s", "long_name": "median time of rounds"},
            ),
        },
        {"protocol": list(protocols), "kernel": list(kernels)},
    )
