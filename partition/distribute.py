"""Building a graph where its edges are: in this process, or on the workers of a Dask cluster.

The edge list comes in pieces. In this process they are handled one after the other. With a client,
piece and cluster steps (`partition.build`) are tasks: pieces go to the workers one at a time,
each is split there by cluster, and each cluster is assembled on the worker that will hold it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from partition import build
from partition.cluster import Cluster
from partition.errors import InputError
from partition.partitioners import Partition

if TYPE_CHECKING:
    from distributed import Client

PIECE = 1 << 20
"""Edges of a piece that is sent to a worker: 8 to 16 MiB."""


class Pieces(list):
    """An edge list in pieces: Delayed objects of (src, dst, weights or None)."""


def current(client: Client | None) -> Client | None:
    """The client given, else the current one, else None."""
    if client is not None:
        return client
    import sys

    if "distributed" not in sys.modules:
        return None
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        return None


def workers(client: Client) -> list[str]:
    """Addresses of the client's workers, in a fixed order."""
    info = client.scheduler_info(n_workers=-1)["workers"]
    if not info:
        raise InputError(
            f"the scheduler at {client.scheduler.address} has no workers; start some first"  # type: ignore[union-attr]
        )
    return sorted(info, key=lambda address: (str(info[address]["name"]).zfill(8), address))


def home(cluster: int, clusters: int, places: Sequence[str]) -> str:
    """The worker that holds a cluster: runs of equally many clusters, in order."""
    used = min(len(places), clusters)
    bounds = np.arange(used + 1) * clusters // used
    return places[int(np.searchsorted(bounds, cluster, side="right")) - 1]


def pieces(src: Any, dst: Any, weights: Any) -> list[Any]:
    """The edge list as pieces: tuples of arrays, or Delayed objects of such tuples."""
    if isinstance(src, Pieces):
        return src
    if dst is None:
        columns = getattr(src, "columns", None)
        if columns is None or not {"src", "dst"} <= set(columns):
            raise InputError("without dst, src must be a DataFrame with columns 'src' and 'dst'")
        if weights is None and "weight" in columns:
            weights = src["weight"]
        src, dst = src["src"], src["dst"]
    some = [a for a in (src, dst, weights) if a is not None]
    lazy = [hasattr(a, "dask") for a in some]
    if any(lazy):
        if not all(lazy):
            raise InputError("src, dst and weights must all be Dask collections, or none of them")
        return _lazy_pieces(src, dst, weights)
    src, dst = np.asarray(src), np.asarray(dst)
    weights = None if weights is None else np.asarray(weights)
    lengths = {name: len(a) for name, a in (("src", src), ("dst", dst)) if a.ndim == 1}
    if weights is not None:
        lengths["weights"] = len(weights)
    if len(set(lengths.values())) != 1 or len(lengths) < 2:
        raise InputError(f"src, dst and weights must be as long as each other, got {lengths}")
    if not len(src):
        src, dst = src.astype(np.int64), dst.astype(np.int64)
    return [(src, dst, weights)]


def _lazy_pieces(src: Any, dst: Any, weights: Any) -> list[Any]:
    from dask import delayed

    def parts(collection: Any) -> list[Any]:
        return list(np.ravel(collection.to_delayed()))

    if hasattr(src, "chunks"):
        dst = dst.rechunk(src.chunks)
        weights = None if weights is None else weights.rechunk(src.chunks)
    columns = [parts(src), parts(dst)]
    columns.append([None] * len(columns[0]) if weights is None else parts(weights))
    if len({len(c) for c in columns}) != 1:
        raise InputError("src, dst and weights must have the same Dask partitions")
    return [delayed(_arrays)(*piece) for piece in zip(*columns, strict=True)]


def _arrays(src: Any, dst: Any, weights: Any) -> build.Piece:
    src, dst = np.asarray(src), np.asarray(dst)
    if len(src) != len(dst) or (weights is not None and len(weights) != len(src)):
        raise InputError("src, dst and weights must be as long as each other in every partition")
    if not len(src):
        src, dst = src.astype(np.int64), dst.astype(np.int64)
    return src, dst, None if weights is None else np.asarray(weights)


def _each(function: Callable[..., Any], pieces: Sequence[Any], client: Client | None) -> list[Any]:
    """A small result of every piece."""
    if client is None:
        return [function(_compute(piece)) for piece in pieces]
    from dask import delayed

    results: list[Any] = client.gather(
        client.compute([delayed(function)(p) if _lazy(p) else _done(function(p)) for p in pieces])
    )
    return results


def _done(value: Any) -> Any:
    from dask import delayed

    return delayed(value, traverse=False)


def _lazy(piece: Any) -> bool:
    return not isinstance(piece, tuple)


def _compute(piece: Any) -> build.Piece:
    if not _lazy(piece):
        return piece  # type: ignore[no-any-return]
    arrays: build.Piece = piece.compute(scheduler="threads")
    return arrays


def _largest(piece: build.Piece) -> int:
    src, dst, _ = piece
    return max(int(src.max(initial=-1)), int(dst.max(initial=-1)))


