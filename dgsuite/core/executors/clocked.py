"""Style `clocked`: one long-lived task per worker, which advances on a clock.

Each task runs the program. At the end of each phase the tasks exchange messages and votes; the exchange
is also the barrier. The scheduler has no part in a run between its start and its end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

from dask.utils import parse_timedelta
from distributed import Client, get_worker
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.engine.broadcast_store import Window
from dgsuite.core.engine.checkpoint import begun
from dgsuite.core.engine.log import Log
from dgsuite.core.engine.mailbox import Mailbox
from dgsuite.core.engine.progress import Progress, Tell, seldom, united
from dgsuite.core.engine.run_spec import PLAIN, RunSpec
from dgsuite.core.engine.site import Site
from dgsuite.core.exchange.channels import cancelling
from dgsuite.core.exchange.mesh import Mesh, configuration, mesh_kind
from dgsuite.core.executors.driver import drive
from dgsuite.core.executors.recursive import freely, way
from dgsuite.core.workers import placement as tasks
from dgsuite.core.workers import plugin as worker
from dgsuite.core.workers.outputs import Outputs, carried, collect, ended
from dgsuite.core.workers.processor import bound, of_host, own_processors
from dgsuite.core.workers.room import prepare
from dgsuite.kernels.bsp import Kernel, Vote
from dgsuite.partition.client.settings import setting
from dgsuite.partition.client.tasks import TOGETHER
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.graph import Graph

READ_ELSEWHERE = 1 / 16
"""Tasks share memory if each reads more than this part of all nodes from the others, on average."""


@dataclass(frozen=True, kw_only=True)
class ClockedSpec(RunSpec):
    """What all tasks of a run get."""

    style: str
    run_id: str
    kernels: Sequence[Kernel]
    bounds: NDArray
    places: Sequence[str]
    epochs: Sequence[str]
    topic: str
    """Under which the tasks report their progress, if anybody asks for it."""
    bind: bool
    mesh: str
    """Name of how the tasks are joined."""
    keep: float
    """Seconds for which the mesh is kept."""
    most: float
    """Bytes of outputs that a client gets at once, at most."""


def run(
    kernels: Sequence[Kernel],
    graph: Graph,
    client: Client,
    workers: Mapping[str, Mapping[str, Any]],
    spec: RunSpec = PLAIN,
    tell: Tell | None = None,
    style: str = "clocked",
) -> list[tuple[dict[str, Any], Log]]:
    """Run kernels one after the other, in the same tasks.

    Parameters
    ----------
    kernels
        With checkpoints there is one; and of recursive forms.
    workers
        States of workers of the client, by address: see `dgsuite.core.workers.recovery.States`.
    style
        One without an executor of its own names a mesh.
    """
    kernel = kernels[0]
    _, driving, merged = way(kernel, style, spec)
    # else sites talk between phases: not over any transport, nor over a mesh that is kept
    rounds = driving is not freely
    transport = setting("dgsuite.clocked.transport")
    has_own = style in ("clocked", "finish_async")
    mesh = transport if has_own else style
    if mesh_kind(transport).in_rounds and not (has_own and rounds):
        raise InputError(
            f"over {transport} tasks can only exchange messages at the end of a phase; use "
            f"style='clocked', or another dgsuite.clocked.transport"
        )
    watch, bounds, groups = tasks.begun(kernel, graph, client, workers)
    run_id, places = watch.key_part, [*watch.epochs]
    keeps = mesh_kind(mesh).can_be_kept and rounds and len(places) > 1
    part = "recursive-" * (kernel.form == "recursive") + ("clocked" if rounds else "async")
    with ExitStack() as stack:
        topic = ""
        if tell is not None:
            topic, reports = worker.reports(client)
            reports[run_id] = united(watch.heard(tell), len(places))
            stack.callback(reports.pop, run_id)
        plan = ClockedSpec(
            **vars(spec),
            style=style,
            run_id=run_id,
            kernels=kernels,
            bounds=bounds,
            places=places,
            epochs=[*watch.epochs.values()],
            topic=topic,
            bind=setting("dgsuite.clocked.bind"),
            mesh=mesh,
            keep=parse_timedelta(setting("dgsuite.clocked.keep")) if keeps else 0.0,
            most=carried(graph, len(places)),
        )
        sent = {
            f"{kernel.name}-{part}-{run_id}-{rank}": (place, partial(_task, plan, rank), group)
            for rank, (place, group) in enumerate(zip(places, groups, strict=True))
        }
        futures = tasks.submit(client, sent, **{TOGETHER: True})
        try:
            return collect(kernels, graph, bounds, futures, watch, merged)
        except BaseException:
            tasks.give_up(client, futures)
            raise


def _task(plan: ClockedSpec, rank: int, clusters: Sequence[Cluster]) -> Outputs:
    """One worker's part of the run."""
    key, plugin = worker.task_key(), worker.plugin()
    try:
        with ExitStack() as stack:
            found = _found(plan, rank, clusters, key, plugin, stack)
        return ended(clusters, found, plan.most)
    finally:  # also where it ends before its peers find it: they are told
        plugin.leave(key, plan.run_id)


