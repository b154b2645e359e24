"""Build the clusters of a graph in this process or on the workers of a Dask cluster.

The edge list comes in pieces. Without a client this process handles one piece after the other. With a
client the two steps of `construction.build` are tasks. A piece of a Dask collection is split on the worker
that computes it; pieces of NumPy arrays are sent to workers in turn, a limited number at a time. All shards
of a piece for one worker travel to it as one bundle, which it writes to its disk. Then it assembles the
clusters, some groups of them. So tasks and their dependencies grow with pieces times workers, and with
clusters, but not with pieces times clusters. Neither the client nor any single worker ever holds the graph,
and no process holds much more than what it has of the graph at the end.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from operator import getitem
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dgsuite.base.errors import WorkerLost
from dgsuite.base.memory import frugal
from dgsuite.base.telling import TOLD, tell
from dgsuite.partition.client.tasks import calls, computed, delayed, pinned, submitted
from dgsuite.partition.client.waiting import Watch, letting_go
from dgsuite.partition.client.workers import cluster_ranges, received, worker_addresses, worker_of
from dgsuite.partition.clusters.cluster import Cluster, Identify
from dgsuite.partition.clusters.partitioners import Partition
from dgsuite.partition.construction import build, grow
from dgsuite.partition.construction.build import Plan
from dgsuite.partition.construction.shards import Shard
from dgsuite.partition.construction.spool import Spool, spool
from dgsuite.partition.sources.duplicates import Tally, tallied
from dgsuite.partition.sources.edges import BUILDING, lazy, origins, slices
from dgsuite.partition.sources.piece import Piece, check_edges, losing, lost

if TYPE_CHECKING:
    from distributed import Client, Future

GROUPS = 4
"""Groups of a worker's clusters, at most, which its threads assemble side by side."""

SOME = 1 << 4
"""Pieces after which it is told how far construction is."""

SMALL = 1 << 17
"""Up to this many edges in NumPy arrays, this process builds the graph even if there is a client."""


Bundle = list[list[Shard | None]]
"""What a worker gets of a piece: for each part of it, a shard for each group of clusters."""


class Constructed(NamedTuple):
    """The clusters of a graph.

    Attributes
    ----------
    parts
        Clusters, or futures of them.
    entries
        Number of adjacency entries of each cluster.
    dtype
        Dtype of the weights, or None.
    tally
        What was counted before repeated edges were merged.
    """

    parts: list[Any]
    entries: list[int]
    dtype: np.dtype | None
    tally: Tally


def construct(
    pieces: list[Any],
    partition: Partition,
    uid: NDArray | Identify | None,
    plan: Plan,
    client: Client | None,
    workers: Sequence[str],
) -> Constructed:
    """Make all clusters.

    Parameters
    ----------
    pieces
        The edge list, from `edges.pieces`. Workers that split lazy pieces empty this list.

    Raises
    ------
    InputError
        An edge breaks a rule.
    RunError
        A worker was lost.
    """
    if uid is not None and not callable(uid) and partition.order is not None:
        uid = uid[partition.order]
    small = not any(map(lazy, pieces)) and sum(len(piece[0]) for piece in pieces) <= SMALL
    if client is not None and not small:
        with client.as_current(), _explain_lost_workers():
            return _construct_on_workers(pieces, partition, uid, plan, client, workers)
    (groups,) = _groups(partition.clusters, 1)
    file, bundles = spool(uuid.uuid4().hex), []
    for number, (piece, where) in enumerate(zip(pieces, origins(pieces), strict=True), 1):
        arrays = piece.compute(scheduler="threads") if lazy(piece) else piece
        for start, some in slices(arrays):
            found = build.split(some, partition, plan, groups, start, where)
            bundles.append([_kept(found, file)])
        del arrays
        tell(number, len(pieces))
    parts: list[Any] = []
    tallies: list[Tally] = []
    for g, (first, last) in enumerate(pairwise(groups)):
        ids = _of_range(uid, partition, first, last)
        made = _assemble(first, last, partition, ids, plan, g, bundles)
        parts += made
        tallies.append(made.tally)
    return Constructed(parts, *_facts([fact_of(part) for part in parts]), tallied(tallies))


