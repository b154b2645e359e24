"""Build the clusters of a graph in this process or on the workers of a Dask cluster.

The edge list comes in pieces. Without a client this process handles one piece after the other. With a
client the two steps of `partition.build` are tasks. A piece of a Dask collection is split on the worker
that computes it; pieces of NumPy arrays are sent to workers in turn, a limited number at a time. All shards
of a piece for the clusters of one worker travel to it as one bundle, and that worker assembles the
clusters. Neither the client nor any single worker ever holds the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from partition import build
from partition.client.waiting import Watch
from partition.client.workers import cluster_ranges, pinned, worker_addresses, worker_of
from partition.cluster import Cluster, Identify
from partition.edges import BUILDING, lazy, of_partition, slices
from partition.errors import RunError
from partition.partitioners import Partition
from partition.piece import Piece, check_edges

if TYPE_CHECKING:
    from distributed import Client, Future

SMALL = 1 << 17
"""Up to this many edges in NumPy arrays, this process builds the graph even if there is a client."""


def construct(
    pieces: Sequence[Any],
    partition: Partition,
    uid: NDArray | Identify | None,
    directed: bool,
    client: Client | None,
    workers: Sequence[str],
) -> tuple[list[Any], list[int], DTypeLike | None]:
    """Make all clusters.

    Returns
    -------
    parts
        Clusters, or futures of them.
    entries
        Number of adjacency entries of each cluster.
    dtype
        Dtype of the weights, or None.

    Raises
    ------
    InputError
        An edge breaks a rule.
    RunError
        A worker was lost.
    """
    own_uid = [
        uid if uid is None or callable(uid) else uid[partition.nodes(k)]
        for k in range(partition.clusters)
    ]
    small = not any(map(lazy, pieces)) and sum(len(piece[0]) for piece in pieces) <= SMALL
    if client is not None and not small:
        with client.as_current(), _explain_lost_workers():
            return _construct_on_workers(pieces, partition, own_uid, directed, client, workers)
    everything = [0, partition.clusters]
    bundles = []
    for i, piece in enumerate(pieces):
        where = of_partition(i) if lazy(piece) else ""
        arrays = piece.compute(scheduler="threads") if lazy(piece) else piece
        for start, some in slices(arrays):
            bundles += build.split(some, partition, directed, everything, start, where)
    parts = [
        _assemble(k, partition, own_uid[k], directed, k, bundles) for k in range(partition.clusters)
    ]
    return parts, *_facts([_fact(part) for part in parts])


def _assemble(
    index: int,
    partition: Partition,
    uid: NDArray | Identify | None,
    directed: bool,
    at: int,
    bundles: Sequence[list[build.Shard] | None],
) -> Cluster:
    """Make a cluster; its shard is number `at` of each bundle."""
    shards = [None if bundle is None else bundle[at] for bundle in bundles]
    return build.assemble(index, partition, uid, directed, shards)


def _fact(cluster: Cluster) -> tuple[int, DTypeLike | None]:
    return len(cluster.indices), None if cluster.weights is None else cluster.weights.dtype


def _facts(facts: Sequence[tuple[int, DTypeLike | None]]) -> tuple[list[int], DTypeLike | None]:
    return [entries for entries, _ in facts], facts[0][1]


def _construct_on_workers(
    pieces: Sequence[Any],
    partition: Partition,
    uid: Sequence[NDArray | Identify | None],
    directed: bool,
    client: Client,
    workers: Sequence[str],
) -> tuple[list[Any], list[int], DTypeLike | None]:
    ranges = cluster_ranges(partition.clusters, len(workers)).tolist()
    # a map of all nodes is sent once, not with every task
    by_map = partition.order is not None
    watch = Watch(client, BUILDING, workers)
    shared = watch.scatter(partition) if by_map else partition
    if any(map(lazy, pieces)):
        bundles = _split_lazy(pieces, shared, directed, ranges, client, workers)
    else:
        bundles = _split_arrays(pieces, shared, partition.n, directed, ranges, client, workers)
    parts = []
    for w, (first, last) in enumerate(pairwise(ranges)):
        for k in range(first, last):
            ids = uid[k]
            if ids is not None and not callable(ids):
                ids = watch.scatter(ids, workers[w])
            args = (k, shared, ids, directed, k - first, bundles[w])
            parts.append(pinned(client, workers[w], _assemble, *args))
    del bundles, args
    return parts, *_facts(_collect(client, _fact, parts, workers))


def _split_lazy(
    pieces: Sequence[Any],
    partition: Any,
    directed: bool,
    ranges: list[int],
    client: Client,
    workers: Sequence[str],
) -> list[list[Future]]:
    """Split pieces that are Delayed objects; returns the bundles of each worker."""
    from dask import delayed

    split = delayed(build.split)
    splits = client.compute(
        [split(p, partition, directed, ranges, 0, of_partition(i)) for i, p in enumerate(pieces)]
    )
    rows = [_send(client, future, workers[: len(ranges) - 1]) for future in splits]
    return [list(column) for column in zip(*rows, strict=True)]


def _split_arrays(
    pieces: Sequence[Any],
    partition: Any,
    n: int,
    directed: bool,
    ranges: list[int],
    client: Client,
    workers: Sequence[str],
) -> list[list[Future]]:
    """Split pieces that are arrays of this process; returns the bundles of each worker."""
    watch = Watch(client, BUILDING, workers)
    small = build.id_dtype(n)
    rows: list[list[Future]] = []
    for turn, (start, some) in enumerate(slices(pieces[0])):
        check_edges(some, n, start)  # before ids are converted to 32 bits
        src, dst, weights = some
        worker = workers[turn % len(workers)]
        piece: Piece = (src.astype(small), dst.astype(small), weights)
        there = watch.scatter(piece, worker)
        split = pinned(client, worker, build.split, there, partition, directed, ranges, start)
        rows.append(_send(client, split, workers[: len(ranges) - 1]))
        del there, split
        if turn >= len(workers):  # limits the memory that unsplit pieces take
            watch.wait_or_raise(rows[turn - len(workers)])
    return [list(column) for column in zip(*rows, strict=True)]


def _send(client: Client, split: Future, workers: Sequence[str]) -> list[Future]:
    """Send the bundles of a split piece to their workers."""
    bundles = [client.submit(_bundle, split, w, pure=False) for w in range(len(workers))]
    # an extra task at the receiver, so that the sender releases the bundle
    return [
        pinned(client, worker, _received, bundle)
        for worker, bundle in zip(workers, bundles, strict=True)
    ]


def _bundle(split: list[Any], worker: int) -> Any:
    return split[worker]


def _received(bundle: Any) -> Any:
    return bundle


@contextmanager
def _explain_lost_workers() -> Iterator[None]:
    """Replace Dask's various errors for a lost worker by `RunError`."""
    from distributed import CancelledError, KilledWorker
    from distributed.comm import CommClosedError

    try:
        yield
    except (CancelledError, CommClosedError, KilledWorker) as error:
        raise RunError(f"{BUILDING}: a worker was lost ({type(error).__name__})") from error


