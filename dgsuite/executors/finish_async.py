"""Style `finish_async`: a task a cluster and phase, joined and created anew.

A phase on a worker is a task that delivers what the other workers sent, a task for each cluster, and
a task that packs what they send; where there is one cluster, one task does all. Dask moves the
packed bundles between workers. State, and messages within a worker, stay there. Phases are sent to
the scheduler as one graph, up to where the program asks for votes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

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
    """What a worker sends to the others in a phase."""

    number: int
    """Of the phase."""
    epoch: str
    """Which process sends it."""
    parcels: dict[int, MessageBatch]
    """By receiving worker."""


@dataclass
class Hall:
    """What a run keeps on a worker."""

    site: Site
    log: Log
    epochs: Sequence[str]
    """Which process each of the run's workers is."""
    results: list[Any]
    """What each cluster returned from the phase."""
    done: dict[tuple[str, int], int] = field(default_factory=dict)
    """The last phase in which each task has begun: by what it does, and the cluster."""
    spans: list[tuple[float, float]] = field(default_factory=list)
    """When clusters computed in the phase: begin and end of each task."""
    started: float = field(default_factory=perf_counter)
    packed: float = field(default_factory=perf_counter)
    """When the phase before was over."""

    def advance(self, number: int, does: str, k: int = 0) -> None:
        """Refuse a task that is not of the phase after its last one.

        Dask repeats tasks whose results are lost; the state is past them.
        """
        before = self.done.get((does, k), -1)
        if number != before + 1:
            raise PeerLost(
                f"worker {get_worker().address} was asked to repeat phase {number} after phase {before}"
            )
        self.done[does, k] = number

    def votes(self, turn: int) -> Vote:
        """The votes of a turn, reduced over the worker's clusters."""
        return reduce_votes(self.log.votes_of(turn))


def _open(
    run_id: str,
    kernel: Kernel,
    clusters: Sequence[Cluster],
    bounds: NDArray,
    epochs: Sequence[str],
    me: int,
    workload: Workload | None,
    guard: Guard,
) -> None:
    """Task: make the run's site on worker number `me`, which must be the process that the run began with."""
    worker.fence(get_worker(), epochs[me])
    site = Site(kernel, clusters, bounds, me, workload, guard)
    site.warm()
    count = len(clusters)
    hall = Hall(site, Log(count), epochs, [None] * count)
    worker.plugin().keep(worker.task_key(), run_id, hall)


def _hall(run_id: str) -> Hall:
    try:
        hall: Hall = worker.plugin().runs[run_id]
    except KeyError:
        raise PeerLost(
            f"run {run_id} is not on worker {get_worker().address}: it is over, or was lost"
        ) from None
    return hall


def _deliver(run_id: str, number: int, bundles: Sequence[Bundle]) -> None:
    """Task: take in what all workers packed in the phase before."""
    hall = _hall(run_id)
    hall.advance(number, "deliver")
    for bundle in bundles:
        if bundle.number != number - 1 or bundle.epoch not in hall.epochs:
            raise PeerLost(
                f"worker {get_worker().address} got messages of phase {bundle.number} in phase {number}, "
                f"or of a process that is not the run's"
            )
    me = hall.site.me
    hall.site.deliver({w: b.parcels[me] for w, b in enumerate(bundles) if me in b.parcels})


def _phase(run_id: str, number: int, step: Step, k: int, delivered: None) -> None:
    """Task: a phase of the worker's k-th cluster."""
    hall = _hall(run_id)
    hall.advance(number, "phase", k)
    begin = perf_counter()
    hall.results[k] = hall.site.run(step, k)
    hall.spans.append((begin, perf_counter()))


