"""Style `finish_async`: tasks for each phase, joined and created anew.

A phase on a worker is a task: it delivers what the other workers sent, computes, and packs what its clusters
send. Dask moves the packed bundles between workers. State, and messages within a worker, stay there. Phases
are sent to the scheduler as one graph, up to where the program asks for votes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import Any

from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
from distributed import Client, Future
from numpy.typing import NDArray

from dgsuite.core.engine.checkpoint import AGAIN, EXCHANGES, Pace
from dgsuite.core.engine.checkpoint_files import Checkpoints
from dgsuite.core.engine.log import Log, merge
from dgsuite.core.engine.program import Step, reduce_votes, steps
from dgsuite.core.engine.progress import Progress, Tell
from dgsuite.core.engine.run_spec import PLAIN, RunSpec
from dgsuite.core.workers import part
from dgsuite.core.workers import placement as tasks
from dgsuite.core.workers import plugin as worker
from dgsuite.core.workers.outputs import carried, collect
from dgsuite.kernels.bsp import Kernel, Vote
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.graph.graph import Graph

EDGES = 1 << 14
"""Dependencies of one graph, at most: the scheduler takes some ten microseconds each."""

HOLD = 16
"""Joins between releases of used bundles: the client sends every 10 ms, and a release would make the
next graph wait that long."""


class Driver:
    """Drives a run from the client: collects phases, sends them as graphs, asks for votes."""

    def __init__(
        self,
        kernel: Kernel,
        watch: Watch,
        places: Sequence[str],
        bounds: NDArray,
        on_round: Tell | None,
        plan: Checkpoints | None = None,
    ) -> None:
        self.run_id = watch.key_part
        self.kernel = kernel
        self.watch = watch
        self.client = watch.client
        self.on_round = on_round
        self.places = places
        self.bounds = bounds.tolist()
        self.others = len(places) - 1
        self.edges = len(places) ** 2
        """Dependencies of a phase."""
        self.collected: list[Step] = []
        self.turn = 0
        """Of the last phase."""
        self.sent = 0
        self.plan = plan
        self.pace = None if plan is None else Pace(plan)
        self.most = EDGES if self.pace is None else self.pace.few
        """Phases of one graph, at most."""
        self.kept: set[int] = set()
        """Phases after which there is a checkpoint."""
        self.futures: list[Future] = []
        self.used: list[list[Future]] = []

    def each(self, function: Callable[..., Any], arguments: Sequence[tuple]) -> list[Future]:
        """One task a worker."""
        return [
            self.client.submit(
                function,
                self.run_id,
                *arguments[w],
                key=f"{self.kernel.name}-{function.__name__}-{self.run_id}-{w}",
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
        if self.pace is not None and step is not AGAIN and self.pace.due(step):
            self.kept.add(self.sent + len(self.collected))
            self.pace.restart(step.round + 1)
        self.turn = step.turn
        self.collected.append(step)
        if len(self.collected) * self.edges > EDGES or len(self.collected) == self.most:
            self.flush()

    def flush(self) -> None:
        """Send what was collected as one graph and join it."""
        if not self.collected:
            return
        bundles: list[Any] = self.futures
        first = self.sent
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
        begin = perf_counter()
        self.join(self.futures)
        if self.pace is not None:
            self.most = self.pace.phases(perf_counter() - begin, number + 1 - first)
        if self.on_round is not None:
            self.on_round(Progress(step.round + step.last))

    def key(self, does: str, number: int, i: int) -> str:
        """The key of a task."""
        return f"{self.kernel.name}-{does}-{self.run_id}-{number}-{i}"

    def lay(
        self, graph: dict[str, tuple], w: int, number: int, step: Step, bundles: Sequence[Any]
    ) -> str:
        """Add a phase on worker number `w` to its graph.

        Parameters
        ----------
        bundles
            What arrives at it: keys, or futures.

        Returns
        -------
        The key of what this worker packs.
        """
        again = step is AGAIN
        packed = self.key("again" if again else step.phase, number, w)
        task = (part.again, self.run_id) if again else (part.phase, self.run_id, step)
        graph[packed] = (*task, number, self.others, bundles)
        if number not in self.kept:
            return packed
        kept = self.key("keep", number, w)
        graph[kept] = (part.keep, self.run_id, number, packed)
        return kept

    def reply(self, over: Sequence[Vote]) -> Callable[[], Vote]:
        """What fetches the votes of the last turn; the workers know those of all its phases."""
        return partial(self.votes, self.turn)

    def votes(self, turn: int) -> Vote:
        """The votes of a turn, reduced over all workers."""
        self.flush()
        # not by Client.run, which leaves a log record on every worker
        message = {"op": "dgsuite_votes", "run": self.run_id, "turn": turn}
        ask = partial(self.client.scheduler.broadcast, msg=message, workers=list(self.places))
        found: dict[str, Vote] = self.watch.call(ask)
        return reduce_votes([*found.values()])


def run(
    kernel: Kernel,
    graph: Graph,
    client: Client,
    workers: Mapping[str, Mapping[str, Any]],
    spec: RunSpec = PLAIN,
    tell: Tell | None = None,
) -> tuple[dict[str, Any], Log]:
    """Run a kernel on workers of a client, given their states, from its begin or from a checkpoint on."""
    plan = spec.checkpoints
    worker.install(client)
    places, bounds = tasks.deal(graph, [*workers])
    epochs = {place: workers[place]["epoch"] for place in places}
    watch = Watch(client, tasks.of(kernel), places, key_part=tasks.new_run(), epochs=epochs)
    groups = tasks.place(graph, watch, places, bounds)
    driver = Driver(kernel, watch, places, bounds, tell, plan)
    past = [] if plan is None else plan.past().votes
    opened = driver.each(
        part.open_part,
        [(kernel, group, bounds, [*epochs.values()], me, spec) for me, group in enumerate(groups)],
    )
    try:
        driver.join(opened)
        for step in [AGAIN] * EXCHANGES if past else []:
            driver.add(step)
        for step in steps(kernel, graph.n, driver.reply, spec.max_rounds, spec.faults, past):
            driver.add(step)
        driver.flush()
        closing = driver.each(part.close_part, [(carried(graph, len(places)),)] * len(places))
        (found,) = collect([kernel], graph, driver.bounds, closing, watch, merge)
    finally:
        tasks.give_up(client, [*opened, *driver.futures])
    return found
