"""Style `clocked`: one long-lived task a worker, which advances on a clock.

Each task replays the program, runs every phase on its clusters, and meets the others in one exchange
a phase: messages, votes and barrier in one message a pair of workers. The scheduler is not touched
until the end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from time import perf_counter
from typing import Any, NamedTuple

import dask
from distributed import Client, get_worker
from numpy.typing import NDArray

from dgsuite.engine.batches import MessageBatch
from dgsuite.engine.log import Log, merge
from dgsuite.engine.program import UNBOUND, Guard, reduce_votes, steps
from dgsuite.engine.progress import Progress, Report, Tell, seldom, united
from dgsuite.engine.site import Site
from dgsuite.executors.in_turn import InTurn
from dgsuite.workers import placement as tasks
from dgsuite.workers import plugin as worker
from dgsuite.workers.mesh import Mesh
from dgsuite.workers.outputs import Result, collect
from dgsuite.workload import Workload
from kernels.base import Kernel, Vote
from partition.client.waiting import Watch
from partition.cluster import Cluster
from partition.errors import InputError
from partition.graph import Graph

POOL_FROM = 1 << 15
"""Nodes of a site from which its clusters share the worker's threads: handing over costs 0.1 ms."""


class Way(NamedTuple):
    """What a run's tasks do on their mesh: functions of a module, so that they travel by name."""

    site: Callable[[Kernel, Sequence[Cluster], NDArray, int, Workload | None, Guard], Any]
    drive: Callable[[Any, Mesh, ThreadPoolExecutor | None, Report | None], Awaitable]
    """Runs the program; returns this site's log."""
    merge: Callable[[Sequence[Any]], Log]
    """Makes one log of all."""
    name: str = "clocked"
    in_turn: bool = False
    """Whether sites compute one after the other."""
    rounds: bool = True
    """Whether sites talk in rounds alone, which any transport carries."""


def run(
    kernels: Sequence[Kernel],
    graph: Graph,
    client: Client,
    places: Sequence[str],
    on_round: Tell | None = None,
    workload: Workload | None = None,
    guard: Guard = UNBOUND,
    way: Way | None = None,
) -> list[tuple[dict[str, Any], Log]]:
    """Run kernels on the workers of a client, in rounds or another way: one after the other, in the same
    tasks.
    """
    way = way or CLOCKED
    kernel = kernels[0]
    transport = dask.config.get("dgsuite.clocked.transport", "comm")
    if transport not in ("comm", "mpi"):
        raise InputError(f"dgsuite.clocked.transport must be 'comm' or 'mpi', got {transport!r}")
    if transport == "mpi" and (way.in_turn or not way.rounds):
        raise InputError("tasks that send when they like cannot over MPI; use style='clocked'")
    worker.install(client)
    run_id = tasks.new_run()
    places, bounds = tasks.deal(graph, places)
    watch = Watch(client, tasks.of(kernel), places, key_part=run_id)
    watch.check_workers()
    groups = tasks.place(graph, watch, places, bounds)
    epochs = [watch.epochs[place] for place in places]
    keys = [f"{kernel.name}-{way.name}-{run_id}-{rank}" for rank in range(len(places))]
    with ExitStack() as stack:
        topic = None
        if on_round is not None:
            topic, reports = worker.reports(client)
            reports[run_id] = united(on_round)
            stack.callback(reports.pop, run_id)
        stack.enter_context(tasks.turn(watch, keys))
        futures = [
            client.submit(
                _task,
                way,
                run_id,
                kernels,
                groups[rank],
                bounds,
                places,
                epochs,
                rank,
                topic,
                dask.config.get("dgsuite.clocked.bind", True),
                workload,
                guard,
                transport,
                key=keys[rank],
                workers=[places[rank]],
                allow_other_workers=False,
                pure=False,
                retries=0,
            )
            for rank in range(len(places))
        ]
        try:
            return collect(kernels, graph, bounds, futures, watch, way.merge)
        except BaseException:
            tasks.give_up(client, futures)
            raise


def _task(
    way: Way,
    run_id: str,
    kernels: Sequence[Kernel],
    clusters: Sequence[Cluster],
    bounds: NDArray,
    places: Sequence[str],
    epochs: Sequence[str],
    rank: int,
    topic: str | None,
    bind: bool,
    workload: Workload | None,
    guard: Guard,
    transport: str,
) -> Result:
    """One worker's part of the run: of each kernel, the outputs and the log."""

    def prepared(kernel: Kernel) -> Any:
        site = way.site(kernel, clusters, bounds, rank, workload, guard)
        had_halo = site.mailbox.has_halo
        site.warm()
        if site.mailbox.has_halo and not had_halo:
            worker.give_back()
        return site

    here = get_worker()
    worker.fence(here, epochs[rank])
    site = prepared(kernels[0])
    mesh = (InTurn if way.in_turn else _mesh(transport))(run_id, places, epochs, rank)
    key = worker.task_key()
    plugin = worker.plugin()
    arguments = worker.security_args()
    large = sum(c.size for c in clusters) > POOL_FROM
    large |= site.workload is not None and site.workload.takes_processor
    threads = min(here.state.nthreads, len(clusters)) if large and not way.in_turn else 1

    @seldom
    def tell(progress: Progress) -> None:
        here.loop.add_callback(here.log_event, topic, (run_id, rank, progress))

    results: Result = []

    async def main(pool: ThreadPoolExecutor | None) -> None:
        nonlocal site
        try:
            await mesh.open(plugin, key, *arguments)
            for turn, kernel in enumerate(kernels):
                if turn:
                    site = prepared(kernel)
                log = await way.drive(site, mesh, pool, tell if topic is not None else None)
                results.append((site.outputs(), log))
            await mesh.close()
        except BaseException:
            mesh.abort()
            raise
        finally:
            plugin.leave(key, run_id)

    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(threads)) if threads > 1 else None
        if bind and pool is None:
            mesh.alone = stack.enter_context(worker.bound(places, rank, run_id))
        stack.enter_context(worker.no_full_collections())
        runner = stack.enter_context(asyncio.Runner())
        runner.run(main(pool))
    return results


def _mesh(transport: str) -> type[Mesh]:
    if transport == "mpi":
        from dgsuite.transports.mpi import MPIMesh

        return MPIMesh
    return Mesh


async def _drive(
    site: Site,
    mesh: Mesh,
    pool: ThreadPoolExecutor | None,
    tell: Report | None,
) -> Log:
    log = Log(len(site.clusters))
    votes: list[Vote] = []

    def reply() -> Callable[[], Vote]:
        if tell is not None:
            tell(log.progress)
        reduced = reduce_votes(votes)
        votes.clear()
        return lambda: reduced

    await mesh.exchange(-1, {}, Vote())  # nobody starts the clock before everyone is ready
    start = now = perf_counter()
    for number, step in enumerate(steps(site.kernel, site.clusters[0].n, reply, site.guard)):
        await mesh.turn()
        parcels = site.step(step, pool)
        found: dict[int, MessageBatch] = {}
        if mesh.ordered or not site.quiet:
            found, theirs = await mesh.exchange(number, parcels, site.tally.vote)
            site.tally.wire = mesh.wire
            votes += [site.tally.vote, *theirs]
        site.deliver(found)
        before, now = now, perf_counter()
        log.add(step, site.tally, site.compute, site.cpu, now - before - site.busy)
    log.seconds = perf_counter() - start
    return log


CLOCKED = Way(Site, _drive, merge)
IN_TURN = CLOCKED._replace(name="in-turn", in_turn=True)
