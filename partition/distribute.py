"""Building a graph where its edges are: in this process, or on the workers of a Dask cluster.

The edge list comes in pieces. In this process they are handled one after the other. With a client,
piece and cluster steps (`partition.build`) are tasks. A piece of a NumPy array is sent to a worker
when there is room for it, a piece of a Dask collection is where it is. Each is split by cluster, and
what it holds of a worker's clusters goes to that worker as one bundle; there the clusters are
assembled. Neither the client nor any one worker ever holds the graph.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from partition import build
from partition.cluster import Cluster, Identify
from partition.errors import InputError, RunError
from partition.partitioners import Partition

if TYPE_CHECKING:
    from distributed import Client, Future

PIECE = 1 << 19
"""Edges of a piece that is sent to a worker, or split at a time in this process: some 4 MiB."""

SMALL = 1 << 17
"""NumPy edges up to this many are built in this process also with a client."""

WATCH = 1.0
"""Seconds between looks at whether the workers are still there."""


class Pieces(list):
    """An edge list in pieces: Delayed objects of (src, dst, weights or None)."""

    @classmethod
    def of(cls, make: Callable[[int, int], build.Piece], bounds: Iterable[int]) -> Pieces:
        """Pieces that a function makes, each of the numbers from one bound to the next."""
        from dask import delayed

        task = delayed(make, traverse=False)
        return cls(task(lo, hi) for lo, hi in pairwise(bounds))


# ---- who builds


def current(client: Client | None) -> Client | None:
    """The client given, else the current one, else None."""
    if client is not None:
        return client
    if "distributed" not in sys.modules:
        return None
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        return None


def seen(client: Client) -> dict[str, Any]:
    """The workers that the scheduler knows, by address.

    Asked of the scheduler itself: ``client.scheduler_info()`` returns what the client last stored,
    which its own periodic update, without workers, may have overwritten in between.
    """
    identity = client.sync(client.scheduler.identity)  # type: ignore[union-attr]
    found: dict[str, Any] = identity["workers"]
    return found


def workers(client: Client) -> list[str]:
    """Addresses of the client's workers, in a fixed order.

    Raises
    ------
    InputError
        There are none.
    """
    info = seen(client)
    if not info:
        raise InputError(
            f"the scheduler at {client.scheduler.address} has no workers; start some first"  # type: ignore[union-attr]
        )
    return sorted(info, key=lambda address: (str(info[address]["name"]).zfill(8), address))


def runs(clusters: int, places: int) -> NDArray[np.int64]:
    """Which clusters each worker holds: runs of equally many, in order.

    Returns
    -------
    Shape (used + 1,): worker w holds clusters ``runs[w]`` to ``runs[w + 1]``; with fewer clusters
    than workers, only as many workers are used.
    """
    used = min(places, clusters)
    return np.arange(used + 1) * clusters // used


def home(cluster: int, clusters: int, places: Sequence[str]) -> str:
    """The worker that holds a cluster."""
    bounds = runs(clusters, len(places))
    return places[int(np.searchsorted(bounds, cluster, side="right")) - 1]


# ---- the edge list in pieces


def pieces(src: Any, dst: Any, weights: Any) -> list[Any]:
    """The edge list as pieces: one tuple of arrays, or Delayed objects of such tuples.

    Raises
    ------
    InputError
        Columns are missing, of different kinds, or not as long as each other.
    """
    if isinstance(src, Pieces):
        if dst is not None or weights is not None:
            raise InputError("an edge list in pieces has its own dst and weights")
        return src
    if dst is None:
        columns = getattr(src, "columns", None)
        if columns is None or not {"src", "dst"} <= set(columns):
            raise InputError("without dst, src must be a DataFrame with columns 'src' and 'dst'")
        if hasattr(src, "dask") and weights is None:
            return _frame_pieces(src)
        if weights is None and "weight" in columns:
            weights = src["weight"]
        src, dst = src["src"], src["dst"]
    some = [a for a in (src, dst, weights) if a is not None]
    lazy = [hasattr(a, "dask") for a in some]
    if not any(lazy):
        return [build.as_piece(src, dst, weights)]
    if not all(lazy):
        raise InputError("src, dst and weights must all be Dask collections, or none of them")
    return _lazy_pieces(src, dst, weights)


def _lazy_pieces(src: Any, dst: Any, weights: Any) -> list[Any]:
    from dask import delayed

    some = [a for a in (src, dst, weights) if a is not None]
    arrays = [hasattr(a, "chunks") for a in some]
    if any(arrays):
        if not all(arrays):
            raise InputError("src, dst and weights must all be Dask arrays, or all Dask Series")
        if any(a.ndim != 1 for a in some):
            raise InputError("src, dst and weights must be one-dimensional")
        known = all(np.isfinite(a.shape[0]) for a in some)
        if known and len({a.shape for a in some}) > 1:
            raise InputError(
                f"src, dst and weights must be as long as each other, "
                f"their shapes are {', '.join(str(a.shape) for a in some)}"
            )
        if known:
            some = [a.rechunk(src.chunks) for a in some]
    columns = [list(np.ravel(a.to_delayed())) for a in some]
    if len({len(c) for c in columns}) != 1:
        raise InputError("src, dst and weights must have the same Dask partitions")
    if weights is None:
        columns.append([None] * len(columns[0]))
    return [
        delayed(build.as_piece)(*piece, _where(i))
        for i, piece in enumerate(zip(*columns, strict=True))
    ]


def _frame_pieces(frame: Any) -> list[Any]:
    """Pieces of a Dask DataFrame, so that each partition is made once, not once a column."""
    from dask import delayed

    frame = frame[[c for c in ("src", "dst", "weight") if c in frame.columns]]
    return [delayed(_columns)(part, _where(i)) for i, part in enumerate(frame.to_delayed())]


def _columns(frame: Any, where: str) -> build.Piece:
    weights = frame["weight"] if "weight" in frame.columns else None
    return build.as_piece(frame["src"], frame["dst"], weights, where)


def _where(piece: int) -> str:
    return f"partition {piece}: "


def _lazy(piece: Any) -> bool:
    return not isinstance(piece, tuple)


def _slices(piece: build.Piece) -> Iterator[tuple[int, build.Piece]]:
    """A piece in smaller ones, with the number of the first edge of each."""
    src, dst, weights = piece
    for begin in range(0, len(src), PIECE) or (0,):
        some = slice(begin, begin + PIECE)
        yield begin, (src[some], dst[some], None if weights is None else weights[some])


# ---- small facts of all pieces


def _each(
    function: Callable[[build.Piece, str], Any],
    merge: Callable[[list[Any]], Any],
    pieces: Sequence[Any],
    client: Client | None,
) -> Any:
    """A result of every piece, merged where they are: only one comes to this process."""
    if not any(map(_lazy, pieces)):
        return merge([function(piece, "") for piece in pieces])
    from dask import delayed

    step = [delayed(function)(piece, _where(i)) for i, piece in enumerate(pieces)]
    while len(step) > 1:
        step = [delayed(merge)(step[i : i + 8]) for i in range(0, len(step), 8)]
    if client is not None:
        return client.compute(step[0]).result()
    return step[0].compute(scheduler="threads")


def _largest(piece: build.Piece, where: str) -> int:
    src, dst, _ = piece
    for name, ids in (("source", src), ("target", dst)):
        if not np.issubdtype(ids.dtype, np.integer):
            raise InputError(f"{where}edge {name}s must be integers, got dtype {ids.dtype}")
    return max((int(ids.max()) for ids in (src, dst) if len(ids)), default=-1)


def count_nodes(pieces: Sequence[Any], n: int | None, client: Client | None) -> int:
    """The number of nodes given, else one more than the largest id.

    Raises
    ------
    InputError
        The number is not one, or the graph would have no node.
    """
    if n is None:
        n = _each(_largest, max, pieces, client) + 1
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
        raise InputError(f"n must be a whole number of nodes, got {n!r}")
    if n == 0:
        raise InputError("a graph needs at least one node")
    if n > build.MOST_NODES:
        raise InputError(f"a graph can have {build.MOST_NODES} nodes at most, got {n}")
    return int(n)


def degrees(
    pieces: Sequence[Any], n: int, directed: bool, client: Client | None
) -> NDArray[np.int64]:
    """How many edge ends fall on each node, duplicates counted."""
    count = partial(build.degrees, n=n, directed=directed)
    counts: NDArray[np.int64] = _each(count, sum, pieces, client)
    return counts


# ---- construction


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
    small = not any(map(_lazy, pieces)) and sum(len(piece[0]) for piece in pieces) <= SMALL
    if client is not None and not small:
        with client.as_current(), _workers_stay():
            return _construct_on_workers(pieces, partition, own_uid, directed, client, places)
    whole = [0, partition.clusters]
    bundles = []
    for i, piece in enumerate(pieces):
        where = _where(i) if _lazy(piece) else ""
        arrays = piece.compute(scheduler="threads") if _lazy(piece) else piece
        for start, some in _slices(arrays):
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
    bounds = runs(partition.clusters, len(places)).tolist()
    # a map of all nodes travels once, not with every task
    by_map = partition.order is not None
    cuts = client.scatter([partition], broadcast=True, hash=False)[0] if by_map else partition
    deal = _deal_lazy if any(map(_lazy, pieces)) else _deal_arrays
    bundles = deal(pieces, cuts, partition.n, directed, bounds, client, places)
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
    n: int,
    directed: bool,
    bounds: list[int],
    client: Client,
    places: Sequence[str],
) -> list[list[Future]]:
    """For each worker the bundles of its clusters, of pieces that are tasks."""
    from dask import delayed

    split = delayed(build.split)
    splits = client.compute(
        [split(p, partition, directed, bounds, 0, _where(i)) for i, p in enumerate(pieces)]
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
    for turn, (start, some) in enumerate(_slices(pieces[0])):
        build.check_edges(some, n, start)  # before ids are cut to 32 bits
        src, dst, weights = some
        place = places[turn % len(places)]
        piece: build.Piece = (src.astype(small), dst.astype(small), weights)
        (there,) = client.scatter([piece], workers=[place], hash=False)
        split = _pinned(client, place, build.split, there, partition, directed, bounds, start)
        rows.append(_send(client, split, places[: len(bounds) - 1]))
        del there, split
        if turn >= len(places):
            settle(client, rows[turn - len(places)], places)
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
        raise RunError(
            f"a worker was lost while the graph was built ({type(error).__name__})"
        ) from error


def settle(client: Client, futures: Sequence[Future], places: Sequence[str]) -> None:
    """Wait for tasks that are tied to workers.

    Raises
    ------
    RunError
        A worker has gone: tasks that are tied to it would wait for ever.
    Exception
        What a task raised.
    """
    from distributed import wait

    waiting = list(futures)
    while waiting:
        try:
            waiting = list(wait(waiting, timeout=WATCH, return_when="FIRST_COMPLETED").not_done)
        except TimeoutError:
            if client.status != "running":
                raise RunError("the scheduler was lost while the graph was built") from None
            lost = set(places) - set(seen(client))
            if lost:
                raise RunError(
                    f"worker {', '.join(sorted(lost))} was lost while the graph was built"
                ) from None
        for future in futures:
            if future.status == "error":
                future.result()
            if future.status not in ("pending", "finished"):
                raise RunError("data was lost with its worker while the graph was built")


def _collect(
    client: Client,
    function: Callable[[Cluster], Any],
    parts: Sequence[Future],
    places: Sequence[str],
) -> list[Any]:
    """A small fact of every cluster."""
    facts = [client.submit(function, part, pure=False) for part in parts]
    settle(client, facts, places)
    found: list[Any] = client.gather(facts)
    return found


# ---- other cuts


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
    client = client or parts[0].client
    places = workers(client)
    there = []
    with _workers_stay():
        for k in range(new.clusters):
            rows = [
                client.submit(build.cut, parts[i], a, b, pure=False)
                for i, a, b in _spans(old, new, k)
            ]
            place = home(k, new.clusters, places)
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
