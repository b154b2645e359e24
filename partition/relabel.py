"""Number nodes by identifiers of any type: 64-bit integers, text, or objects such as UUIDs.

The distinct identifiers of each piece of the edge list are found where the piece is, and merged by a tree
of tasks. Their ascending order numbers the nodes, so the numbers depend neither on pieces nor on workers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partition import build, edges, segments
from partition.client.waiting import Watch
from partition.errors import InputError
from partition.labels import LONGEST, Labels, exact_array
from partition.piece import Piece

if TYPE_CHECKING:
    from distributed import Client


def relabel(pieces: Sequence[Any], client: Client | None) -> tuple[edges.Pieces, Labels]:
    """Replace the identifiers in an edge list by node ids.

    Parameters
    ----------
    pieces
        The edge list, from `edges.pieces`. Lazy pieces are computed here, to find the identifiers, and once
        more when the graph is built.

    Returns
    -------
    pieces
        The same edges, with node ids as ends.
    labels
        The identifier of each node, ascending.

    Raises
    ------
    InputError
        Identifiers are missing, are floats, or are of types without a common order; or there are none.
    """
    found = edges.each(distinct, merge, pieces, client)
    if not len(found):
        raise InputError("a graph needs at least one node, but there are no edges that name one")
    labels = Labels(found, len(found), ascending=True)
    if not any(map(edges.lazy, pieces)):
        return edges.Pieces(numbered(piece, found) for piece in pieces), labels
    from dask import delayed

    table: Any = delayed(found, traverse=False)
    if client is not None:
        table = Watch(client, edges.BUILDING).scatter(found)
    task = delayed(numbered, traverse=False)
    return edges.Pieces(
        task(piece, table, edges.of_partition(i)) for i, piece in enumerate(pieces)
    ), labels


def distinct(piece: Piece, where: str) -> NDArray:
    """The distinct identifiers of a piece, ascending."""
    ends = [
        _distinct(ids, f"{where}edge {name}s")
        for name, ids in (("source", piece[0]), ("target", piece[1]))
    ]
    return merge(ends)


def _distinct(ids: NDArray, what: str) -> NDArray:
    if ids.dtype.kind in "iu" or not len(ids):
        return segments.distinct(ids)
    if ids.dtype.kind not in "UOST":
        raise InputError(
            f"{what} must be integers, text or objects such as UUIDs, got dtype {ids.dtype}"
        )
    found = _texts(ids)
    return _ascending(_codes(ids)[1].tolist(), what) if found is None else found[1]


def _texts(ids: NDArray) -> tuple[NDArray, NDArray] | None:
    """Codes and distinct values, ascending, of text; None if not all are text, or without pyarrow.

    It takes a quarter of the time of `_codes`, and of sorting Python's strings.
    """
    try:
        import pyarrow as pa
        from pyarrow import compute
    except ImportError:
        return None
    try:
        texts = pa.array(ids.astype(object, copy=False), from_pandas=True)
    except (pa.ArrowException, UnicodeError):
        return None
    if texts.type != pa.string() or texts.null_count or isinstance(texts, pa.ChunkedArray):
        return None
    encoded = texts.dictionary_encode()
    values = encoded.dictionary.cast(pa.large_string())
    order = compute.sort_indices(values)  # by code points, as Python sorts
    rank = np.empty(len(order), np.int64)
    rank[order.to_numpy()] = np.arange(len(order))
    return rank[encoded.indices.to_numpy()], _array(values.take(order))


def _array(texts: Any) -> NDArray:
    """Distinct texts of Arrow as NumPy's; as `exact_array`, without a look at each text by Python."""
    from pyarrow import compute

    longest = compute.max(compute.binary_length(texts)).as_py()
    plain = compute.all(compute.string_is_ascii(texts)).as_py()
    if (
        not plain
        or not 0 < longest <= LONGEST
        or compute.any(compute.match_substring(texts, "\0")).as_py()
    ):
        return exact_array(texts.to_pylist())
    padded = compute.ascii_rpad(texts, longest, padding="\0")
    content = np.frombuffer(padded.buffers()[2], np.uint8, longest * len(texts))
    return content.view(f"S{longest}").astype(np.str_)


def _codes(ids: NDArray) -> tuple[NDArray, NDArray]:
    """Codes and distinct values of identifiers that are not numbers, in order of first occurrence."""
    import pandas as pd

    codes, values = pd.factorize(ids.astype(object), use_na_sentinel=False)
    return codes, values


def _ascending(values: Sequence[Any], what: str) -> NDArray:
    kinds = set(map(type, values))
    for wrong in (type(None), float):
        if wrong in kinds:
            some = next(v for v in values if type(v) is wrong)
            raise InputError(f"{what}: {some} is not an identifier; is one missing?")
    try:
        return exact_array(sorted(values))
    except TypeError:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise InputError(
            f"{what}: identifiers must all be integers, all be text, or all be of one type that has an "
            f"order, got {names}"
        ) from None


def merge(found: Sequence[NDArray]) -> NDArray:
    """The distinct values of several arrays of identifiers, ascending."""
    some = [ids for ids in found if len(ids)] or list(found[:1])
    kinds = {ids.dtype.kind for ids in some}
    if len(kinds) == 1 and "O" not in kinds:
        return segments.distinct(np.concatenate(some), runs=not kinds & {"i", "u"})
    return _ascending(list({value for ids in some for value in ids.tolist()}), "identifiers")


def numbered(piece: Piece, table: NDArray, where: str = "") -> Piece:
    """A piece with its identifiers replaced by node ids."""
    number = partial(_numbers, table=table)
    return number(piece[0]), number(piece[1]), piece[2]


def _numbers(ids: NDArray, table: NDArray) -> NDArray:
    small = build.id_dtype(len(table))
    if not len(ids):
        return np.empty(0, small)
    if ids.dtype.kind in "iu" and table.dtype == ids.dtype:
        return np.searchsorted(table, ids).astype(small)
    if ids.dtype.kind in "iu":
        values, codes = np.unique(ids, return_inverse=True)
    else:
        codes, values = _texts(ids) or _codes(ids)
    wanted = values if values.dtype.kind == "U" else exact_array(values.tolist())
    if wanted.dtype.kind != table.dtype.kind:
        wanted = wanted.astype(object) if table.dtype == object else wanted.astype(table.dtype)
    return np.searchsorted(table, wanted).astype(small)[codes]
