"""The edge list of a graph in pieces: arrays in this process, or Dask tasks that make them."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, shown
from dgsuite.base.extras import pip_install
from dgsuite.partition.client.tasks import computed, delayed
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.labels.columns import is_array, of_list, offers_arrow
from dgsuite.partition.sources.piece import (
    ENDS,
    MOST_NODES,
    Degrees,
    Piece,
    added,
    as_piece,
    check_ids,
    joined,
    losing,
    lost,
)
from dgsuite.partition.sources.piece import degrees as degrees_of_piece

if TYPE_CHECKING:
    from distributed import Client

BUILDING = "building the graph"

PIECE = 1 << 18
"""Edges that are sent to a worker, or split by this process, at a time: some 2 MiB. Of a large graph more,
so that there are no more than `PIECES`, but at most `LARGE`."""

PIECES, LARGE = 1 << 8, 1 << 21

SPARSE = 64
SMALL_RANGE = 1 << 20
"""Without `n`, a graph may have ``SPARSE * edges + SMALL_RANGE`` nodes. With more, the ids are probably
identifiers, and most nodes would have no edge."""

COLUMNS = ("source", "target", "weight")
"""Default names of a dataframe's columns: sources, targets, and weights, which are optional."""

NODES = ("nodes", "nodes")
"""How errors name what names nodes."""


class Pieces(list):
    """An edge list in pieces: Delayed objects of (src, dst, weights or None).

    Attributes
    ----------
    naming
        Pieces that are no edges: their ends only name nodes.
    """

    naming: Sequence[Any] = ()

    @classmethod
    def of(cls, make: Callable[[int, int], Piece], bounds: Iterable[int]) -> Pieces:
        """One piece ``make(lo, hi)`` for each two consecutive bounds."""
        task = delayed(make)
        return cls(task(lo, hi) for lo, hi in pairwise(bounds))


Columns = tuple[Hashable, Hashable, Hashable | None]
"""Names of a table's columns of sources, targets and weights; None means no weights."""


def pieces(
    src: Any, dst: Any, weights: Any, columns: Columns = COLUMNS, drop: bool = False
) -> Pieces:
    """The edge list as pieces: one tuple of arrays, or Delayed objects of such tuples.

    Parameters
    ----------
    columns
        Names of the columns, if `src` is a table.
    drop
        Whether rows without a value are left out, and counted.

    Raises
    ------
    InputError
        Columns are missing, or have different types or lengths.
    """
    if isinstance(src, Pieces):
        if dst is not None or weights is not None:
            raise InputError("an edge list in pieces has its own dst and weights")
        return src
    names: Sequence[str] = ENDS
    if dst is None:
        table = _of_arrow(src) if offers_arrow(src) else src
        there = getattr(table, "column_names", getattr(table, "columns", None))
        if there is None:
            raise InputError(
                f"an edge list in one object must be a DataFrame with columns {columns[0]!r} and "
                f"{columns[1]!r}, or those named by source= and target=, got {type(src).__name__}"
            )
        named = settled(there, columns)
        if weights is None and hasattr(table, "dask"):
            parts = table[named].to_delayed()
            task = delayed(of_table)
            return Pieces(task(part, named, of_partition(i), drop) for i, part in enumerate(parts))
        if weights is None:
            return Pieces([of_table(table, named, "", drop)])
        names = [*of_columns(named[:2]), ENDS[2]]
        src, dst = table[named[0]], table[named[1]]
    some = [a for a in (src, dst, weights) if a is not None]
    of_dask = [hasattr(a, "dask") for a in some]
    if not any(of_dask):
        return Pieces([as_piece(src, dst, weights, "", names, drop)])
    if not all(of_dask):
        raise InputError("src, dst and weights must all be Dask collections, or none of them")
    return _of_dask(src, dst, weights, drop=drop)


def _of_arrow(frame: Any) -> Any:
    """A table that another library has in memory, as one of Arrow."""
    name = f"{type(frame).__module__.partition('.')[0]}.{type(frame).__name__}"
    with refusing_damage(name):
        import pyarrow as pa

        if hasattr(frame, "__arrow_c_stream__"):
            return pa.RecordBatchReader.from_stream(frame).read_all()
        from pyarrow.interchange import from_dataframe

        return from_dataframe(frame)


