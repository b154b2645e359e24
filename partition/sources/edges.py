"""The edge list of a graph in pieces: arrays in this process, or Dask tasks that make them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from dask.typing import no_default
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, shown
from dgsuite.base.warning import warn
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

FORMER = ("src", "dst")
"""Former default names of sources and targets, which are still accepted."""


class Pieces(list):
    """An edge list in pieces: Delayed objects of (src, dst, weights or None).

    Attributes
    ----------
    naming
        How many pieces at the end are no edges: their ends only name nodes.
    """

    naming = 0

    @classmethod
    def of(cls, make: Callable[[int, int], Piece], bounds: Iterable[int]) -> Pieces:
        """One piece ``make(lo, hi)`` for each two consecutive bounds."""
        task = delayed(make)
        return cls(task(lo, hi) for lo, hi in pairwise(bounds))


Columns = tuple[Hashable, Hashable, Hashable | None]
"""Names of a dataframe's columns of sources, targets and weights. None means no weights; so does
`dask.typing.no_default`, with a warning where there is a column of the default name."""


def pieces(
    src: Any, dst: Any, weights: Any, columns: Columns = COLUMNS, drop: bool = False
) -> list[Any]:
    """The edge list as pieces: one tuple of arrays, or Delayed objects of such tuples.

    Parameters
    ----------
    columns
        Names of the columns, if `src` is a dataframe.
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
        if offers_arrow(src):
            from dgsuite.partition.sources import tables

            table = tables.held(src)
            return table.pieces(table.settled(columns), drop)
        named = chosen(src, columns)
        if hasattr(src, "dask") and weights is None:
            return _frame_pieces(src, named, drop)
        names = list(of_columns(named))
        if weights is None and len(named) == 3:
            weights = src[named[2]]
        elif len(named) == 2:
            names.append(ENDS[2])
        src, dst = src[named[0]], src[named[1]]
    some = [a for a in (src, dst, weights) if a is not None]
    of_dask = [hasattr(a, "dask") for a in some]
    if not any(of_dask):
        return [as_piece(src, dst, weights, "", names, drop)]
    if not all(of_dask):
        raise InputError("src, dst and weights must all be Dask collections, or none of them")
    return _lazy_pieces(src, dst, weights, drop=drop)


def is_table(values: Any) -> bool:
    """Whether values have columns, as a dataframe has, and a table or a reader of Arrow."""
    return hasattr(values, "columns") or hasattr(values, "schema")


def is_number(nodes: Any) -> bool:
    """Whether what was given for nodes is an integer: how many there are."""
    return isinstance(nodes, int | np.integer) and not isinstance(nodes, bool)


def with_nodes(pieces: Sequence[Any], nodes: Any, drop: bool = False) -> Pieces:
    """An edge list that also names nodes, whether they have edges or not.

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
        named = _lazy_pieces(nodes, nodes, None, NODES, drop)
    else:
        if not isinstance(nodes, str | bytes | Mapping) and isinstance(nodes, Iterable):
            nodes = nodes if is_array(nodes) else of_list(nodes)
        named = [as_piece(nodes, nodes, None, "", NODES, drop)]
    found = Pieces([*pieces, *named])
    found.naming = getattr(pieces, "naming", 0) + len(named)
    return found


def _lazy_pieces(
    src: Any, dst: Any, weights: Any, names: Sequence[str] = ENDS, drop: bool = False
) -> list[Any]:
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
    return [
        delayed(as_piece)(*piece, of_partition(i), names, drop)
        for i, piece in enumerate(zip(*columns, strict=True))
    ]


def chosen(frame: Any, columns: Columns, name: str = "") -> list[Any]:
    """Names of the columns of a dataframe that hold sources, targets and, if it has them, weights.

    Notes
    -----
    Warns where the columns have former default names, or weights are left out that will not be.

    Raises
    ------
    InputError
        A column is missing. Only the default name of weights may be.
    """
    there = getattr(frame, "columns", None)
    if there is None:
        raise InputError(
            f"an edge list in one object must be a DataFrame with columns {columns[0]!r} and {columns[1]!r}, "
            f"or those named by source= and target=, got {type(frame).__name__}"
        )
    source, target, weight = columns
    absent = [column for column in COLUMNS[:2] if column not in there]
    if (source, target) == COLUMNS[:2] and absent and all(old in there for old in FORMER):
        source, target = FORMER
        warn(
            f"{name}the columns 'src' and 'dst' are taken, since there are no columns 'source' and 'target'; "
            f"these are the default names. Pass source='src', target='dst', or rename the columns",
            FutureWarning,
        )
    if weight is no_default:
        weight = None
        if COLUMNS[2] in there:
            warn(
                f"{name}the column 'weight' is not used. It will be, where there is one: pass "
                f"weight='weight' to have weights, or weight=None to have none",
                FutureWarning,
            )
    needed = [source, target, *([weight] if weight not in (None, COLUMNS[2]) else [])]
    if missing := [column for column in needed if column not in there]:
        found = ", ".join(map(str, there))
        raise InputError(
            f"{name}no column {missing[0]!r}; there are: {found}. Choose by source=, target= and weight=; "
            f"in the command by --columns"
        )
    return [source, target, *([weight] if weight is not None and weight in there else [])]


def settled(frame: Any, columns: Columns, name: str = "") -> Columns:
    """The columns that `chosen` finds, as names that are not defaults.

    Raises
    ------
    InputError
        As `chosen`.
    """
    source, target, weight = [*chosen(frame, columns, name), None][:3]
    return source, target, weight


def _frame_pieces(frame: Any, named: list[Any], drop: bool) -> list[Any]:
    """Pieces of a Dask DataFrame; each partition is computed once, not once per column."""
    parts = frame[named].to_delayed()
    return [delayed(_columns)(part, named, of_partition(i), drop) for i, part in enumerate(parts)]


def _columns(frame: Any, named: list[Any], where: str, drop: bool) -> Piece:
    weights = frame[named[2]] if len(named) == 3 else None
    return as_piece(frame[named[0]], frame[named[1]], weights, where, of_columns(named), drop)


def of_columns(named: Sequence[Hashable]) -> tuple[str, ...]:
    """How errors name the columns of a table."""
    return tuple(f"column {shown(name)}" for name in named)


def of_partition(piece: int) -> str:
    """Start of error messages about a piece of a Dask collection."""
    return f"partition {piece}: "


def origins(pieces: Sequence[Any]) -> list[str]:
    """For each piece of an edge list, how error messages about it start."""
    first = len(pieces) - getattr(pieces, "naming", 0)
    return [
        of_partition(i if i < first else i - first) if lazy(p) else "" for i, p in enumerate(pieces)
    ]


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
    found = Pieces(next(rest) if lazy(piece) else piece for piece in pieces)
    found.naming = getattr(pieces, "naming", 0)
    return found


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
    step = [
        delayed(function)(piece, where)
        for piece, where in zip(pieces, origins(pieces), strict=True)
    ]
    while len(step) > 1:
        step = [delayed(merge)(step[i : i + 8]) for i in range(0, len(step), 8)]
    if client is not None:
        return Watch(client, BUILDING).gather(computed(client, step))[0]
    return step[0].compute(scheduler="threads")


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
        largest, count = each(_range, _ranges, pieces, client)
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
