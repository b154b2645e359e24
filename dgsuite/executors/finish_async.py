"""Style `finish_async`: a task a cluster and phase, joined and created anew.

A task runs its cluster's phase and returns what goes to clusters on other workers, bundled; Dask
moves bundles to the tasks that need them. State, and messages between clusters of one worker, stay
on the worker. Phases are sent to the scheduler as one graph, up to where the program asks for votes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
from distributed import Client, Future, get_worker
from numpy.typing import NDArray

from dgsuite.engine.batches import MessageBatch
from dgsuite.engine.log import Log, merge
from dgsuite.engine.program import UNBOUND, Guard, Step, reduce_votes, steps
from dgsuite.engine.progress import Progress, Tell
from dgsuite.engine.site import Site
from dgsuite.workers import placement as tasks
from dgsuite.workers import plugin as worker
from dgsuite.workers.outputs import Result, collect
from dgsuite.workers.plugin import PeerLost
from dgsuite.workload import Workload
from kernels.base import Kernel, Vote
from partition.client.waiting import Watch
from partition.cluster import Cluster
from partition.graph import Graph

EDGES = 1 << 14
"""Dependencies of one graph, at most: the scheduler takes some ten microseconds each."""

HOLD = 16
"""Joins between releases of used bundles: the client sends every 10 ms, and a release would make the
next graph wait that long."""


class Bundle(NamedTuple):
    """What a cluster sends to other workers in a phase."""

    number: int
    """Of the phase."""
    epoch: str
    """Which process sends it."""
    parcels: dict[int, dict[int, MessageBatch]]
    """By receiving cluster, then sending one."""


@dataclass
class Hall:
    """What a run keeps on a worker."""

    sites: dict[int, Site]
    logs: dict[int, Log]
    epochs: Sequence[str]
    """Which process each of the run's workers is."""
    epoch: str
    """Which of them is this one."""
    done: dict[int, int] = field(default_factory=dict)
    """By cluster, the number of the last phase that has begun."""
    mail: dict[tuple[int, int], dict[int, MessageBatch]] = field(default_factory=dict)
    """MessageBatchs that stay on this worker, by phase and receiving cluster."""
    ended: dict[int, float] = field(default_factory=dict)
    started: float = 0.0

    def votes(self, turn: int) -> Vote:
        """The votes of a turn, reduced over the worker's clusters."""
        return reduce_votes([vote for log in self.logs.values() for vote in log.votes_of(turn)])


def _open(
    run_id: str,
    kernel: Kernel,
    clusters: Sequence[Cluster],
    count: int,
    epochs: Sequence[str],
    epoch: str,
    workload: Workload | None,
    guard: Guard,
) -> None:
    """Task: make the run's sites on this worker, which must be the process that the run began with."""
    worker.fence(get_worker(), epoch)
    bounds = np.arange(count + 1)
    sites = {c.index: Site(kernel, [c], bounds, c.index, workload, guard) for c in clusters}
    for site in sites.values():
        site.warm()
    hall = Hall(sites, {k: Log(1) for k in sites}, epochs, epoch)
    hall.started = perf_counter()
    worker.plugin().keep(worker.task_key(), run_id, hall)


def _hall(run_id: str) -> Hall:
    try:
        hall: Hall = worker.plugin().runs[run_id]
    except KeyError:
        raise PeerLost(
            f"run {run_id} is not on worker {get_worker().address}: it is over, or was lost"
        ) from None
    return hall


def _phase(run_id: str, k: int, number: int, step: Step, bundles: Sequence[Bundle]) -> Bundle:
    """Task: one cluster's phase.

    Parameters
    ----------
    bundles
        What all clusters returned of the phase before.
    """
    hall = _hall(run_id)
    site = hall.sites[k]
    begin = perf_counter()
    before = hall.done.get(k, -1)
    if number != before + 1:  # Dask repeats tasks whose results are lost; the state is past them
        raise PeerLost(
            f"worker {get_worker().address} was asked to repeat phase {number} after phase {before}"
        )
    hall.done[k] = number
    parcels = hall.mail.pop((number - 1, k), {})
    for bundle in bundles:
        if bundle.number != number - 1 or bundle.epoch not in hall.epochs:
            raise PeerLost(
                f"worker {get_worker().address} got messages of phase {bundle.number} in phase {number}, "
                f"or of a process that is not the run's"
            )
        parcels.update(bundle.parcels.get(k, {}))
    site.deliver(dict(sorted(parcels.items())))
    sent = site.step(step)
    leaving: dict[int, dict[int, MessageBatch]] = {}
    for to, parcel in sent.items():
        if to in hall.sites:
            hall.mail.setdefault((number, to), {})[k] = parcel
        else:
            leaving[to] = {k: parcel}
            site.tally.wire += parcel.nbytes * (len(hall.epochs) - 1)
    waited = begin - hall.ended.get(k, hall.started)
    end = perf_counter()
    hall.logs[k].add(step, site.tally, site.compute, site.cpu, waited + end - begin - site.busy)
    hall.logs[k].seconds = end - hall.started
    hall.ended[k] = end
    return Bundle(number, hall.epoch, leaving)


