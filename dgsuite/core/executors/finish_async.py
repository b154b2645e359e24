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

from distributed import Client, Future

from dgsuite.core.engine.checkpoint import AGAIN, EXCHANGES
from dgsuite.core.engine.checkpoint_files import Checkpoints
from dgsuite.core.engine.checkpointed import Pace
from dgsuite.core.engine.log import Log, merge
from dgsuite.core.engine.program import Step, reduce_votes, steps
from dgsuite.core.engine.progress import Progress, Tell
from dgsuite.core.engine.run_spec import PLAIN, RunSpec
from dgsuite.core.workers import part
from dgsuite.core.workers import placement as tasks
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
        on_round: Tell | None,
        plan: Checkpoints | None = None,
    ) -> None:
        self.run_id = watch.key_part
        self.kernel = kernel
        self.watch = watch
        self.client = watch.client
        self.on_round = on_round
        self.places = [*watch.workers]
        self.others = len(self.places) - 1
        self.edges = len(self.places) ** 2
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

    def each(self, does: str, calls: Sequence[tuple[Callable[[Any], Any], Any]]) -> list[Future]:
        """One task a worker: a function, and its argument."""
        keys = [f"{self.kernel.name}-{does}-{self.run_id}-{w}" for w in range(len(self.places))]
        whole = zip(keys, self.places, calls, strict=True)
        return tasks.submit(self.client, {key: (place, *call) for key, place, call in whole})

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
        graph: dict[str, tuple] = {}
        places: dict[str, str] = {}
        for number, step in enumerate(self.collected, first):
            made = [self.lay(w, number, step, bundles) for w in range(len(self.places))]
            for place, each in zip(self.places, made, strict=True):
                graph |= each
                places |= dict.fromkeys(each, place)
            bundles = [[*each][-1] for each in made]
        self.sent += len(self.collected)
        self.collected = []
        self.used.append(self.futures)
        self.futures = tasks.send(self.client, graph, places, bundles)
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

    def lay(self, w: int, number: int, step: Step, bundles: Sequence[Any]) -> dict[str, tuple]:
        """The tasks of a phase on worker number `w`; the last one returns what the worker packs.

        Parameters
        ----------
        bundles
            What arrives at it: keys, or futures.
        """
        again = step is AGAIN
        packed = self.key("again" if again else step.phase, number, w)
        task = (part.again, self.run_id) if again else (part.phase, self.run_id, step)
        graph: dict[str, tuple] = {packed: (*task, number, self.others, bundles)}
        if number in self.kept:
            graph[self.key("keep", number, w)] = (part.keep, self.run_id, number, packed)
        return graph

    def reply(self, over: Sequence[Vote]) -> Callable[[], Vote]:
        """What fetches the votes of the last turn; the workers know those of all its phases."""
        return partial(self.votes, self.turn)

    def votes(self, turn: int) -> Vote:
        """The votes of a turn, reduced over all workers."""
        self.flush()
        # not by Client.run, which leaves a log record on every worker
        message = {"op": "dgsuite_votes", "run": self.run_id, "turn": turn}
        ask = partial(self.client.scheduler.broadcast, msg=message, workers=self.places)
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
    watch, bounds, groups = tasks.begun(kernel, graph, client, workers)
    driver = Driver(kernel, watch, tell, plan)
    past = [] if plan is None else plan.past().votes
    how = watch.key_part, kernel, bounds, [*watch.epochs.values()]
    opened = driver.each(
        "open_part",
        [(partial(part.open_part, *how, w, spec), group) for w, group in enumerate(groups)],
    )
    try:
        driver.join(opened)
        for step in [AGAIN] * EXCHANGES if past else []:
            driver.add(step)
        for step in steps(kernel, graph.n, driver.reply, spec.max_rounds, spec.faults, past):
            driver.add(step)
        driver.flush()
        most = carried(graph, len(groups))
        closing = driver.each(
            "close_part", [(partial(part.close_part, most), driver.run_id)] * len(groups)
        )
        (found,) = collect([kernel], graph, bounds.tolist(), closing, watch, merge)
    finally:
        tasks.give_up(client, [*opened, *driver.futures])
    return found