def _groups(clusters: int, workers: int) -> list[list[int]]:
    """For each worker, the first cluster of each of its groups, and the end of the last one."""
    return [
        (first + cluster_ranges(last - first, GROUPS)).tolist()
        for first, last in pairwise(cluster_ranges(clusters, workers).tolist())
    ]


def _of_range(
    uid: NDArray | Identify | None, partition: Partition, first: int, last: int
) -> NDArray | Identify | None:
    """Identifiers, by position, of the nodes of some clusters."""
    if uid is None or callable(uid):
        return uid
    return uid[partition.offsets[first] : partition.offsets[last]]


@frugal
def _assemble(
    first: int,
    last: int,
    partition: Partition,
    uid: NDArray | Identify | None,
    plan: Plan,
    at: int,
    bundles: Sequence[Bundle],
) -> build.Assembled:
    """Make a group of clusters; its shards are number `at` of each part of each bundle."""
    shards = [part[at] for bundle in bundles for part in bundle]
    return build.assemble(first, last, partition, uid, plan, shards)


def fact_of(cluster: Cluster) -> tuple[int, np.dtype | None]:
    """Number of entries of a cluster, and dtype of the weights."""
    return len(cluster.indices), None if cluster.weights is None else cluster.weights.dtype


def _facts(facts: Sequence[tuple[int, np.dtype | None]]) -> tuple[list[int], np.dtype | None]:
    return [entries for entries, _ in facts], facts[0][1]


@letting_go()
def _construct_on_workers(
    pieces: list[Any],
    partition: Partition,
    uid: NDArray | Identify | None,
    plan: Plan,
    client: Client,
    workers: Sequence[str],
) -> Constructed:
    groups = _groups(partition.clusters, len(workers))
    watch = Watch(client, BUILDING, workers)
    everywhere = shared(partition, watch)
    how = everywhere, plan, groups, uuid.uuid4().hex
    if any(map(lazy, pieces)):
        rows = _split_lazy(pieces, how, watch)
    else:
        rows = _split_arrays(pieces, partition.n, how, watch)
    if TOLD.get() is not None:
        for at in range(0, len(rows), SOME):
            watch.wait([future for row in rows[at : at + SOME] for future in row])
            tell(min(at + SOME, len(rows)), len(rows))
    bundles = [list(column) for column in zip(*rows, strict=True)]
    del rows
    parts: list[Any] = []
    tallies: list[Tally] = []
    for worker, bounds, found in zip(workers, groups, bundles, strict=False):
        for g, (first, last) in enumerate(pairwise(bounds)):
            ids: Any = _of_range(uid, partition, first, last)
            if isinstance(ids, np.ndarray):
                ids = watch.scatter(ids, worker)
            args = (first, last, everywhere, ids, plan, g, found)
            group = pinned(client, worker, _assemble, *args)
            parts += members(client, worker, group, last - first)
            tallies.append(submitted(client, getattr, group, "tally"))
    del bundles, found, args, group
    return Constructed(parts, *_collect(client, parts, workers), tallied(watch.gather(tallies)))


def shared(partition: Partition, watch: Watch) -> Future:
    """A future of a partition, which is on a worker once: all clusters there refer to it.

    A map of all nodes is sent; blocks are the result of a task, which Dask can do again.
    """
    if partition.order is not None:
        return watch.scatter(partition)
    return submitted(watch.client, received, partition)


def members(client: Client, worker: str, group: Future, count: int) -> list[Future]:
    """The clusters of a group, which is a list on a worker."""
    return [pinned(client, worker, cluster, group, k) for k in range(count)]


def cluster(group: Sequence[Any], at: int) -> Cluster:
    """One of a group, as a task whose key says so."""
    return group[at]  # type: ignore[no-any-return]


How = tuple[Any, Plan, list[list[int]], str]
"""How pieces are split: by which partition and plan, for which groups of clusters of each worker, and in
which construction."""