def _close(run_id: str) -> Result:
    """Task: this worker's results."""
    hall = _hall(run_id)
    clusters = sorted(hall.sites)
    found = [hall.sites[k].outputs() for k in clusters]
    outputs = {name: np.concatenate([f[name] for f in found]) for name in found[0]}
    return [(outputs, merge([hall.logs[k] for k in clusters]))]


class Driver:
    """Drives a run from the client: collects phases, sends them as graphs, asks for votes."""

    def __init__(
        self,
        kernel: Kernel,
        watch: Watch,
        places: Sequence[str],
        bounds: NDArray,
        on_round: Tell | None,
    ) -> None:
        self.run_id = watch.key_part
        self.kernel = kernel
        self.watch = watch
        self.client = watch.client
        self.places = places
        self.bounds = bounds.tolist()
        self.on_round = on_round
        self.clusters = self.bounds[-1]
        self.collected: list[Step] = []
        self.sent = 0
        self.futures: list[Future] = []
        self.used: list[list[Future]] = []

    def each(self, function: Callable[..., Any], arguments: Sequence[tuple]) -> list[Future]:
        """One task a worker."""
        return [
            self.client.submit(
                function,
                self.run_id,
                *arguments[w],
                key=f"{self.kernel.name}-{function.__name__.strip('_')}-{self.run_id}-{w}",
                workers=[place],
                allow_other_workers=False,
                retries=0,
            )
            for w, place in enumerate(self.places)
        ]

    def join(self, futures: Sequence[Future]) -> None:
        """Wait for tasks."""
        tasks.finish(futures, self.watch)

    def add(self, step: Step) -> None:
        """Take in a phase; it is sent when enough have come together."""
        self.collected.append(step)
        if len(self.collected) * self.clusters**2 > EDGES:
            self.flush()

    def flush(self) -> None:
        """Send what was collected as one graph and join it."""
        if not self.collected:
            return
        inputs: list[Any] = self.futures
        owners = np.repeat(np.arange(len(self.places)), np.diff(self.bounds)).tolist()
        graphs: list[dict[str, tuple]] = [{} for _ in self.places]
        for number, step in enumerate(self.collected, self.sent):
            stem = f"{self.kernel.name}-{step.phase}-{self.run_id}-{number}"
            keys = [f"{stem}-{k}" for k in range(self.clusters)]
            for k, w in enumerate(owners):
                graphs[w][keys[k]] = (_phase, self.run_id, k, number, step, inputs)
            inputs = keys
        names = [f"{stem}-on-{w}" for w in range(len(self.places))]
        layers = {
            name: MaterializedLayer(
                graph,
                annotations={"workers": [place], "allow_other_workers": False, "retries": 0},
            )
            for name, graph, place in zip(names, graphs, self.places, strict=True)
        }
        whole = HighLevelGraph(layers, {name: set(names) - {name} for name in names})
        ends = [Delayed(keys[k], whole, layer=names[w]) for k, w in enumerate(owners)]
        self.sent += len(self.collected)
        self.collected = []
        self.used.append(self.futures)
        self.futures = self.client.compute(ends, optimize_graph=False)
        if len(self.used) == HOLD:
            self.used.clear()
        self.join(self.futures)
        if self.on_round is not None:
            self.on_round(Progress(step.round + step.last))

    def votes(self, turn: int) -> Vote:
        """The votes of a turn, reduced over all workers."""
        self.flush()
        # not by Client.run, which leaves a log record on every worker
        message = {"op": "dgsuite_votes", "run": self.run_id, "turn": turn}

        def ask() -> dict[str, Vote]:
            found: dict[str, Vote] = self.client.sync(
                self.client.scheduler.broadcast, msg=message, workers=list(self.places)
            )
            return found

        return reduce_votes([*self.watch.call(ask).values()])


def run(
    kernel: Kernel,
    graph: Graph,
    client: Client,
    places: Sequence[str],
    on_round: Tell | None = None,
    workload: Workload | None = None,
    guard: Guard = UNBOUND,
) -> tuple[dict[str, Any], Log]:
    """Run a kernel on the workers of a client."""
    worker.install(client)
    places, bounds = tasks.deal(graph, places)
    watch = Watch(client, tasks.of(kernel), places, key_part=tasks.new_run())
    watch.check_workers()
    groups = tasks.place(graph, watch, places, bounds)
    epochs = [watch.epochs[place] for place in places]
    driver = Driver(kernel, watch, places, bounds, on_round)
    turns = 0

    def reply() -> Callable[[], Vote]:
        nonlocal turns
        turns += 1
        return partial(driver.votes, turns - 1)

    opened = driver.each(
        _open,
        [
            (kernel, group, driver.clusters, epochs, epoch, workload, guard)
            for group, epoch in zip(groups, epochs, strict=True)
        ],
    )
    try:
        driver.join(opened)
        for step in steps(kernel, graph.n, reply, guard):
            driver.add(step)
        driver.flush()
        closing = driver.each(_close, [()] * len(places))
        (found,) = collect([kernel], graph, driver.bounds, closing, watch, merge)
    finally:
        tasks.give_up(client, [*opened, *driver.futures])
    return found