def _found(
    plan: ClockedSpec,
    rank: int,
    clusters: Sequence[Cluster],
    key: str,
    plugin: worker.RunPlugin,
    stack: ExitStack,
) -> list[tuple[dict[str, NDArray], Log]]:
    """Outputs and log of each kernel at one worker."""
    run_id = plan.run_id
    kind, driving, _ = way(plan.kernels[0], plan.style, plan)
    here = get_worker()
    threads = 1 if mesh_kind(plan.mesh).ordered else here.state.nthreads

    def new_site(kernel: Kernel) -> Site:
        return kind(kernel, clusters, plan.bounds, rank, plan, threads)

    worker.fence(here, plan.epochs[rank])
    site = new_site(plan.kernels[0])
    kept = begun(plan.checkpoints, site)
    binds = plan.bind and (site.workload is None or site.workload.helpers is None)
    binds = binds and not plan.places[rank].startswith("inproc")

    @seldom
    def tell(progress: Progress) -> None:
        here.loop.add_callback(here.log_event, plan.topic, (run_id, rank, progress))

    results: list[tuple[dict[str, NDArray], Log]] = []

    async def main() -> None:
        nonlocal site, kept
        try:
            if resumed is None:
                listening = here.security.get_listen_args("worker")
                await mesh.open(plugin, key, here.connection_args, listening)
                mesh.processors = await mesh.told(own_processors())
                if driving is not freely:
                    await mesh.open_gate()
            else:
                plugin.enter(key, run_id, None, cancelling())
            local = of_host(plan.places, rank, mesh.processors)
            mesh.alone = binds and stack.enter_context(bound(*local, run_id))
            for turn, kernel in enumerate(plan.kernels):
                if turn:
                    site = new_site(kernel)
                    kept = None
                if driving is drive and mesh.is_shared and clusters[0].pulls and kernel.broadcasts:
                    await _share(site.mailbox, mesh)
                prepare(site)
                await driving(site, mesh, tell if plan.topic else None, kept)
                results.append((site.outputs(), site.log))
            if not plan.keep:
                await mesh.close()
        except BaseException:
            mesh.abort()
            raise

    members = plan.mesh, tuple(plan.places), tuple(plan.epochs), rank
    resumed = _resumed(plugin, key, run_id, members) if plan.keep else None
    how = plan.mesh == "fastest", driving is freely
    mesh = resumed or mesh_kind(plan.mesh)(run_id, *members[1:], *how)
    try:
        mesh.runner.run(main())
    except BaseException:
        mesh.runner.close()
        raise
    if plan.keep:
        plugin.meshes.keep(members, mesh, plan.keep)
    else:
        mesh.runner.close()
    return results


async def _share(box: Mailbox, mesh: Mesh) -> None:
    """Have broadcasts stored in memory that the tasks share, if they read many nodes of each other."""
    n, sites = box.clusters[0].n, len(mesh.places)
    _, said = await mesh.exchange({}, Vote(sum=box.slots - box.starts[-1]))
    if said.sum > READ_ELSEWHERE * n * sites:
        memory = await mesh.values_of(Window.size(n, sites, box.dtypes))
        if memory is not None:
            box.share(memory)


def _resumed(plugin: worker.RunPlugin, key: str, run_id: str, members: Any) -> Mesh | None:
    """The mesh that is kept of these members, if all other tasks have kept theirs."""
    mesh: Mesh | None = plugin.meshes.take(members)
    if mesh is None:
        return None
    whole = False
    try:
        if (mesh.configuration, mesh.processors[mesh.rank]) == (configuration(), own_processors()):
            whole = mesh.runner.run(mesh.resume(plugin, key, run_id))
    finally:
        if not whole:
            mesh.dispose()
    return mesh if whole else None
