"""A piece of the edge list: arrays of sources, targets and weights, and the checks of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dgsuite.base.errors import InputError
from dgsuite.partition.labels import columns
from dgsuite.partition.labels.identifiers import TEXT, is_text

Piece = tuple[Any, Any, NDArray | None]
"""Sources, targets and weights of a piece of the edge list. Ends are arrays of NumPy, or text in Arrow."""

COUNTING_SORT_FROM = 4
"""Nodes of a graph for each one that is named, from which counting sorts the names."""

MOST_NODES = 3_037_000_499
"""With more nodes, row and column of an edge would not fit into one int64 together."""


ENDS = ("src", "dst", "weights")
"""How errors name the columns of edges that have no names."""


class Fewer(tuple[Any, Any, NDArray | None]):
    """A piece that has lost rows without a value.

    Attributes
    ----------
    missing
        How many.
    """

    missing: int

    def __new__(cls, piece: Piece, missing: int) -> Fewer:
        """A piece, and how many rows it has lost."""
        found = super().__new__(cls, piece)
        found.missing = missing
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return Fewer, (tuple(self), self.missing)


def lost(piece: Piece) -> int:
    """How many rows without a value a piece has lost."""
    return getattr(piece, "missing", 0)


def losing(piece: Piece, missing: int) -> Piece:
    """A piece that has lost some rows, or none."""
    return Fewer(piece, missing) if missing else piece


def as_piece(
    src: Any,
    dst: Any,
    weights: Any,
    where: str = "",
    names: Sequence[str] = ENDS,
    drop: bool = False,
) -> Piece:
    """Sources, targets and weights as arrays.

    Parameters
    ----------
    names
        How errors name each of them, after `where`.
    drop
        Whether rows without a value are left out, and counted: see `lost`.

    Raises
    ------
    InputError
        They are not one-dimensional, have different lengths, or no dtype holds all weights; or a row has no
        value and is not to be left out.
    """
    some = [a for a in (src, dst, weights) if a is not None]
    if drop and all(isinstance(a, list | tuple) or columns.is_array(a) for a in some):
        gone = [columns.missing_in(a) for a in some]
        if len({each.shape for each in gone}) == 1 and (none := np.any(gone, axis=0)).any():
            src, dst, *given = (columns.without(a, none) for a in some)
            whole = as_piece(src, dst, given[0] if given else None, where, names)
            return losing(whole, int(np.count_nonzero(none)))
    src, dst = _ids(src, where + names[0]), _ids(dst, where + names[1])
    weights = None if weights is None else columns.numbers(weights, where + names[-1])
    shapes = [(len(a),) if is_text(a) else a.shape for a in (src, dst, weights) if a is not None]
    if len(set(shapes)) > 1 or len(shapes[0]) != 1:
        raise InputError(
            f"{where}src, dst and weights must be one-dimensional and of equal length, "
            f"got shapes {', '.join(map(str, shapes))}"
        )
    if not len(src):
        src, dst = np.empty((2, 0), np.int64)
    return src, dst, weights


def _ids(values: Any, what: str) -> Any:
    """Ends of edges as an array. NumPy may convert the items of a list to another type; this does not."""
    if not isinstance(values, list | tuple):
        ids = columns.column(values, what)
        return ids if is_text(ids) else columns.as_ids(ids, what)
    ids = columns.as_array(values)
    if ids.dtype.kind in "iub" and not (ids.ndim > 1 and isinstance(values[0], tuple)):
        return columns.as_ids(ids, what)
    exact = columns.column(values, what)
    floats = ids.dtype.kind == "f" and ids.ndim == 1 and exact.dtype == object
    return columns.as_ids(ids if floats else exact, what)


def check_ids(ids: Any, what: str) -> None:
    """Raise `InputError` unless node ids are integers."""
    dtype = TEXT if is_text(ids) else ids.dtype
    if is_text(ids) or ids.dtype.kind not in "iu":
        raise InputError(
            f"{what} must be integers, got dtype {dtype}; relabel=True also accepts text and objects"
        )


def check_edges(piece: Piece, n: int, start: int = 0, where: str = "") -> None:
    """Check that edges join existing nodes and that weights are finite numbers.

    Parameters
    ----------
    start
        Number of the piece's first edge.
    where
        Start of error messages.

    Raises
    ------
    InputError
        The message names the first wrong edge.
    """
    src, dst, weights = piece
    for name, ids in (("source", src), ("target", dst)):
        check_ids(ids, f"edge {name}s")
        if len(ids) and (ids.min() < 0 or ids.max() >= n):
            at = int(np.flatnonzero((ids < 0) | (ids >= n))[0])
            raise InputError(
                f"{where}edge {start + at} ({src[at]}, {dst[at]}) names node {ids[at]}, "
                f"but the graph's nodes are 0 to {n - 1}"
            )
    if weights is not None:
        if weights.dtype.kind not in "iuf":
            raise InputError(f"weights must be numbers, got dtype {weights.dtype}")
        if weights.dtype.itemsize > 8:
            raise InputError(
                f"weights must be numbers of at most 64 bits, got dtype {weights.dtype}; "
                f"convert them first, for example by weights.astype(float)"
            )
        if weights.dtype.kind == "f" and not np.isfinite(weights).all():
            at = int(np.argmin(np.isfinite(weights)))
            raise InputError(
                f"{where}edge {start + at} ({src[at]}, {dst[at]}) has weight {weights[at]}; "
                f"weights must be finite"
            )


class Degrees(NamedTuple):
    """Degrees of the nodes that a piece names; a small piece of a large graph names few."""

    counts: NDArray[np.int64]
    nodes: NDArray | None = None
    """Distinct nodes; None for all."""

    def of_all(self, n: int) -> NDArray[np.int64]:
        """Shape (n,): the degree of each node."""
        return self.counts if self.nodes is None else _dense([self], n)


def degrees(piece: Piece, where: str, *, n: int, directed: bool) -> Degrees:
    """Degrees of nodes in a piece, as an estimate: duplicate edges count."""
    check_edges(piece, n, 0, where)
    ends = piece[:1] if directed else piece[:2]
    if COUNTING_SORT_FROM * sum(map(len, ends)) < n:
        nodes, counts = np.unique(np.concatenate(ends), return_counts=True)
        return Degrees(counts, nodes)
    return Degrees(np.sum([np.bincount(nodes, minlength=n) for nodes in ends], axis=0))


def added(found: Sequence[Degrees], *, n: int) -> Degrees:
    """The degrees in several pieces together."""
    named = [each.nodes for each in found if each.nodes is not None]
    if len(named) < len(found) or COUNTING_SORT_FROM * sum(map(len, named)) >= n:
        return Degrees(_dense(found, n))
    nodes, at = np.unique(np.concatenate(named), return_inverse=True)
    counts = np.zeros(len(nodes), np.int64)
    np.add.at(counts, at, np.concatenate([each.counts for each in found]))
    return Degrees(counts, nodes)


def _dense(found: Sequence[Degrees], n: int) -> NDArray[np.int64]:
    total = np.zeros(n, np.int64)
    for each in found:
        total[slice(None) if each.nodes is None else each.nodes] += each.counts
    return total


def joined(arrays: Sequence[NDArray], dtype: DTypeLike) -> NDArray:
    """Concatenate arrays of several pieces."""
    # "unsafe", since NumPy does not know that the result of `common_dtype` holds all values
    return np.concatenate(arrays, dtype=dtype, casting="unsafe") if arrays else np.empty(0, dtype)


class Extremes(NamedTuple):
    """Integer weights that decide which dtypes hold all.

    Attributes
    ----------
    least
        The smallest of signed integers, else 0.
    rounded
        One that float64 does not hold, or None.
    """

    least: int = 0
    rounded: int | None = None


def extremes(weights: NDArray) -> Extremes:
    """Of the weights of a piece; for `common_dtype`."""
    kind = weights.dtype.kind
    if not len(weights) or kind not in "iu":
        return Extremes()
    low = int(weights.min()) if kind == "i" else 0
    if max(int(weights.max()), -low) <= 2**53:
        return Extremes(low)
    near = weights.astype(np.float64)
    beyond = near >= 2.0 ** (63 if kind == "i" else 64)
    wrong = np.flatnonzero(beyond | (np.where(beyond, 0, near).astype(weights.dtype) != weights))
    return Extremes(low, int(weights[wrong[0]]) if len(wrong) else None)


def common_dtype(found: Sequence[tuple[np.dtype, Extremes]]) -> np.dtype:
    """A dtype that holds the weights of several pieces.

    Parameters
    ----------
    found
        Dtype and extremes of each piece.

    Raises
    ------
    InputError
        Some weights are negative integers and others are uint64, or some are floats and others are integers
        that float64 does not hold.
    """
    dtype = np.result_type(*(each for each, _ in found))
    if dtype.kind != "f":
        return dtype
    if any(each.kind == "f" for each, _ in found):
        rounded = next((each.rounded for _, each in found if each.rounded is not None), None)
        if rounded is None:
            return dtype
        raise InputError(
            f"some weights are floats, and others are integers that float64 does not hold, such as "
            f"{rounded}; make all of them 64-bit integers, or all of them floats"
        )
    if (lowest := min(each.least for _, each in found)) < 0:
        raise InputError(
            f"some pieces of the edge list have weights of dtype uint64, others have weights below 0, "
            f"such as {lowest}: no 64-bit integer dtype holds both"
        )
    return np.dtype(np.uint64)