@contextmanager
def refusing_damage(path: str | os.PathLike[str]) -> Iterator[None]:
    """Replace errors of pyarrow and pandas about what they cannot read by `InputError`."""
    try:
        yield
    except InputError:
        raise
    except ImportError as error:
        raise InputError(
            f"{os.fspath(path)}: reading it needs more packages: {pip_install('parquet')} ({error})"
        ) from None
    except Exception as error:
        # a lost worker raises a subclass of OSError
        damage = type(error) is OSError or isinstance(error, KeyError | ValueError)
        if not damage and type(error).__module__.partition(".")[0] != "pyarrow":
            raise
        reason = str(error).partition("\n")[0]
        raise InputError(f"{os.fspath(path)}: cannot be read: {reason}") from None


def is_number(nodes: Any) -> bool:
    """Whether what was given for nodes is an integer: how many there are."""
    return isinstance(nodes, int | np.integer) and not isinstance(nodes, bool)


def naming(nodes: Any, drop: bool = False) -> list[Any]:
    """Pieces that are no edges: their ends only name nodes.

    Parameters
    ----------
    nodes
        A list, an array, or a column of pandas or Dask.
    drop
        Whether rows without a value are left out.

    Raises
    ------
    InputError
        It is none of them, or not one-dimensional.
    """
    if hasattr(nodes, "dask"):
        return _of_dask(nodes, nodes, None, NODES, drop)
    if not isinstance(nodes, str | bytes | Mapping) and isinstance(nodes, Iterable):
        nodes = nodes if is_array(nodes) else of_list(nodes)
    return [as_piece(nodes, nodes, None, "", NODES, drop)]


def _of_dask(
    src: Any, dst: Any, weights: Any, names: Sequence[str] = ENDS, drop: bool = False
) -> Pieces:
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
                f"src, dst and weights must be of equal length, "
                f"got shapes {', '.join(str(a.shape) for a in some)}"
            )
        if known:
            some = [a.rechunk(src.chunks) for a in some]
    columns = [list(np.ravel(a.to_delayed())) for a in some]
    if len({len(c) for c in columns}) != 1:
        raise InputError("src, dst and weights must have the same Dask partitions")
    if weights is None:
        columns.append([None] * len(columns[0]))
    task = delayed(as_piece)
    return Pieces(
        task(*piece, of_partition(i), names, drop)
        for i, piece in enumerate(zip(*columns, strict=True))
    )


def settled(there: Sequence[Hashable], columns: Columns, name: str = "") -> list[Hashable]:
    """Names of the columns of a table that hold sources, targets and, if it has them, weights.

    Raises
    ------
    InputError
        A column is missing. Only the default name of weights may be.
    """
    source, target, weight = columns
    needed = [source, target, *([weight] if weight not in (None, COLUMNS[2]) else [])]
    if missing := [column for column in needed if column not in there]:
        found = ", ".join(map(str, there))
        raise InputError(
            f"{name}no column {missing[0]!r}; there are: {found}. Choose by source=, target= and weight=; "
            f"in the command by --columns"
        )
    return [source, target, *([weight] if weight is not None and weight in there else [])]


def of_table(table: Any, named: Sequence[Any], where: str = "", drop: bool = False) -> Piece:
    """The piece that is in some columns of a table in memory: sources, targets and perhaps weights."""
    source, target, *weights = (table[name] for name in named)
    return as_piece(source, target, weights[0] if weights else None, where, of_columns(named), drop)


def of_columns(named: Sequence[Hashable]) -> tuple[str, ...]:
    """How errors name the columns of a table."""
    return tuple(f"column {shown(name)}" for name in named)


def of_partition(piece: int) -> str:
    """Start of error messages about a piece of a Dask collection."""
    return f"partition {piece}: "


def origins(pieces: Sequence[Any]) -> list[str]:
    """For each piece of an edge list, how error messages about it start."""
    return [of_partition(i) if lazy(piece) else "" for i, piece in enumerate(pieces)]


def lazy(piece: Any) -> bool:
    """Whether a piece is a Delayed object, not arrays."""
    return not isinstance(piece, tuple)


def here(pieces: Sequence[Any], client: Any) -> Pieces:
    """Pieces of an edge list in this process."""
    waiting = [piece for piece in pieces if lazy(piece)]
    if not waiting:
        values: Sequence[Any] = []
    elif client is None:
        import dask

        values = list(dask.compute(*waiting, scheduler="threads"))
    else:
        values = Watch(client, BUILDING).gather(computed(client, waiting))
    rest = iter(values)
    return Pieces(next(rest) if lazy(piece) else piece for piece in pieces)