def _pack(run_id: str, number: int, step: Step, phases: Sequence[None]) -> Bundle:
    """Task: pack what the worker's clusters send to the other workers, and record the phase."""
    hall = _hall(run_id)
    hall.advance(number, "pack")
    site = hall.site
    parcels = site.send(step, hall.results)
    hall.results = [None] * len(hall.results)
    # a bundle goes whole to each other worker
    site.tally.wire = sum(p.nbytes for p in parcels.values()) * (len(hall.epochs) - 1)
    before, hall.packed = hall.packed, perf_counter()
    waited = hall.packed - before - covered(hall.spans)
    hall.spans.clear()
    hall.log.add(step, site.tally, site.compute, site.cpu, waited)
    hall.log.seconds = hall.packed - hall.started
    return Bundle(number, hall.epochs[site.me], parcels)


def _whole(run_id: str, number: int, step: Step, bundles: Sequence[Bundle]) -> Bundle:
    """Task: a phase of a worker that has one cluster."""
    _deliver(run_id, number, bundles)
    _phase(run_id, number, step, 0, None)
    return _pack(run_id, number, step, ())


def covered(spans: Iterable[tuple[float, float]]) -> float:
    """Length of the union of some spans."""
    total, until = 0.0, float("-inf")
    for begin, end in sorted(spans):
        total += max(end - max(begin, until), 0.0)
        until = max(until, end)
    return total


def _close(run_id: str) -> Result:
    """Task: this worker's results."""
    hall = _hall(run_id)
    return [(hall.site.outputs(), hall.log)]


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
        self.edges = 2 * self.bounds[-1] + len(places) ** 2
        """Dependencies of a phase, at most."""
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
        if len(self.collected) * self.edges > EDGES:
            self.flush()

    def flush(self) -> None:
        """Send what was collected as one graph and join it."""
        if not self.collected:
            return
        bundles: list[Any] = self.futures
        graphs: list[dict[str, tuple]] = [{} for _ in self.places]
        for number, step in enumerate(self.collected, self.sent):
            bundles = [self.lay(graph, w, number, step, bundles) for w, graph in enumerate(graphs)]
        names = [f"{self.kernel.name}-on-{w}-{self.run_id}-{number}" for w in range(len(graphs))]
        layers = {
            name: MaterializedLayer(
                graph,
                annotations={"workers": [place], "allow_other_workers": False, "retries": 0},
            )
            for name, graph, place in zip(names, graphs, self.places, strict=True)
        }
        whole = HighLevelGraph(layers, {name: set(names) - {name} for name in names})
        ends = [Delayed(key, whole, layer=name) for key, name in zip(bundles, names, strict=True)]
        self.sent += len(self.collected)
        self.collected = []
        self.used.append(self.futures)
        self.futures = self.client.compute(ends, optimize_graph=False)
        if len(self.used) == HOLD:
            self.used.clear()
        self.join(self.futures)
        if self.on_round is not None:
            self.on_round(Progress(step.round + step.last))

    def lay(
        self, graph: dict[str, tuple], w: int, number: int, step: Step, bundles: Sequence[Any]
    ) -> str:
        """Add a phase on worker number `w` to a graph.

        Parameters
        ----------
        bundles
            What all workers packed in the phase before: keys, or futures.

        Returns
        -------
        The key of what this worker packs.
        """

        def key(does: str, i: int) -> str:
            return f"{self.kernel.name}-{does}-{self.run_id}-{number}-{i}"

        phase = self.run_id, number, step
        first, last = self.bounds[w], self.bounds[w + 1]
        if last - first == 1:
            packed = key(step.phase, first)
            graph[packed] = (_whole, *phase, bundles)
            return packed
        delivered = key(f"{step.phase}-deliver", w)
        graph[delivered] = (_deliver, self.run_id, number, bundles)
        each = [key(step.phase, k) for k in range(first, last)]
        for k, one in enumerate(each):
            graph[one] = (_phase, *phase, k, delivered)
        packed = key(f"{step.phase}-pack", w)
        graph[packed] = (_pack, *phase, each)
        return packed

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
        [(kernel, group, bounds, epochs, me, workload, guard) for me, group in enumerate(groups)],
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