def _collect(
    client: Client,
    function: Callable[[Cluster], Any],
    parts: Sequence[Future],
    workers: Sequence[str],
) -> list[Any]:
    """Results of a function of every cluster, computed where the cluster is."""
    facts = [client.submit(function, part, pure=False) for part in parts]
    return Watch(client, BUILDING, workers).gather(facts)


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
    options = (new, directed, weight_dtype)
    if all(isinstance(part, Cluster) for part in parts):
        here = [
            build.join(k, *options, [build.cut(parts[i], a, b) for i, a, b in _spans(old, new, k)])
            for k in range(new.clusters)
        ]
        return here, [len(part.indices) for part in here]
    assert client is not None
    workers = worker_addresses(client)
    there = []
    with _explain_lost_workers():
        for k in range(new.clusters):
            rows = [
                client.submit(build.cut, parts[i], a, b, pure=False)
                for i, a, b in _spans(old, new, k)
            ]
            worker = worker_of(k, new.clusters, workers)
            there.append(pinned(client, worker, build.join, k, *options, rows))
        return there, _collect(client, _length, there, workers)


def exchange(
    parts: Sequence[Any],
    split: Callable[[Cluster, Sequence[int]], list[list[Any]]],
    join: Callable[[Cluster, list[Any]], Cluster],
    client: Client | None,
) -> tuple[list[Any], list[int]]:
    """Make each cluster anew from what all clusters have for it, in this process or on workers.

    Parameters
    ----------
    split
        What a cluster has for all clusters, by range of clusters (as for `build.split`).
    join
        Makes the new cluster from the old one and what it got, in the order of the clusters.

    Returns
    -------
    parts
        The new clusters, or futures of them.
    entries
        Number of adjacency entries of each cluster.
    """
    count = len(parts)
    if client is None:
        bundles = [split(part, [0, count])[0] for part in parts]
        here = [join(part, [bundle[k] for bundle in bundles]) for k, part in enumerate(parts)]
        return here, [len(part.indices) for part in here]
    workers = worker_addresses(client)
    ranges = cluster_ranges(count, len(workers)).tolist()
    there = []
    with client.as_current(), _explain_lost_workers():
        splits = [client.submit(split, part, ranges, pure=False) for part in parts]
        sent = [_send(client, future, workers[: len(ranges) - 1]) for future in splits]
        del splits
        for w, (first, last) in enumerate(pairwise(ranges)):
            bundles = [row[w] for row in sent]
            for k in range(first, last):
                args = (join, parts[k], k - first, bundles)
                there.append(pinned(client, workers[w], _joined, *args))
        del sent, bundles, args
        return there, _collect(client, _length, there, workers)


def _joined(join: Callable[..., Cluster], part: Cluster, at: int, bundles: list[Any]) -> Cluster:
    """A cluster from the old one and number `at` of each bundle."""
    return join(part, [bundle[at] for bundle in bundles])


def _length(cluster: Cluster) -> int:
    return len(cluster.indices)


def _spans(old: Partition, new: Partition, cluster: int) -> Iterator[tuple[int, int, int]]:
    """The old clusters that a new one is made from, each with its range of rows."""
    lo, hi = int(new.offsets[cluster]), int(new.offsets[cluster + 1])
    first = int(np.searchsorted(old.offsets, lo, side="right")) - 1
    last = int(np.searchsorted(old.offsets, hi, side="left"))
    for i in range(first, last):
        a, b = max(lo, int(old.offsets[i])), min(hi, int(old.offsets[i + 1]))
        if a < b:
            yield i, a, b
