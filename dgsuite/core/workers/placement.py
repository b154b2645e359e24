"""Placing clusters on workers, and waiting for tasks: for all styles that run on workers."""

from __future__ import annotations

import pickle
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
from distributed import Client, Future
from distributed.client import ClosedClientError
from numpy.typing import NDArray

from dgsuite.base.errors import DgsuiteError, RunError, WorkerLost
from dgsuite.core.workers import plugin as worker
from dgsuite.core.workers.plugin import PeerLost
from dgsuite.kernels.bsp import Kernel
from dgsuite.partition.client import waiting
from dgsuite.partition.client.sending import send_now
from dgsuite.partition.client.session import POLL_SECONDS
from dgsuite.partition.client.tasks import new_key
from dgsuite.partition.client.waiting import LOST, Watch, failed, from_a_loss
from dgsuite.partition.client.workers import States, cluster_ranges, received
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.graph.recovery import settle, there

EMBED = 1 << 20
"""Bytes up to which a worker's clusters are sent as a task, for which the client does not wait."""

PLACED = "clusters on workers"
"""Key in `Graph.derived` of futures of the clusters of a graph of this process, and of where they are."""


def of(kernel: Any) -> str:
    """What to call a kernel in messages."""
    return f"kernel {kernel.name!r}"


def new_run() -> str:
    """A run id."""
    return uuid.uuid4().hex[:12]


def begun(
    kernel: Kernel, graph: Graph, client: Client, workers: States
) -> tuple[Watch, NDArray, list[Any]]:
    """Begin a run: place a graph on workers.

    Parameters
    ----------
    workers
        States of the client's workers. As many take part as there are clusters, at most.

    Returns
    -------
    watch
        Of the tasks of the run. It has the workers that take part, and its `key_part` is the run's id.
    bounds
        Shape (workers + 1,): worker w holds clusters ``bounds[w]`` to ``bounds[w + 1]``.
    groups
        By worker: a future of all its clusters, or a list with a future of each.
    """
    worker.install(client)
    bounds = cluster_ranges(len(graph.parts), len(workers))
    epochs = {place: workers[place]["epoch"] for place in [*workers][: len(bounds) - 1]}
    watch = Watch(client, of(kernel), [*epochs], key_part=new_run(), epochs=epochs)
    return watch, bounds, (_sent if graph.local else _settled)(graph, watch, bounds)


def _settled(graph: Graph, watch: Watch, bounds: NDArray) -> list[list[Future]]:
    """Clusters that are on workers, each on its own."""
    places = [*watch.epochs]
    homes = [places[w] for w, count in enumerate(np.diff(bounds)) for _ in range(count)]
    if graph.homes != homes:
        settle(graph.parts, homes, watch)
        graph.homes = homes
    watch.inputs = graph.parts
    return [graph.parts[a:b] for a, b in pairwise(bounds)]


def _sent(graph: Graph, watch: Watch, bounds: NDArray) -> list[Future]:
    """Clusters of this process, sent to workers; they stay there for other runs."""
    where = watch.client.id, {**watch.epochs}, bounds.tobytes(), graph.partition

    def send() -> tuple[Any, list[Future]]:
        groups = {
            w: graph.parts[a:b] for w, (a, b) in zip(watch.epochs, pairwise(bounds), strict=True)
        }
        if any(sum(c.nbytes for c in group) > EMBED for group in groups.values()):
            return where, [watch.scatter(group, worker) for worker, group in groups.items()]
        parts = {new_key(received): (w, received, group) for w, group in groups.items()}
        return where, submit(watch.client, parts)

    def valid(kept: tuple[Any, list[Future]]) -> bool:
        return kept[0] == where and all(map(there, kept[1]))

    _, watch.inputs = graph.derived.get(PLACED, send, valid)
    return watch.inputs