def together(pieces: Sequence[Any]) -> tuple[NDArray, NDArray, NDArray | None]:
    """All pieces as one."""
    some = [piece for piece in pieces if len(piece[0])]
    src, dst = (joined([piece[end] for piece in some], np.int64) for end in (0, 1))
    weights = [piece[2] for piece in some if piece[2] is not None]
    if weights and len(weights) < len(some):
        raise InputError("some pieces of the edge list have weights, others have none")
    return src, dst, np.concatenate(weights) if weights else None


def step_of(edges: float) -> int:
    """Edges in each piece, if so many are divided."""
    return max(PIECE, min(int(edges / PIECES), LARGE))


def slices(piece: Piece) -> Iterator[tuple[int, Piece]]:
    """Slices of a piece, each with the number of its first edge."""
    src, dst, weights = piece
    step = step_of(len(src))
    for begin in range(0, len(src), step) or (0,):
        some = slice(begin, begin + step)
        part = src[some], dst[some], None if weights is None else weights[some]
        yield begin, losing(part, 0 if begin else lost(piece))


def each(
    function: Callable[[Any, str], Any],
    merge: Callable[[list[Any]], Any],
    pieces: Sequence[Any],
    client: Client | None,
) -> Any:
    """Apply a function to every piece and merge the results; lazy pieces are merged by Dask tasks."""
    if not any(map(lazy, pieces)):
        return merge([function(piece, "") for piece in pieces])
    step = [*map(delayed(function), pieces, origins(pieces))]
    while len(step) > 1:
        step = [delayed(merge)(step[i : i + 8]) for i in range(0, len(step), 8)]
    if client is not None:
        return Watch(client, BUILDING).gather(computed(client, step))[0]
    return step[0].compute(scheduler="threads")


def extent(pieces: Sequence[Any], client: Client | None) -> tuple[int, int]:
    """Largest node id and number of edges of some pieces; at least one."""
    found: tuple[int, int] = each(_range, _ranges, pieces, client)
    return found


def _range(piece: Piece, where: str) -> tuple[int, int]:
    """Largest id and number of edges of a piece."""
    src, dst, _ = piece
    for name, ids in (("source", src), ("target", dst)):
        check_ids(ids, f"{where}edge {name}s")
    return max((int(ids.max()) for ids in (src, dst) if len(ids)), default=-1), len(src)


def _ranges(found: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return max(largest for largest, _ in found), sum(count for _, count in found)


def _least(piece: Piece, where: str) -> int:
    ids = piece[0]
    check_ids(ids, f"{where}nodes")
    return int(ids.min()) if len(ids) else 0


def check_named(pieces: Sequence[Any], client: Client | None) -> None:
    """Check ids that name nodes.

    Raises
    ------
    InputError
        They are no integers, or one is below 0.
    """
    if (least := each(_least, min, pieces, client)) < 0:
        raise InputError(
            f"nodes must be integers from 0, or identifiers with relabel=True, got {least}"
        )


def count_nodes(pieces: Sequence[Any], n: int | None, client: Client | None) -> int:
    """The number of nodes: `n` if it is given, else the largest id plus one.

    Raises
    ------
    InputError
        `n` is not a number of nodes, the graph would have no node, or nearly all nodes would have no edge.
    """
    if n is None:
        largest, count = extent(pieces, client)
        n = largest + 1
        if n > SPARSE * count + SMALL_RANGE:
            raise InputError(
                f"{count} edges with ids to {largest} would make a graph of {n} nodes, most of them without "
                f"edges; pass relabel=True to keep only the nodes that edges name, or n={n} to keep all"
            )
    if not is_number(n) or n < 0:
        raise InputError(f"n must be a number of nodes, an integer from 1, got {shown(n)}")
    if n == 0:
        raise InputError("a graph needs at least one node")
    if n > MOST_NODES:
        raise InputError(f"a graph can have at most {MOST_NODES} nodes, got {n}")
    return int(n)


def degrees(
    pieces: Sequence[Any], n: int, directed: bool, client: Client | None
) -> NDArray[np.int64]:
    """Degree of each node; duplicate edges count."""
    count = partial(degrees_of_piece, n=n, directed=directed)
    found: Degrees = each(count, partial(added, n=n), pieces, client)
    return found.of_all(n)
