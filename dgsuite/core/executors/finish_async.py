"""Style `finish_async`: tasks for each phase, joined and created anew.

A phase on a worker is a task: it delivers what the other workers sent, computes, and packs what its clusters
send. Dask moves the packed bundles between workers. State, and messages within a worker, stay there. Phases
are sent to the scheduler as one graph, up to where the program asks for votes.

Many workers are in groups of some sqrt(p). The first of a group gets what its group sends, passes it on to
the first of the other groups, and gives its group what has come for it: some 3 p messages in place of p^2.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from math import isqrt
from typing import Any

from distributed import Client, Future

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

DIRECT = 8
"""Workers up to which each one sends to all others."""

HOLD = 16
"""Joins between releases of used bundles: the client sends every 10 ms, and a release would make the
next graph wait that long."""


class Driver:
    """Drives a run from the client: collects phases, sends them as graphs, asks for votes."""

    def __init__(self, kernel: Kernel, watch: Watch, on_round: Tell | None) -> None:
        self.run_id = watch.key_part
        self.kernel = kernel
        self.watch = watch
        self.client = watch.client
        self.on_round = on_round
        self.places = [*watch.workers]
        p = len(self.places)
        size = p if p <= DIRECT else isqrt(p - 1) + 1
        self.groups = [range(w, min(w + size, p)) for w in range(0, p, size)]
        self.is_relayed = p > DIRECT
        self.collected: list[Step] = []
        self.turn = 0
        """Of the last phase."""
        self.sent = 0
        self.futures: list[Future] = []
        self.used: list[list[Future]] = []

    def each(self, does: str, calls: Sequence[tuple[Callable[[Any], Any], Any]]) -> list[Future]:
        """One task a worker: a function, and its argument."""
        keys = [f"{self.kernel.name}-{does}-{self.run_id}-{w}" for w in range(len(self.places))]
        whole = zip(keys, self.places, calls, strict=True)
        return tasks.submit(self.client, {key: (place, *call) for key, place, call in whole})

    def add(self, step: Step) -> None:
        """Take in a phase; it is sent when enough have come together."""
        self.turn = step.turn
        self.collected.append(step)
        each = 3 if self.is_relayed else len(self.places)
        if len(self.collected) * len(self.places) * each >= EDGES:
            self.flush()

    def flush(self) -> None:
        """Send what was collected as one graph and join it."""
        if not self.collected:
            return
        bundles: list[Any] = self.futures
        graph: dict[str, tuple] = {}
        places: dict[str, str] = {}
        for number, step in enumerate(self.collected, self.sent):
            arriving = self.relays(graph, places, number, bundles)
            head = f"{self.kernel.name}-{step.phase}-{self.run_id}-{number}"
            bundles = [f"{head}-{w}" for w in range(len(self.places))]
            for group, come in zip(self.groups, arriving, strict=True):
                for w in group:
                    others = int(w > group[0]) if self.is_relayed else len(group) - 1
                    graph[bundles[w]] = part.phase, self.run_id, step, number, others, come
            places |= zip(bundles, self.places, strict=True)
        self.sent += len(self.collected)
        self.collected = []
        self.used.append(self.futures)
        self.futures = tasks.send(self.client, graph, places, bundles)
        if len(self.used) == HOLD:
            self.used.clear()
        tasks.finish(self.futures, self.watch)
        if self.on_round is not None:
            self.on_round(Progress(step.round + step.last))

    def relays(
        self, graph: dict[str, tuple], places: dict[str, str], number: int, bundles: list[Any]
    ) -> list[list[Any]]:
        """What comes to each group, of the bundles of the phase before; adds the tasks that relay it."""
        if not self.is_relayed or not bundles:
            return [bundles for _ in self.groups]

        def relay(does: str, group: range, to: range, others: int, come: list[Any]) -> str:
            key = f"{self.kernel.name}-{does}-{self.run_id}-{number}-{group[0]}"
            graph[key] = part.relay, self.run_id, to, others, come
            places[key] = self.places[group[0]]
            return key

        everyone, rest = range(len(self.places)), len(self.groups) - 1
        gathered = [
            relay("gather", group, everyone, rest, [bundles[w] for w in group])
            for group in self.groups
        ]
        return [[relay("spread", group, group, len(group) - 1, gathered)] for group in self.groups]

    def reply(self, over: Sequence[Vote]) -> Callable[[], Vote]:
        """What fetches the votes of the last turn; the workers know those of all its phases."""
        turn = self.turn

        def votes() -> Vote:
            self.flush()
            # not by Client.run, which leaves a log record on every worker
            message = {"op": "dgsuite_votes", "run": self.run_id, "turn": turn}

            def ask() -> Awaitable[dict[str, Vote]]:
                scheduler: Any = self.client.scheduler  # None once the client is closed
                return scheduler.broadcast(msg=message, workers=self.places)  # type: ignore[no-any-return]

            found = self.watch.call(ask)
            return reduce_votes([*found.values()])

        return votes


def run(
    kernel: Kernel,
    graph: Graph,
    client: Client,
    workers: Mapping[str, Mapping[str, Any]],
    spec: RunSpec = PLAIN,
    tell: Tell | None = None,
) -> tuple[dict[str, Any], Log]:
    """Run a kernel on workers of a client, given their states."""
    watch, bounds, groups = tasks.begun(kernel, graph, client, workers)
    driver = Driver(kernel, watch, tell)
    how = watch.key_part, kernel, bounds, [*watch.epochs.values()]
    opened = driver.each(
        "open_part",
        [(partial(part.open_part, *how, w, spec), group) for w, group in enumerate(groups)],
    )
    try:
        tasks.finish(opened, watch)
        for step in steps(kernel, graph.n, driver.reply, *spec.limits):
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
