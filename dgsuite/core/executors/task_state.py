"""Style `finish_async` with its state in task results: nothing is kept on a worker but what Dask keeps.

A phase of a site is a task, a function of the results of the phase before: the site as a value, and what the
other sites packed. Its result is the site's next value, which stays where it is, and what it packs, which a
task of its own takes out, so that this alone is moved. Tasks may run again, and anywhere. So when a worker is
lost Dask runs again what made the results that are lost, and the run goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from operator import attrgetter
from time import perf_counter, time
from typing import Any, NamedTuple

import numpy as np
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
from distributed import Client, Future
from numpy.typing import NDArray

from dgsuite.core.engine.log import Log, merge
from dgsuite.core.engine.message_type import MessageBatch
from dgsuite.core.engine.program import Step, Tally, reduce_votes, steps
from dgsuite.core.engine.progress import united
from dgsuite.core.engine.run_settings import DEFAULT, RunSettings
from dgsuite.core.engine.site import Site
from dgsuite.core.workers import placement as tasks
from dgsuite.core.workers import plugin as worker
from dgsuite.core.workers.facts import Result
from dgsuite.core.workers.frozen import Frozen, freeze, thaw
from dgsuite.core.workers.outputs import collect
from dgsuite.core.workers.room import hold_to_limit
from dgsuite.kernels.bsp import Kernel, Vote
from dgsuite.partition.client.sending import send_now
from dgsuite.partition.client.tasks import MOVABLE
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.client.workers import cluster_ranges, received
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.graph import Graph

PARCELS, ROWS = attrgetter("parcels"), attrgetter("rows")

Tasks = dict[str, tuple[Any, ...]]
"""A graph of Dask."""

EDGES = 1 << 12
"""Dependencies of one graph, at most. The results of its phases go one by one, as they are used."""

Parcels = dict[int, MessageBatch]
"""What a site packs, by receiving site."""


class Row(NamedTuple):
    """What the log has of a phase at a site: see `Log.add`."""

    step: Step
    tally: Tally
    compute: tuple[float, ...]
    cpu: tuple[float, ...]
    exchange: float


class Place(NamedTuple):
    """Which site it is, of those between some bounds."""

    bounds: NDArray
    me: int


class Phase(NamedTuple):
    """What a phase leaves at a site."""

    site: Frozen
    parcels: Parcels
    rows: tuple[Row, ...] = ()
    """Of the phases of the same graph so far."""
    over: float = 0.0
    """When, by the clock of its worker."""


class Held:
    """The clusters of a site as one result; also a task, if they are in this process or on the workers.

    Dask, which does not look into it, does not count their bytes once more.
    """

    def __init__(self, clusters: list[Cluster]) -> None:
        self.clusters = clusters


def begin(at: Place, kernel: Kernel, settings: RunSettings, held: Held) -> Phase:
    """Task: a site before its first phase."""
    site = Site(kernel, held.clusters, at.bounds, at.me, settings.workload, settings.guard)
    site.warm()
    hold_to_limit(site)
    return Phase(freeze(site), {}, (), time())


def phase(
    at: Place,
    step: Step,
    first: bool,
    others: int,
    held: Held,
    before: Phase,
    packed: Sequence[Parcels],
) -> Phase:
    """Task: a phase of a site.

    Parameters
    ----------
    first
        Whether it is the first one of its graph.
    others
        How many other workers get what it packs.
    packed
        What each site packed in the phase before.
    """
    site = thaw(before.site, held.clusters, *at)
    site.deliver({peer: parcels[at.me] for peer, parcels in enumerate(packed) if at.me in parcels})
    parcels = site.step(step)
    tally, compute, cpu, busy = site.tally, (*site.compute,), (*site.cpu,), site.busy
    tally.wire = others * sum(batch.nbytes for batch in parcels.values())
    frozen, over = freeze(site), time()
    # the clocks of two hosts may differ
    row = Row(step, tally, compute, cpu, max(0.0, over - before.over - busy))
    return Phase(frozen, parcels, (row,) if first else (*before.rows, row), over)


def end(at: Place, log: Log, held: Held, before: Phase) -> Result:
    """Task: a site's results."""
    result = [(thaw(before.site, held.clusters, *at).outputs(), log)]
    worker.plugin().announce(worker.task_key(), result)
    return result


