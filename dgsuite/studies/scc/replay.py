"""Replay of a traced run on simulated places: each cluster is a core."""

from __future__ import annotations

import os

import xarray as xr

from dgsuite.core import traces
from dgsuite.studies.scc.ledger import Transport
from dgsuite.studies.scc.simulate import Simulation


def replay(
    trace: xr.Dataset | str | os.PathLike[str], transport: Transport, barrier: bool = True
) -> Simulation:
    """Simulate a traced run, with a processor for each cluster.

    In each phase a place computes for as long as its cluster did, and sends each other place that it has
    messages for one with all of their payload.

    Parameters
    ----------
    trace
        Of `dgsuite.run(..., trace=...)`: the file, or what `dgsuite.core.traces.read` gives.
    transport
        What messages cost.
    barrier
        Whether each phase ends in a barrier, along a tree, as rounds do; otherwise a place waits only for
        what it is sent.

    Raises
    ------
    InputError
        Not a trace, or more clusters than `dgsuite.studies.scc.simulate.MAX_PLACES`.
    """
    if not isinstance(trace, xr.Dataset):
        trace = traces.read(trace)
    sent = traces.between(trace)
    simulation = Simulation(int(trace.sizes["cluster"]), transport)
    for seconds, messages in zip(trace.compute_seconds.values, sent, strict=True):
        simulation.compute(seconds)
        simulation.messages(*messages)
        if barrier:
            simulation.reduce(0)
            simulation.broadcast(0)
    return simulation
