"""Replay of a traced run on simulated places: each cluster is a core."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING

import xarray as xr

from dgsuite.base import tables
from dgsuite.base.errors import InputError
from dgsuite.core import traces
from dgsuite.studies.scc.ledger import Transport
from dgsuite.studies.scc.simulate import Simulation

if TYPE_CHECKING:
    from rich.table import Table


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


def table(path: str, protocols: list[str]) -> Table:
    """A trace's file replayed on transports, measured here or the chip's, as a table in text."""
    from dgsuite.studies.scc import chip, ledger
    from dgsuite.studies.transports import carriers

    trace = traces.read(path)
    on_chip = {p: chip.transport(p) for p in protocols if p in chip.SCHEMES}
    for name, core in on_chip.items():
        if why := core.why_not(trace.sizes["cluster"], 0):
            raise InputError(f"{name}: {why}")
    for protocol in protocols:
        if protocol not in on_chip:
            carriers.check(protocol)
    title = f"{trace.attrs['kernel']} on {trace.sizes['cluster']} places, SIMULATED"
    heads = ("transport", "message", "per MB", "elapsed", "busiest place")
    rows = []
    with ExitStack() as stack:
        pairs = {
            p: stack.enter_context(carriers.workers(p, 2)) for p in protocols if p not in on_chip
        }
        measured = {t.name: t for t in ledger.transports(pairs, repeats=1)}
    for one in (measured.get(p) or on_chip[p] for p in protocols):
        found = replay(trace, one)
        rows.append(
            (
                one.name,
                f"{one.message * 1e6:.3g} us",
                f"{one.byte * 1e9:.2f} ms",
                f"{found.elapsed:.4g} s",
                f"{found.busy.max():.4g} s",
            )
        )
    return tables.table(heads, rows, title=title)