def _split_lazy(pieces: list[Any], how: How, watch: Watch) -> list[list[Future]]:
    """Split pieces that are Delayed objects; returns the bundles of each piece, one a worker.

    Workers let go of what a piece is made of once it is split, since the list of them is emptied. They send
    and write bundles before they make more pieces.
    """
    split, starts = delayed(_split), origins(pieces)
    splits = computed(
        watch.client,
        [split(p, 0, at, *how) for p, at in zip(pieces, starts, strict=True)],
        priority=-1,
    )
    pieces.clear()
    return [_send(future, how, watch) for future in splits]


def _split_arrays(pieces: Sequence[Any], n: int, how: How, watch: Watch) -> list[list[Future]]:
    """As `_split_lazy`, of pieces that are arrays of this process."""
    small, workers = build.id_dtype(n), list(watch.workers)
    rows: list[list[Future]] = []
    for turn, (start, some) in enumerate(slices(pieces[0])):
        check_edges(some, n, start)  # before ids are converted to 32 bits
        src, dst, weights = some
        worker = workers[turn % len(workers)]
        piece = losing((src.astype(small), dst.astype(small), weights), lost(some))
        there = watch.scatter(piece, worker)
        split = pinned(watch.client, worker, _split, there, start, "", *how)
        rows.append(_send(split, how, watch))
        del piece, there, split
        if turn >= len(workers):  # limits the memory that unsplit pieces take
            watch.wait(rows[turn - len(workers)])
    return rows


@frugal
def _split(
    piece: Piece,
    start: int,
    where: str,
    partition: Partition,
    plan: Plan,
    groups: list[list[int]],
    construction: str,
) -> list[Bundle]:
    """Split a piece; for each worker, its bundle."""
    ranges = [0, *(end for bounds in groups for end in bounds[1:])]
    bundles: list[Bundle] = [[] for _ in groups]
    for at, some in slices(piece):
        made = build.split(some, partition, plan, ranges, start + at, where)
        shards = iter(_passing(made, spool(construction)))
        for bundle, bounds in zip(bundles, groups, strict=True):
            bundle.append([next(shards) for _ in bounds[1:]])
    return bundles


def _passing(shards: Sequence[Shard | None], file: Spool) -> list[Shard | None]:
    """Shards that are to be sent: they wait on disk where many do."""
    return list(shards) if file.passes(shards) else _kept(shards, file)


def _kept(shards: Sequence[Shard | None], file: Spool) -> list[Shard | None]:
    return [None if shard is None else shard.kept(file) for shard in shards]


@frugal
def _received(bundle: Bundle, construction: str) -> Bundle:
    """A bundle where it is assembled: on disk. Its sender may release it."""
    return [_kept(part, spool(construction)) for part in bundle]


def _send(split: Future, how: How, watch: Watch) -> list[Future]:
    """Send the bundles of a split piece to their workers."""
    client, workers = watch.client, list(watch.workers)[: len(how[2])]
    bundles = [submitted(client, getitem, split, w) for w in range(len(workers))]
    return [
        pinned(client, worker, _received, bundle, how[-1])
        for worker, bundle in zip(workers, bundles, strict=True)
    ]


@contextmanager
def _explain_lost_workers() -> Iterator[None]:
    """Replace Dask's various errors for a lost worker by `RunError`."""
    from distributed import CancelledError, KilledWorker
    from distributed.comm import CommClosedError

    try:
        yield
    except (CancelledError, CommClosedError, KilledWorker) as error:
        raise WorkerLost(f"{BUILDING}: a worker was lost ({type(error).__name__})") from error


def _collect(
    client: Client, parts: Sequence[Future], workers: Sequence[str]
) -> tuple[list[int], np.dtype | None]:
    """As `_facts`, of clusters on workers."""
    facts = [submitted(client, fact_of, part) for part in parts]
    return _facts(Watch(client, BUILDING, workers).gather(facts))