def _length(piece: build.Piece) -> int:
    return len(piece[0])


def count_nodes(pieces: Sequence[Any], n: int | None, client: Client | None) -> int:
    """The number of nodes given, else one more than the largest id."""
    if n is None:
        n = max(_each(_largest, pieces, client), default=-1) + 1
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
        raise InputError(f"n must be a whole number of nodes, got {n!r}")
    if n == 0:
        raise InputError("a graph needs at least one node")
    return int(n)


def degrees(
    pieces: Sequence[Any], n: int, directed: bool, client: Client | None
) -> NDArray[np.int64]:
    """How many edge ends fall on each node, duplicates counted."""

    def count(piece: build.Piece) -> NDArray[np.int64]:
        build.check_edges(*piece, n, 0)
        return build.degrees(piece, n, directed)

    return np.sum(_each(count, pieces, client), axis=0)  # type: ignore[no-any-return]


def construct(
    pieces: Sequence[Any],
    partition: Partition,
    uid: NDArray | None,
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
    """
    own_uid = [None if uid is None else uid[partition.nodes(k)] for k in range(partition.clusters)]
    small = not any(_lazy(p) for p in pieces) and sum(_length(p) for p in pieces) < PIECE // 8
    if client is None or small:
        split, start = [], 0
        for piece in map(_compute, pieces):
            split.append(build.split(piece, partition, directed, start))
            start += _length(piece)
        parts = [
            build.assemble(k, partition, own_uid[k], directed, [shards[k] for shards in split])
            for k in range(partition.clusters)
        ]
        facts = [_facts(part) for part in parts]
        return parts, [entries for entries, _ in facts], facts[0][1]
    with client.as_current():
        return _construct_on_workers(pieces, partition, own_uid, directed, client, places)


def _facts(cluster: Cluster) -> tuple[int, DTypeLike | None]:
    return len(cluster.indices), None if cluster.weights is None else cluster.weights.dtype


def _construct_on_workers(
    pieces: Sequence[Any],
    partition: Partition,
    uid: Sequence[NDArray | None],
    directed: bool,
    client: Client,
    places: Sequence[str],
) -> tuple[list[Any], list[int], DTypeLike | None]:
    from distributed import wait

    def pinned(cluster: int) -> dict[str, Any]:
        return {
            "workers": [home(cluster, partition.clusters, places)],
            "allow_other_workers": False,
            "pure": False,
        }

    split, start, turn = [], 0, 0
    small = build.id_dtype(partition.n)
    for piece in pieces:
        if _lazy(piece):
            split.append(client.submit(build.split, client.compute(piece), partition, directed))
            continue
        src, dst, weights = piece
        build.check_edges(src, dst, weights, partition.n, 0)
        for begin in range(0, len(src), PIECE):
            some = slice(begin, begin + PIECE)
            part = (
                src[some].astype(small),
                dst[some].astype(small),
                None if weights is None else weights[some],
            )
            place = [places[turn % len(places)]]
            turn += 1
            there = client.scatter([part], workers=place, direct=False, hash=False)
            split.append(
                client.submit(
                    build.split, there[0], partition, directed, start + begin,
                    workers=place, pure=False,
                )
            )  # fmt: skip
            del there
            wait(split[-1])
        start += len(src)
    parts = []
    for k in range(partition.clusters):
        shards = [client.submit(itemgetter(k), s, pure=False, key=None) for s in split]
        parts.append(
            client.submit(
                build.assemble, k, partition, uid[k], directed, shards, **pinned(k)
            )
        )  # fmt: skip
        del shards
    del split
    facts = client.gather([client.submit(_facts, p, pure=False) for p in parts])
    return parts, [entries for entries, _ in facts], facts[0][1]


def recut(
    parts: Sequence[Any],
    old: Partition,
    new: Partition,
    directed: bool,
    client: Client | None,
) -> tuple[list[Any], list[int]]:
    """Cut clusters of one block partition into those of another."""
    local = all(isinstance(part, Cluster) for part in parts)
    if not local:
        client = current(client) or parts[0].client
        places = workers(client)
    out = []
    for k in range(new.clusters):
        lo, hi = int(new.offsets[k]), int(new.offsets[k + 1])
        spans = [
            (i, max(lo, int(old.offsets[i])), min(hi, int(old.offsets[i + 1])))
            for i in range(old.clusters)
        ]
        spans = [(i, a, b) for i, a, b in spans if a < b]
        if local:
            rows = [build.cut(parts[i], a, b) for i, a, b in spans]
            out.append(build.join(k, new, directed, rows))
        else:
            assert client is not None
            futures = [client.submit(build.cut, parts[i], a, b, pure=False) for i, a, b in spans]
            out.append(
                client.submit(
                    build.join, k, new, directed, futures, pure=False,
                    workers=[home(k, new.clusters, places)], allow_other_workers=False,
                )
            )  # fmt: skip
    if local:
        return out, [len(c.indices) for c in out]
    assert client is not None
    facts = client.gather([client.submit(_facts, p, pure=False) for p in out])
    return out, [entries for entries, _ in facts]
