"""An edge list in pieces, as a graph is built from it: arrays of this process, or tasks that make them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partition import build
from partition.errors import InputError
from partition.waiting import Watch

if TYPE_CHECKING:
    from distributed import Client

BUILDING = "building the graph"

PIECE = 1 << 19
"""Edges of a piece that is sent to a worker, or split at a time in this process: some 4 MiB."""


class Pieces(list):
    """An edge list in pieces: Delayed objects of (src, dst, weights or None)."""

    @classmethod
    def of(cls, make: Callable[[int, int], build.Piece], bounds: Iterable[int]) -> Pieces:
        """Pieces that a function makes, each of the numbers from one bound to the next."""
        from dask import delayed

        task = delayed(make, traverse=False)
        return cls(task(lo, hi) for lo, hi in pairwise(bounds))


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
    of_dask = [hasattr(a, "dask") for a in some]
    if not any(of_dask):
        return [build.as_piece(src, dst, weights)]
    if not all(of_dask):
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
        delayed(build.as_piece)(*piece, of_partition(i))
        for i, piece in enumerate(zip(*columns, strict=True))
    ]


def _frame_pieces(frame: Any) -> list[Any]:
    """Pieces of a Dask DataFrame, so that each partition is made once, not once a column."""
    from dask import delayed

    frame = frame[[c for c in ("src", "dst", "weight") if c in frame.columns]]
    return [delayed(_columns)(part, of_partition(i)) for i, part in enumerate(frame.to_delayed())]


def _columns(frame: Any, where: str) -> build.Piece:
    weights = frame["weight"] if "weight" in frame.columns else None
    return build.as_piece(frame["src"], frame["dst"], weights, where)


def of_partition(piece: int) -> str:
    return f"partition {piece}: "


def lazy(piece: Any) -> bool:
    return not isinstance(piece, tuple)


def slices(piece: build.Piece) -> Iterator[tuple[int, build.Piece]]:
    """A piece in smaller ones, with the number of the first edge of each."""
    src, dst, weights = piece
    for begin in range(0, len(src), PIECE) or (0,):
        some = slice(begin, begin + PIECE)
        yield begin, (src[some], dst[some], None if weights is None else weights[some])


def _each(
    function: Callable[[build.Piece, str], Any],
    merge: Callable[[list[Any]], Any],
    pieces: Sequence[Any],
    client: Client | None,
) -> Any:
    """A result of every piece, merged where they are: only one comes to this process."""
    if not any(map(lazy, pieces)):
        return merge([function(piece, "") for piece in pieces])
    from dask import delayed

    step = [delayed(function)(piece, of_partition(i)) for i, piece in enumerate(pieces)]
    while len(step) > 1:
        step = [delayed(merge)(step[i : i + 8]) for i in range(0, len(step), 8)]
    if client is not None:
        return Watch(client, BUILDING).gathered([client.compute(step[0])])[0]
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
