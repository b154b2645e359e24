"""An edge list in pieces, as a graph is built from it: arrays of this process, or tasks that make them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partition import build
from partition.client.waiting import Watch
from partition.errors import InputError

if TYPE_CHECKING:
    from distributed import Client

BUILDING = "building the graph"

PIECE = 1 << 19
"""Edges of a piece that is sent to a worker, or split at a time in this process: some 4 MiB."""

SPARSE = 64
SMALL_RANGE = 1 << 20
"""Most nodes of a graph whose `n` is not given: ``SPARSE * edges + SMALL_RANGE``. With more, its ids are
probably identifiers, and most of its nodes would have no edge."""

COLUMNS = ("src", "dst", "weight")
"""Names of a dataframe's columns, unless others are given: sources, targets, and weights if it has any."""


class Pieces(list):
    """An edge list in pieces: Delayed objects of (src, dst, weights or None)."""

    @classmethod
    def of(cls, make: Callable[[int, int], build.Piece], bounds: Iterable[int]) -> Pieces:
        """Pieces that a function makes, each of the numbers from one bound to the next."""
        from dask import delayed

        task = delayed(make, traverse=False)
        return cls(task(lo, hi) for lo, hi in pairwise(bounds))


def pieces(src: Any, dst: Any, weights: Any, columns: tuple[str, str, str] = COLUMNS) -> list[Any]:
    """The edge list as pieces: one tuple of arrays, or Delayed objects of such tuples.

    Parameters
    ----------
    columns
        Names of the columns, if `src` is a dataframe.

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
        named = chosen(src, columns)
        if hasattr(src, "dask") and weights is None:
            return _frame_pieces(src, named)
        if weights is None and len(named) == 3:
            weights = src[named[2]]
        src, dst = src[named[0]], src[named[1]]
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


def chosen(frame: Any, columns: tuple[str, str, str], name: str = "") -> list[str]:
    """The columns of a dataframe that hold edges: two, and that of the weights if there is one.

    Raises
    ------
    InputError
        One of them is not there; only weights by the default name need not be.
    """
    there = getattr(frame, "columns", None)
    if there is None:
        raise InputError(
            "without dst, src must be a DataFrame with columns 'src' and 'dst', or those that source= and "
            "target= name"
        )
    source, target, weight = columns
    needed = [source, target, *([weight] if weight != COLUMNS[2] else [])]
    if missing := [column for column in needed if column not in there]:
        found = ", ".join(map(str, there))
        raise InputError(
            f"{name}no column {missing[0]!r}; there are: {found}. Name them by source=, target= and weight="
        )
    return [source, target, *([weight] if weight in there else [])]


def _frame_pieces(frame: Any, named: list[str]) -> list[Any]:
    """Pieces of a Dask DataFrame, so that each partition is made once, not once a column."""
    from dask import delayed

    parts = frame[named].to_delayed()
    return [delayed(_columns)(part, named, of_partition(i)) for i, part in enumerate(parts)]


def _columns(frame: Any, named: list[str], where: str) -> build.Piece:
    weights = frame[named[2]] if len(named) == 3 else None
    return build.as_piece(frame[named[0]], frame[named[1]], weights, where)


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


def each(
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
        return Watch(client, BUILDING).gather([client.compute(step[0])])[0]
    return step[0].compute(scheduler="threads")


def _range(piece: build.Piece, where: str) -> tuple[int, int]:
    """The largest id of a piece, and its number of edges."""
    src, dst, _ = piece
    for name, ids in (("source", src), ("target", dst)):
        build.check_ids(ids, f"{where}edge {name}s")
    return max((int(ids.max()) for ids in (src, dst) if len(ids)), default=-1), len(src)


def _ranges(found: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return max(largest for largest, _ in found), sum(count for _, count in found)


def count_nodes(pieces: Sequence[Any], n: int | None, client: Client | None) -> int:
    """The number of nodes given, else one more than the largest id.

    Raises
    ------
    InputError
        The number is not one, the graph would have no node, or nearly all its nodes would have no edge.
    """
    if n is None:
        largest, count = each(_range, _ranges, pieces, client)
        n = largest + 1
        if n > SPARSE * count + SMALL_RANGE:
            raise InputError(
                f"{count} edges with ids to {largest} would make a graph of {n} nodes, most of them without "
                f"edges; pass relabel=True to number only the nodes that edges name, or n={n} for all"
            )
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
    counts: NDArray[np.int64] = each(count, sum, pieces, client)
    return counts
