"""Building a graph where its edges are: in this process, or on the workers of a Dask cluster.

The edge list comes in pieces. In this process they are handled one after the other. With a client,
piece and cluster steps (`partition.build`) are tasks. A piece of a NumPy array is sent to a worker
when there is room for it, a piece of a Dask collection is where it is. Each is split by cluster, and
what it holds of a worker's clusters goes to that worker as one bundle; there the clusters are
assembled. Neither the client nor any one worker ever holds the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from partition import build
from partition.client.waiting import Watch
from partition.client.workers import cluster_ranges, worker_addresses, worker_of
from partition.cluster import Cluster, Identify
from partition.edges import BUILDING, lazy, of_partition, slices
from partition.errors import RunError
from partition.partitioners import Partition

if TYPE_CHECKING:
    from distributed import Client, Future

SMALL = 1 << 17
"""NumPy edges up to this many are built in this process also with a client."""


def construct(
    pieces: Sequence[Any],
    partition: Partition,
    uid: NDArray | Identify | None,
    directed: bool,
    client: Client | None,
    places: Sequence[str],
) -> tuple[list[Any], list[int], DTypeLike | None]:
    """Make all clusters.

    Returns
    -------
    parts
        Clusters, or futures of them.
    entries
        Number of adjacency entries of each.
    dtype
        Of the weights, or None.

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
        with client.as_current(), _workers_stay():
            return _construct_on_workers(pieces, partition, own_uid, directed, client, places)
    whole = [0, partition.clusters]
    bundles = []
    for i, piece in enumerate(pieces):
        where = of_partition(i) if lazy(piece) else ""
        arrays = piece.compute(scheduler="threads") if lazy(piece) else piece
        for start, some in slices(arrays):
            bundles += build.split(some, partition, directed, whole, start, where)
    parts = [
        _assemble(k, partition, own_uid[k], directed, k, bundles) for k in range(partition.clusters)
    ]
    return parts, *_facts([_fact(part) for part in parts])


def _assemble(
    index: int,
    partition: Partition,
    uid: NDArray | Identify | None,
    directed: bool,
    place: int,
    bundles: Sequence[list[build.Shard] | None],
) -> Cluster:
    """Make a cluster of bundles in which its shards have the given place."""
    shards = [None if bundle is None else bundle[place] for bundle in bundles]
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
    places: Sequence[str],
) -> tuple[list[Any], list[int], DTypeLike | None]:
    bounds = cluster_ranges(partition.clusters, len(places)).tolist()
    # a map of all nodes travels once, not with every task
    by_map = partition.order is not None
    cuts = client.scatter([partition], broadcast=True, hash=False)[0] if by_map else partition
    if any(map(lazy, pieces)):
        bundles = _deal_lazy(pieces, cuts, directed, bounds, client, places)
    else:
        bundles = _deal_arrays(pieces, cuts, partition.n, directed, bounds, client, places)
    parts = []
    for run, (first, last) in enumerate(pairwise(bounds)):
        for k in range(first, last):
            ids = uid[k]
            if ids is not None and not callable(ids):
                (ids,) = client.scatter([ids], workers=[places[run]], hash=False)
            args = (k, cuts, ids, directed, k - first, bundles[run])
            parts.append(_pinned(client, places[run], _assemble, *args))
    del bundles, args
    return parts, *_facts(_collect(client, _fact, parts, places))


def _deal_lazy(
    pieces: Sequence[Any],
    partition: Any,
    directed: bool,
    bounds: list[int],
    client: Client,
    places: Sequence[str],
) -> list[list[Future]]:
    """For each worker the bundles of its clusters, of pieces that are tasks."""
    from dask import delayed

    split = delayed(build.split)
    splits = client.compute(
        [split(p, partition, directed, bounds, 0, of_partition(i)) for i, p in enumerate(pieces)]
    )
    rows = [_send(client, future, places[: len(bounds) - 1]) for future in splits]
    return [list(column) for column in zip(*rows, strict=True)]


