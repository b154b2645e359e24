"""Clusters that were lost with their worker are made again on the workers that are left.

A cluster comes back in one of two ways, tried in this order:

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
    from dgsuite.partition.graph.data import GraphData


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
    """Replace the clusters of a list that were lost.

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
    watch = Watch(client, "recovering the graph", workers)
    lost = [k for k, part in enumerate(parts) if not there(part)]
    gone = set(Session.of(client).ask("dgsuite_hopeless", keys=[parts[k].key for k in lost]))
    rest = [k for k in lost if parts[k].key in gone]
    if rest and graph.saved is not None:
        try:
            homes = [worker_of(k, len(parts), workers) for k in rest]
            read = storage.read_again(graph.saved, graph.partition, rest, client, homes)
        except InputError as error:
            raise _for_good(rest[0], f"from what was saved: {error}") from error
        for k, part in zip(rest, read, strict=True):
            parts[k] = part
    elif rest:
        raise _for_good(rest[0], "what it was made from is not kept")
    with watch.explain_errors():
        again = [parts[k] for k in lost]
        watch.wait(again)
        lengths = watch.gather([submitted(client, fact_of, part) for part in again])
    for k, (length, _) in zip(lost, lengths, strict=True):
        if length != graph.entries[k]:
            what = f"with {length} entries instead of {graph.entries[k]}: its source has changed"
            raise _for_good(k, what)


def _for_good(k: int, what: str) -> RunError:
    return RunError(
        f"cluster {k} of the graph was lost with its worker, {what}; build the graph again; one that was "
        f"saved comes back by itself"
    )


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
