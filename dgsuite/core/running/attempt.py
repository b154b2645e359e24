"""One try of a run: the graph is cut and looked at as the kernel needs it, and an executor runs it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.engine.log import Log
from dgsuite.core.engine.run_settings import RunSettings
from dgsuite.core.results import dataset
from dgsuite.core.results.provenance import machine_of
from dgsuite.core.running.checkpointing import cut
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


@dataclass
class Attempt:
    """What is to be run; each call is a try, with as many clusters as the first.

    Attributes
    ----------
    clusters
        Number of clusters, if it was chosen.
    traffic
        Whether the dataset will have a matrix of clusters.
    settings
        With checkpoints each try goes on from the newest of the one before.
    since
        What the run goes on from, if it does.
    """

    kernels: Sequence[Kernel]
    graph: Graph
    style: str
    client: Client | None
    clusters: int | None
    traffic: bool
    settings: RunSettings
    since: Since | None = None

    def __call__(self, states: Mapping[str, Mapping[str, Any]]) -> Tried:
        """Run on workers, given the state of each by address, or in this process.

        Raises
        ------
        InputError
            A kernel cannot run on the graph.
        RunError
            A kernel failed, or a worker was lost.
        """
        kernel, graph, client = self.kernels[0], self.graph, self.client
        workers = [] if client is None else list(states)
        plan, found = self.settings.checkpoints, None
        if plan is not None:
            found = plan.newest()
        if found is not None:
            graph = cut(graph, found.offsets, self.clusters, client)
            self.clusters = len(found.offsets) - 1
            logger.info("kernel %r goes on after phase %d", kernel.name, found.phases)
        if self.clusters is None:
            own = not workers or graph.chosen
            self.clusters = len(graph.entries) if own else len(workers)
        graph = graph.repartition(self.clusters, client)
        if plan is not None:
            plan = plan.begun(graph.partition.offsets.tolist(), found)
        seen = as_seen(graph, kernel)
        if self.since is not None:
            seen = self.since.seen(seen)
        if self.traffic:
            dataset.check_fits(self.clusters)
        if workers:
            check_fits(
                kernel, seen, {address: states[address]["memory_limit"] for address in workers}
            )
        machine = machine_of(client if workers else None, workers)
        settings = replace(self.settings, checkpoints=plan)
        results = _run(self.kernels, seen, self.style, client, states, settings)
        return Tried(graph, min(len(workers), self.clusters), machine, results)


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
    settings: RunSettings,
) -> list[tuple[dict[str, NDArray], Log]]:
    """Outputs and log of each kernel, from the executor of the style."""
    if kernels[0].form == "recursive":
        from dgsuite.core.executors import recursive

        return [recursive.run(k, graph, client, workers, style, settings) for k in kernels]
    if client is None:
        from dgsuite.core.executors import serial

        gathered = graph.gather()
        return [serial.run(k, gathered, settings) for k in kernels]
    from dgsuite.core.executors import clocked, finish_async

    if style != "finish_async":
        return clocked.run(kernels, graph, client, workers, settings, style=style)
    return [finish_async.run(k, graph, client, workers, settings) for k in kernels]