@letting_go()
def recut(
    parts: Sequence[Any],
    old: Partition,
    new: Partition,
    directed: bool,
    weight_dtype: DTypeLike | None,
    client: Client | None,
) -> tuple[list[Any], list[int]]:
    """Convert the clusters of one block partition to those of another, in this process or on workers.

    Returns
    -------
    parts
        The new clusters, or futures of them.
    entries
        Number of adjacency entries of each cluster.
    """
    call, everywhere = calls(client), new
    if client is not None:
        everywhere = shared(new, Watch(client, BUILDING, worker_addresses(client)))
    arguments = []
    for k in range(new.clusters):
        rows = [call(grow.cut, parts[i], a, b) for i, a, b in _spans(old, new, k)]
        arguments.append((k, everywhere, directed, weight_dtype, rows))
    return _made(grow.join, arguments, client)


def _made(
    function: Callable[..., Cluster], arguments: Sequence[Sequence[Any]], client: Client | None
) -> tuple[list[Any], list[int]]:
    """The clusters that a function makes, each where it is to be, and the entries of each."""
    if client is None:
        here = [function(*given) for given in arguments]
        return here, [len(part.indices) for part in here]
    workers = worker_addresses(client)
    with client.as_current(), _explain_lost_workers():
        there = [
            pinned(client, worker_of(k, len(arguments), workers), function, *given)
            for k, given in enumerate(arguments)
        ]
        return there, _collect(client, there, workers)[0]


@letting_go()
def exchange(
    parts: Sequence[Any],
    partition: Partition,
    piece: Callable[[Cluster], Piece],
    join: Callable[[Cluster, Cluster], Cluster],
    client: Client | None,
    disk: bool = False,
) -> tuple[list[Any], list[int]]:
    """Make each cluster anew from what all clusters have for it, in this process or on workers.

    Parameters
    ----------
    piece
        What a cluster has for all clusters: directed edges, of which each goes to the cluster of its source.
    join
        Makes the new cluster from the old one and one of the edges that it got.
    disk
        Whether clusters have their edges in mapped files.

    Returns
    -------
    parts
        The new clusters, or futures of them.
    entries
        Number of adjacency entries of each cluster.
    """
    pieces = [calls(client)(piece, part) for part in parts]
    got = of_clusters(pieces, partition, None, Plan(True, disk=disk), client).parts
    return _made(join, [*zip(parts, got, strict=True)], client)


def of_clusters(
    pieces: list[Any], partition: Partition, uid: NDArray | None, plan: Plan, client: Client | None
) -> Constructed:
    """As `construct`, of pieces that were made of clusters: futures, if these are on workers.

    It empties their list, so that workers let go of them.
    """
    if client is None:
        return construct(pieces, partition, uid, plan, None, [])
    from dask import delayed as as_delayed

    lazily = [*map(as_delayed, pieces)]
    pieces.clear()
    return construct(lazily, partition, uid, plan, client, worker_addresses(client))


def _spans(old: Partition, new: Partition, cluster: int) -> Iterator[tuple[int, int, int]]:
    """The old clusters that a new one is made from, each with its range of rows."""
    lo, hi = int(new.offsets[cluster]), int(new.offsets[cluster + 1])
    first = int(np.searchsorted(old.offsets, lo, side="right")) - 1
    last = int(np.searchsorted(old.offsets, hi, side="left"))
    for i in range(first, last):
        a, b = max(lo, int(old.offsets[i])), min(hi, int(old.offsets[i + 1]))
        if a < b:
            yield i, a, b


def gathered(parts: Sequence[Future], partition: Partition, client: Client) -> list[Cluster]:
    """Bring clusters into this process: those of a worker at once, since they share the partition."""
    bounds = cluster_ranges(len(parts), len(worker_addresses(client))).tolist()
    groups = [submitted(client, list, parts[a:b]) for a, b in pairwise(bounds)]
    found = Watch(client, "gathering the graph", inputs=parts).gather(groups)
    clusters: list[Cluster] = [cluster for group in found for cluster in group]
    for cluster in clusters:
        cluster.partition = partition
    return clusters
