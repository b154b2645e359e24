"""Numbering nodes by identifiers of any kind: 64-bit integers, text, or objects such as UUIDs.

Each piece of the edge list gives its distinct identifiers where it is; these are merged by a tree. The
identifiers in ascending order are the nodes, so numbers depend neither on pieces nor on workers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partition import build, edges
from partition.errors import InputError
from partition.labels import Labels, plain

if TYPE_CHECKING:
    from distributed import Client


def relabel(pieces: Sequence[Any], client: Client | None) -> tuple[edges.Pieces, Labels]:
    """Replace the identifiers in an edge list by node ids.

    Parameters
    ----------
    pieces
        Of the edge list, as `edges.pieces` makes them. Lazy ones are computed here, for the identifiers,
        and once more when the graph is built.

    Returns
    -------
    pieces
        The same edges between node ids.
    labels
        The identifier of each node, ascending.

    Raises
    ------
    InputError
        Identifiers are missing, floats, or of kinds that have no common order; or there are none.
    """
    found = edges.each(distinct, merge, pieces, client)
    if not len(found):
        raise InputError("a graph needs at least one node, and there are no edges to name one")
    labels = Labels(found, len(found), ascending=True)
    if not any(map(edges.lazy, pieces)):
        return edges.Pieces(numbered(piece, found) for piece in pieces), labels
    from dask import delayed

    table: Any = delayed(found, traverse=False)
    if client is not None:
        (table,) = client.scatter([found], broadcast=True, hash=False)
    task = delayed(numbered, traverse=False)
    return edges.Pieces(
        task(piece, table, edges.of_partition(i)) for i, piece in enumerate(pieces)
    ), labels


def distinct(piece: build.Piece, where: str) -> NDArray:
    """The distinct identifiers of a piece, ascending."""
    ends = [
        _distinct(ids, f"{where}edge {name}s")
        for name, ids in (("source", piece[0]), ("target", piece[1]))
    ]
    return merge(ends)


def _distinct(ids: NDArray, what: str) -> NDArray:
    if ids.dtype.kind in "iu" or not len(ids):
        return np.unique(ids)
    if ids.dtype.kind not in "UOST":
        raise InputError(
            f"{what} must be integers, text or objects such as UUIDs, got dtype {ids.dtype}"
        )
    return _ascending(_codes(ids)[1].tolist(), what)


def _codes(ids: NDArray) -> tuple[NDArray, NDArray]:
    """Of identifiers that are no numbers: which of the distinct ones each is, and these, as they occur."""
    import pandas as pd

    codes, values = pd.factorize(ids.astype(object), use_na_sentinel=False)
    return codes, values


def _ascending(values: Sequence[Any], what: str) -> NDArray:
    kinds = set(map(type, values))
    for wrong in (type(None), float):
        if wrong in kinds:
            some = next(v for v in values if type(v) is wrong)
            raise InputError(f"{what}: {some} is no identifier; is one missing?")
    try:
        return plain(sorted(values))
    except TypeError:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise InputError(
            f"{what}: identifiers must be all integers, all text, or all of one type that has an order, "
            f"got {names}"
        ) from None


def merge(found: Sequence[NDArray]) -> NDArray:
    """The distinct ones of several arrays of identifiers, ascending."""
    some = [ids for ids in found if len(ids)] or list(found[:1])
    kinds = {ids.dtype.kind for ids in some}
    if len(kinds) == 1 and "O" not in kinds:
        return np.unique(np.concatenate(some))
    return _ascending(list({value for ids in some for value in ids.tolist()}), "identifiers")


def numbered(piece: build.Piece, table: NDArray, where: str = "") -> build.Piece:
    """A piece with node ids in place of identifiers."""
    number = partial(_numbers, table=table)
    return number(piece[0]), number(piece[1]), piece[2]


def _numbers(ids: NDArray, table: NDArray) -> NDArray:
    small = build.id_dtype(len(table))
    if not len(ids):
        return np.empty(0, small)
    if ids.dtype.kind in "iu" and table.dtype == ids.dtype:
        return np.searchsorted(table, ids).astype(small)
    codes, values = (
        np.unique(ids, return_inverse=True)[::-1] if ids.dtype.kind in "iu" else _codes(ids)
    )
    wanted = plain(values.tolist())
    if wanted.dtype.kind != table.dtype.kind:
        wanted = wanted.astype(object) if table.dtype == object else wanted.astype(table.dtype)
    return np.searchsorted(table, wanted).astype(small)[codes]