class Driver:
    """Drives a run from the client: collects phases, and sends them as graphs.

    Parameters
    ----------
    homes
        The worker of each site, where its tasks run as long as that worker is there.
    groups
        The clusters of each site, or futures of them.
    every
        Seconds after which all sites are copied to other workers; None for never.
    """

    def __init__(
        self,
        kernel: Kernel,
        watch: Watch,
        homes: Sequence[str],
        bounds: NDArray,
        groups: Sequence[Any],
        settings: RunSettings,
        every: float | None,
    ) -> None:
        self.kernel = kernel
        self.watch = watch
        self.homes = homes
        self.places = [Place(bounds, me) for me in range(len(homes))]
        self.logs = [Log(count) for count in np.diff(bounds).tolist()]
        self.tell = None if settings.tell is None else united(settings.tell)
        self.others = len(set(homes)) - 1
        self.every = every if self.others else None
        self.copied = perf_counter()
        """When the sites were copied."""
        self.kept: list[list[Future]] = []
        """The sites that were copied last, and their copies."""
        self.most = max(1, EDGES // (len(homes) * (len(homes) + 4)))
        """Phases of one graph, at most."""
        self.collected: list[Step] = []
        self.sent = self.turn = 0
        self.packed: list[Future] = []
        """What each site packed in the last phase."""
        self.logged: list[Future] = []
        """The log of each site in the phases that were sent last."""
        self.held, self.before = self.begin(groups, settings.for_workers())

    def key(self, does: str, number: int, site: int) -> str:
        """The key of a task."""
        return f"{self.kernel.name}-{does}-{self.watch.key_part}-{number}-{site}"

    def send(self, graphs: Sequence[Tasks], *ends: Sequence[str]) -> list[list[Future]]:
        """Send each site's tasks, all as one graph.

        Parameters
        ----------
        ends
            Keys, one of each site.

        Returns
        -------
        Futures of them.
        """
        names = [f"{self.kernel.name}-site-{self.watch.key_part}-{s}" for s in range(len(graphs))]
        tied = {
            "allow_other_workers": True,
            MOVABLE: True,
        }  # Dask forgets the one if no worker is left
        layers = {
            name: MaterializedLayer(
                graph, annotations={"workers": [home], **tied} if self.others else {}
            )
            for name, graph, home in zip(names, graphs, self.homes, strict=True)
        }
        whole = HighLevelGraph(layers, {name: set(names) - {name} for name in names})
        wanted = [Delayed(key, whole, layer=names[0]) for keys in ends for key in keys]
        found: list[Future] = self.watch.client.compute(wanted, optimize_graph=False)
        send_now(self.watch.client)  # else it holds back what follows on a release
        size = len(graphs)
        return [found[i : i + size] for i in range(0, len(found), size)]

    def begin(self, groups: Sequence[Any], settings: RunSettings) -> list[list[Future]]:
        """The clusters of each site, and what it is before the first phase."""
        graphs: list[Tasks] = [{} for _ in self.places]
        held = [self.key("site-clusters", 0, at.me) for at in self.places]
        begun = [self.key("site-begin", 0, at.me) for at in self.places]
        for at, graph, group in zip(self.places, graphs, groups, strict=True):
            here = not isinstance(group, Future) and isinstance(group[0], Cluster)
            # a partial, so that Dask does not look for keys in it
            graph[held[at.me]] = (partial(Held, group),) if here else (Held, group)
            graph[begun[at.me]] = partial(begin, at, self.kernel, settings), held[at.me]
        return self.send(graphs, held, begun)

    def add(self, step: Step) -> None:
        """Take in a phase; it is sent when enough have come together."""
        self.turn = step.turn
        self.collected.append(step)
        if len(self.collected) == self.most:
            self.flush()

    def flush(self) -> None:
        """Send what was collected as one graph, and log it once it is done."""
        if not self.collected:
            return
        graphs: list[Tasks] = [{} for _ in self.places]
        before: Sequence[Any] = self.before
        packed: Sequence[Any] = self.packed
        kept: list[list[str]] = []
        copies = self.every is not None and perf_counter() - self.copied >= self.every
        for number, step in enumerate(self.collected, self.sent):
            done = [self.key(step.phase, number, at.me) for at in self.places]
            for at, graph in zip(self.places, graphs, strict=True):
                task = partial(phase, at, step, number == self.sent, self.others)
                graph[done[at.me]] = task, self.held[at.me], before[at.me], [*packed]
            last = number + 1 == self.sent + len(self.collected)
            before = done
            if copies and last:
                copied, before = self.copy(graphs, number, done)
                kept = [done, copied]
            packed = [self.key(f"{step.phase}-pack", number, at.me) for at in self.places]
            for graph, key, each in zip(graphs, packed, before, strict=True):
                graph[key] = PARCELS, each
        rows = [self.key("site-rows", number, at.me) for at in self.places]
        for graph, key, each in zip(graphs, rows, done, strict=True):
            graph[key] = ROWS, each
        self.sent += len(self.collected)
        self.collected = []
        needed = self.before, self.packed  # until the scheduler has this graph
        futures = self.send(graphs, before, packed, rows, *kept)
        self.before, self.packed, self.logged, *held = futures
        for log, each in zip(self.logs, self.results(self.logged), strict=True):
            for row in each:
                log.add(*row)
        del needed
        if copies:
            tasks.finish(self.packed, self.watch)
            self.kept, self.copied = held, perf_counter()
        if self.tell is not None:
            for site, log in reversed([*enumerate(self.logs)]):
                self.tell(site, log.progress())

    def copy(
        self, graphs: Sequence[Tasks], number: int, done: Sequence[str]
    ) -> tuple[list[str], list[str]]:
        """Add to the graphs of the sites that each is copied to the next worker, and from there back.

        The run goes on from what came back. So Dask need not repeat what was before, as long as it finds
        one of each site and its copy. Neither is sent to another worker itself, but the result of a task in
        between, which is soon released: of a result that two workers hold, Dask's memory manager keeps one.

        Returns
        -------
        Keys of the copies, and of what came back.
        """
        send, copies, back, own = (
            [self.key(f"site-{does}", number, at.me) for at in self.places]
            for does in ("send", "copy", "return", "own")
        )
        for me, home in enumerate(self.homes):
            elsewhere = (k % len(graphs) for k in range(me, me + len(graphs)))
            next_ = next(k for k in elsewhere if self.homes[k] != home)
            graphs[me] |= {send[me]: (received, done[me]), own[me]: (received, back[me])}
            graphs[next_] |= {copies[me]: (received, send[me]), back[me]: (received, copies[me])}
        return copies, own

    def results(self, futures: Sequence[Future]) -> list[Any]:
        """What tasks return, once all are done, whichever worker runs them."""
        tasks.finish(futures, self.watch)
        return self.watch.gather(futures)

    def reply(self, over: Sequence[Vote]) -> Callable[[], Vote]:
        """What fetches the votes of the last turn."""
        return partial(self.votes, self.turn)

    def votes(self, turn: int) -> Vote:
        """The votes of a turn, reduced over all sites."""
        self.flush()
        return reduce_votes([vote for log in self.logs for vote in log.votes_of(turn)])

    def end(self) -> list[Future]:
        """The results of each site."""
        graphs: list[Tasks] = [{} for _ in self.places]
        ends = [self.key("site-end", self.sent, at.me) for at in self.places]
        for at, graph, key in zip(self.places, graphs, ends, strict=True):
            task = partial(end, at, self.logs[at.me])
            graph[key] = task, self.held[at.me], self.before[at.me]
        return self.send(graphs, ends)[0]


def sites(bounds: NDArray, threads: Sequence[int]) -> tuple[list[int], NDArray]:
    """Cut the clusters of each worker into sites, one for each of its threads that has something to do.

    Returns
    -------
    workers
        Number of each site's worker.
    bounds
        Shape (sites + 1,): site s holds clusters ``bounds[s]`` to ``bounds[s + 1]``.
    """
    workers, ends = [], [0]
    for w, (a, b) in enumerate(pairwise(bounds.tolist())):
        cut = cluster_ranges(b - a, threads[w])[1:] + a
        workers += [w] * len(cut)
        ends += cut.tolist()
    return workers, np.array(ends)


def run(
    kernel: Kernel,
    graph: Graph,
    client: Client,
    places: Sequence[str],
    settings: RunSettings = DEFAULT,
    every: float | None = None,
) -> tuple[dict[str, Any], Log]:
    """Run a kernel on the workers of a client, and copy all sites after so many seconds."""
    worker.install(client)
    places, shares = tasks.deal(graph, places)
    watch = Watch(client, tasks.of(kernel), key_part=tasks.new_run())
    states = watch.check_workers()
    workers, bounds = sites(shares, [states[place]["nthreads"] for place in places])
    homes = [places[w] for w in workers]
    groups = tasks.place(graph, watch, homes, bounds)
    watch.inputs = ()  # Dask makes them again, or cancels what needs them
    driver = Driver(kernel, watch, homes, bounds, groups, settings, every)
    ends: list[Future] = []
    try:
        tasks.finish(driver.before, watch)
        start = perf_counter()
        for step in steps(kernel, graph.n, driver.reply, settings.guard):
            driver.add(step)
        driver.flush()
        for log in driver.logs:
            log.seconds = perf_counter() - start
        ends = driver.end()
        (found,) = collect([kernel], graph, bounds, ends, watch, merge)
    except BaseException:
        # what needs others before these: Dask's scheduler fails on tasks in between that no client wants
        for some in ([*driver.packed, *driver.logged, *ends], driver.before, driver.held):
            tasks.give_up(client, some)
        raise
    return found
