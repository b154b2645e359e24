"""Clusters that were lost with their worker are made again on the workers that are left.

A cluster comes back in one of three ways, tried in this order:

copy
    Another worker has one, of ``graph.persist(copies=2)``.
lineage
    The scheduler still knows the tasks that made it, down to files, generators or what Dask holds, and runs
    them again. They were tied to a worker that is gone; the scheduler plugin lets them run on any other.
files
    The graph was saved or loaded, so its cluster is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dgsuite.base.errors import InputError, RunError
from dgsuite.partition.client.session import Session
from dgsuite.partition.client.tasks import pinned, submitted
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.client.workers import received, worker_addresses, worker_of
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.construction.distribute import fact_of
from dgsuite.partition.store import storage

if TYPE_CHECKING:
    from distributed import Client, Future

    from dgsuite.partition.graph.data import GraphData

RECOVERING = "recovering the graph"

ADVICE = "build the graph again; one that was saved, or has persist(copies=2), comes back by itself"


def there(part: Any) -> bool:
    """Whether a cluster is in this process, or its future has a result or may get one."""
    return isinstance(part, Cluster) or part.status in ("pending", "finished")


def recoverable(parts: Sequence[Any]) -> bool:
    """Whether the scheduler could make all clusters again if every worker lost what it holds."""
    held = [part for part in parts if not isinstance(part, Cluster)]
    if not held:
        return True
    keys = [part.key for part in held]
    found: bool = Session.of(held[0].client).ask("dgsuite_repeatable", keys=keys)
    return found


def restore(graph: GraphData, parts: list[Any]) -> None:
    """Replace the clusters of a list that were lost, and copies that were.

    Raises
    ------
    WorkerLost
        Another worker was lost meanwhile.
    RunError
        A cluster cannot be made again, or is not what it was: the message says what to do.
    """
    client = graph.client
    assert client is not None
    workers = worker_addresses(client)
    watch = Watch(client, RECOVERING, workers)
    lost = [k for k, part in enumerate(parts) if not there(part)]
    home = {k: worker_of(k, len(parts), workers) for k in lost}
    rest = []
    for k in lost:
        copies = [copy for copy in graph.copies[k] if there(copy)] if graph.copies else []
        if copies:
            parts[k] = pinned(client, home[k], received, copies[0])
        else:
            rest.append(k)
    if rest:
        gone = set(Session.of(client).ask("dgsuite_hopeless", keys=[parts[k].key for k in rest]))
        rest = [k for k in rest if parts[k].key in gone]
    if rest and graph.saved is not None:
        try:
            read = storage.read_again(
                graph.saved, graph.partition, rest, client, [home[k] for k in rest]
            )
        except InputError as error:
            raise _for_good(rest[0], f"from what was saved: {error}") from error
        for k, part in zip(rest, read, strict=True):
            parts[k] = part
    elif rest:
        raise _for_good(rest[0], "it has no copy, and what it was made from is not kept")
    with watch.explain_errors():
        again = [parts[k] for k in lost]
        watch.wait(again)
        lengths = watch.gather([submitted(client, fact_of, part) for part in again])
    for k, (length, _) in zip(lost, lengths, strict=True):
        if length != graph.entries[k]:
            what = f"with {length} entries instead of {graph.entries[k]}: its source has changed"
            raise _for_good(k, what)
    if graph.copies:
        graph.copies = copied(parts, min(graph.wanted_copies, len(workers)), client, workers)


def _for_good(k: int, what: str) -> RunError:
    return RunError(f"cluster {k} of the graph was lost with its worker, {what}; {ADVICE}")


def copied(
    parts: Sequence[Future], copies: int, client: Client, workers: Sequence[str]
) -> list[list[Future]]:
    """Copies of clusters on other workers: of each cluster one less than `copies`.

    Raises
    ------
    InputError
        There are fewer workers than copies.
    """
    if copies > len(workers):
        raise InputError(
            f"copies must be at most {len(workers)}, the number of workers, got {copies}"
        )
    watch = Watch(client, "copying the graph", workers)
    found: list[list[Future]] = []
    for part, held in zip(parts, watch.holders(parts), strict=True):
        home = workers.index(held[0])
        # in a task of its own, which goes: Dask's memory manager may keep any one replica of a result
        leaving = pinned(client, workers[home], received, part)
        others = [workers[(home + i) % len(workers)] for i in range(1, copies)]
        found.append([pinned(client, other, received, leaving) for other in others])
    watch.wait([copy for row in found for copy in row])
    return found


def settle(parts: list[Any], homes: Sequence[str], watch: Watch) -> None:
    """Move clusters to the workers that are to hold them, where they are not there already."""
    client = watch.client
    moved = []
    for k, (home, held) in enumerate(zip(homes, watch.holders(parts), strict=True)):
        if home not in held:
            parts[k] = pinned(client, home, received, parts[k])
            moved.append(parts[k])
    if moved:
        watch.wait(moved)
