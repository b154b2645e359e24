"""A try of a run: the graph is cut and looked at as the kernel needs it, and an executor runs it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.engine.log import Log
from dgsuite.core.engine.progress import Tell
from dgsuite.core.engine.run_spec import RunSpec
from dgsuite.core.results import dataset
from dgsuite.core.results.provenance import machine_of
from dgsuite.core.running.checkpointing import cut_as
from dgsuite.core.running.estimate import check_fits
from dgsuite.core.running.since import Since
from dgsuite.kernels.bsp import Kernel
from dgsuite.partition.graph.checks import check
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.graph.views import both_ways, incoming

if TYPE_CHECKING:
    from distributed import Client


logger = logging.getLogger("dgsuite")


class Tried(NamedTuple):
    """What came of it.

    Attributes
    ----------
    graph
        In the clusters of the run.
    workers
        How many took part; 0 in this process.
    machine
        What it ran on.
    found
        Outputs and log of each kernel.
    """

    graph: Graph
    workers: int
    machine: dict[str, Any]
    found: list[tuple[dict[str, NDArray], Log]]


def tries(
    kernels: Sequence[Kernel],
    graph: Graph,
    style: str,
    client: Client | None,
    clusters: int | None,
    traffic: bool,
    spec: RunSpec,
    since: Since | None,
    tell: Tell | None,
) -> Callable[[Mapping[str, Mapping[str, Any]]], Tried]:
    """What makes a try of a run, given the state of each worker by address.

    All tries have as many clusters as the first, and go on from the newest checkpoint, if there is one.

    Parameters
    ----------
    clusters
        Number of clusters, if it was chosen.
    traffic
        Whether the dataset will have a matrix of clusters.
    since
        What the run goes on from, if it does.
    tell
        Called with the progress.
    """
    kernel = kernels[0]

    def attempt(states: Mapping[str, Mapping[str, Any]]) -> Tried:
        nonlocal clusters
        workers = [] if client is None else list(states)
        plan, cut = spec.checkpoints, graph
        found = None if plan is None else plan.newest()
        if found is not None:
            cut = cut_as(graph, found.offsets, clusters, client)
            clusters = len(found.offsets) - 1
            logger.info("kernel %r goes on after phase %d", kernel.name, found.phases)
        if clusters is None:
            own = not workers or cut.chosen
            clusters = len(cut.entries) if own else len(workers)
        cut = cut.repartition(clusters, client)
        if plan is not None:
            plan = plan.begun(cut.partition.offsets.tolist(), found)
        seen = as_seen(cut, kernel)
        if since is not None:
            seen = since.seen(seen)
        if traffic and (why := dataset.too_large(1, clusters)):
            raise InputError(f"trace=True: {why}; {dataset.TO_FILE}")
        if workers:
            check_fits(kernel, seen, {place: states[place]["memory_limit"] for place in workers})
        machine = machine_of(client if workers else None, workers)
        sent = replace(spec, checkpoints=plan)
        results = _run(kernels, seen, style, client, states, sent, tell)
        return Tried(cut, min(len(workers), clusters), machine, results)

    return attempt


def as_seen(graph: Graph, kernel: Kernel) -> Graph:
    """A graph as a kernel looks at it, once it is what the kernel needs."""
    seen = graph
    if graph.directed and kernel.both_ways:
        seen = both_ways(graph)
    elif graph.directed and kernel.undirected:
        raise InputError(
            f"kernel {kernel.name!r} needs an undirected graph; graph.to_undirected() makes one"
        )
    elif graph.directed and kernel.pulls:
        seen = incoming(graph)
    for need in kernel.needs:
        try:
            check(seen, need)
        except InputError as error:
            raise InputError(f"kernel {kernel.name!r}: {error}") from None
    return seen


def _run(
    kernels: Sequence[Kernel],
    graph: Graph,
    style: str,
    client: Client | None,
    workers: Mapping[str, Mapping[str, Any]],
    spec: RunSpec,
    tell: Tell | None,
) -> list[tuple[dict[str, NDArray], Log]]:
    """Outputs and log of each kernel, from the executor of the style."""
    if client is None:
        from dgsuite.core.executors import serial

        gathered = graph.gather()
        return [serial.run(k, gathered, spec, tell) for k in kernels]
    from dgsuite.core.executors import clocked, finish_async

    how = graph, client, workers, spec, tell
    if kernels[0].form == "recursive":
        return [clocked.run([kernel], *how, style)[0] for kernel in kernels]
    if style != "finish_async":
        return clocked.run(kernels, *how, style)
    return [finish_async.run(k, *how) for k in kernels]