def submit(
    client: Client, tasks: Mapping[str, tuple[str, Callable[[Any], Any], Any]], **annotations: Any
) -> list[Future]:
    """Submit tasks, each tied to a worker: see `send`.

    Parameters
    ----------
    tasks
        By key: the worker's address, a function, and its argument, which may be one future or several.
    annotations
        Of all tasks.
    """
    graph: dict[str, tuple[Any, ...]] = {}
    for key, (_, function, argument) in tasks.items():
        if isinstance(argument, Future) or (argument and isinstance(argument[0], Future)):
            graph[key] = function, argument
        else:
            graph[key] = (partial(function, argument),)  # so that Dask does not look for keys in it
    places = {key: place for key, (place, *_) in tasks.items()}
    return send(client, graph, places, [*graph], **annotations)


def send(
    client: Client,
    graph: dict[str, tuple[Any, ...]],
    places: Mapping[str, str],
    keys: Sequence[str],
    **annotations: Any,
) -> list[Future]:
    """Futures of some tasks of a graph, each tied to a worker; a client sends one message in 10 ms."""
    workers = {key: [place] for key, place in places.items()}
    tied = {"workers": workers.get, "allow_other_workers": False, "retries": 0}
    layer = MaterializedLayer(graph, annotations=tied | annotations)
    # `client.compute` first makes an expression of each task, and takes three times as long
    futures: list[Future] = client.get(HighLevelGraph({"": layer}, {"": set()}), keys, sync=False)
    send_now(client)
    return futures


def finish(futures: Sequence[Future], watch: Watch) -> None:
    """Wait until all tasks are done.

    Raises
    ------
    DgsuiteError
        A task failed, or cannot run any more: its worker has gone, or none is left.
    """
    watch.until(partial(waiting.ended, futures), futures)
    if any(map(failed, futures)):
        raise cause(futures, watch)


def ended(futures: Sequence[Future], watch: Watch, stays: float) -> list[Any]:
    """What the tasks of a run tell, once all are done.

    Parameters
    ----------
    stays
        If their results take more bytes, they stay on their workers.

    Raises
    ------
    DgsuiteError
        As in `finish`; also when a worker goes that has done its task, and has the result.
    """
    request = {"keys": [future.key for future in futures], "seconds": POLL_SECONDS, "stays": stays}

    def over() -> dict[str, Any] | None:
        answer: dict[str, Any] = watch.ask("dgsuite_results", wait=POLL_SECONDS, **request)
        return answer if answer["over"] else None

    while "sent" not in (answer := watch.until(over, futures)):
        finish(futures, watch)
    return [pickle.loads(each) for each in answer["sent"]]


def results(futures: Sequence[Future], watch: Watch, others: Sequence[Future] = ()) -> list[Any]:
    """Results of tasks, once all are done; where one fails all are given up, and others that they take.

    Raises
    ------
    DgsuiteError
        As in `finish`.
    """
    try:
        finish(futures, watch)
        return watch.gather(futures)
    except BaseException:
        give_up(watch.client, [*futures, *others])
        raise


def give_up(client: Client, futures: Sequence[Future]) -> None:
    """Cancel tasks. Those of a client whose connection has ended are given up by the scheduler."""
    if client.status == "running":
        with suppress(ClosedClientError):
            client.cancel(futures, force=True)


def cause(futures: Sequence[Future], watch: Watch) -> Exception:
    """The first cause among failed tasks; that a peer was lost is usually only a consequence."""
    deadline = time.monotonic() + 1
    while time.monotonic() < deadline and any(f.status == "pending" for f in futures):
        time.sleep(0.02)
    errors = [f.exception() for f in futures if f.status == "error"]
    errors.sort(key=lambda e: isinstance(e, PeerLost) or from_a_loss(e))
    first = errors[0] if errors else None
    if first is None or isinstance(first, PeerLost) or from_a_loss(first):
        watch.check_workers()
        if isinstance(first, PeerLost):
            return WorkerLost(f"{watch.doing}: {first}", first.worker)
        return WorkerLost(f"{watch.doing}: {LOST if first else 'its tasks were cancelled'}")
    if isinstance(first, DgsuiteError):
        return first
    error = RunError(f"{watch.doing}: {type(first).__name__}: {first}")
    error.__cause__ = first
    return error
