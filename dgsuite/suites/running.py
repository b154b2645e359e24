"""The cluster that a suite runs on, and runs one after another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import xarray as xr
from distributed import Client

import dgsuite
from dgsuite.base.errors import RunError
from dgsuite.genval import validate
from dgsuite.genval.report import Report
from dgsuite.partition.client.settings import gathered
from dgsuite.partition.graph.graph import Graph
from dgsuite.suites.options import Place

HELD = 1 << 25
"""Bytes of outputs that a turn may hold, at 8 bytes a node."""


def cluster(place: Place) -> AbstractContextManager[Client]:
    """A client of the cluster at an address, or of a cluster of our own, which ends with it.

    Raises
    ------
    InputError
        Nothing answers at the address, or there is no such transport.
    """
    from dgsuite.base.memory import keep_no_memory
    from dgsuite.core import transports
    from dgsuite.studies.experiment import clusters

    keep_no_memory()
    if place.scheduler is not None:
        return clusters.connect(place.scheduler)
    protocol = place.protocol or transports.fastest()
    return clusters.local(place.workers, place.threads, "0", protocol)


def turn(graph: Graph, most: int) -> int:
    """How many runs may follow one another before their outputs are let go: `most`, or fewer."""
    return max(1, min(most, HELD // (8 * graph.n)))


def trials(
    kernel: str,
    graph: Graph,
    each: Sequence[Mapping[str, Any]],
    client: Client,
    turn: int,
    **parameters: Any,
) -> Iterator[xr.Dataset]:
    """Run a kernel with each of some parameters, in style "clocked" also where the graph is small.

    Before it measures, it makes a run of the first, so that workers have imported what they need.

    Parameters
    ----------
    turn
        Runs in the same tasks, whose outputs are held together.
    """
    # commands show how far all trials are
    how: dict[str, Any] = {"style": "clocked", "client": client, "progress": False, **parameters}
    dgsuite.run_each(kernel, graph, each[:1], **how)
    for done in range(0, len(each), turn):
        with gathered():
            found = dgsuite.run_each(kernel, graph, each[done : done + turn], **how)
        while found:
            yield found.pop(0)


def check(kernel: str, graph: Graph, outputs: Any, what: str) -> Report:
    """Validate outputs; `what` names them in the error. Returns the report.

    Raises
    ------
    RunError
        They are wrong.
    """
    report = validate(kernel, graph, outputs)
    if not report.ok:
        raise RunError(f"{what} is wrong: {report}")
    return report