def _deal_arrays(
    pieces: Sequence[Any],
    partition: Any,
    n: int,
    directed: bool,
    bounds: list[int],
    client: Client,
    places: Sequence[str],
) -> list[list[Future]]:
    """For each worker the bundles of its clusters, of arrays that are in this process."""
    small = build.id_dtype(n)
    rows: list[list[Future]] = []
    for turn, (start, some) in enumerate(slices(pieces[0])):
        build.check_edges(some, n, start)  # before ids are cut to 32 bits
        src, dst, weights = some
        place = places[turn % len(places)]
        piece: build.Piece = (src.astype(small), dst.astype(small), weights)
        (there,) = client.scatter([piece], workers=[place], hash=False)
        split = _pinned(client, place, build.split, there, partition, directed, bounds, start)
        rows.append(_send(client, split, places[: len(bounds) - 1]))
        del there, split
        if turn >= len(places):
            Watch(client, BUILDING, places).wait_or_raise(rows[turn - len(places)])
    return [list(column) for column in zip(*rows, strict=True)]


def _send(client: Client, split: Future, places: Sequence[str]) -> list[Future]:
    """Send a split piece's bundles to their workers."""
    bundles = [client.submit(itemgetter(run), split, pure=False) for run in range(len(places))]
    # a task of its own at the receiver, so that the bundle is released at the sender
    return [
        _pinned(client, place, _same, bundle) for place, bundle in zip(places, bundles, strict=True)
    ]


def _same(item: Any) -> Any:
    return item


def _pinned(client: Client, place: str, function: Callable[..., Any], *args: Any) -> Future:
    return client.submit(function, *args, workers=[place], allow_other_workers=False, pure=False)


@contextmanager
def _workers_stay() -> Iterator[None]:
    """Say so in the many ways Dask has of saying that a worker went."""
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
    places: Sequence[str],
) -> list[Any]:
    """A small fact of every cluster."""
    facts = [client.submit(function, part, pure=False) for part in parts]
    return Watch(client, BUILDING, places).gather(facts)


def recut(
    parts: Sequence[Any],
    old: Partition,
    new: Partition,
    directed: bool,
    weight_dtype: DTypeLike | None,
    client: Client | None,
) -> tuple[list[Any], list[int]]:
    """Cut clusters of one block partition into those of another, where they are.

    Returns
    -------
    parts
        The new clusters, or futures of them.
    entries
        Number of adjacency entries of each.
    """
    options = (new, directed, weight_dtype)
    if all(isinstance(part, Cluster) for part in parts):
        here = [
            build.join(k, *options, [build.cut(parts[i], a, b) for i, a, b in _spans(old, new, k)])
            for k in range(new.clusters)
        ]
        return here, [len(part.indices) for part in here]
    assert client is not None
    places = worker_addresses(client)
    there = []
    with _workers_stay():
        for k in range(new.clusters):
            rows = [
                client.submit(build.cut, parts[i], a, b, pure=False)
                for i, a, b in _spans(old, new, k)
            ]
            place = worker_of(k, new.clusters, places)
            there.append(_pinned(client, place, build.join, k, *options, rows))
        return there, _collect(client, _length, there, places)


def _length(cluster: Cluster) -> int:
    return len(cluster.indices)


def _spans(old: Partition, new: Partition, cluster: int) -> Iterator[tuple[int, int, int]]:
    """Which rows of which old clusters make a new one."""
    lo, hi = int(new.offsets[cluster]), int(new.offsets[cluster + 1])
    first = int(np.searchsorted(old.offsets, lo, side="right")) - 1
    last = int(np.searchsorted(old.offsets, hi, side="left"))
    for i in range(first, last):
        a, b = max(lo, int(old.offsets[i])), min(hi, int(old.offsets[i + 1]))
        if a < b:
            yield i, a, b
