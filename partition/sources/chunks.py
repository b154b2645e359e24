"""Build a graph from its adjacency in chunks, each of which is a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dgsuite.base.errors import InputError
from dgsuite.base.mixing import GOLDEN, mix
from dgsuite.partition.client.tasks import delayed
from dgsuite.partition.clusters.partitioners import Partition
from dgsuite.partition.labels.columns import as_array, numpy_column
from dgsuite.partition.sources.edges import Pieces, here
from dgsuite.partition.sources.piece import Piece, as_piece, check_edges

if TYPE_CHECKING:
    from distributed import Client

Chunk = Mapping[str, Any]
"""By name, the part of each array that is of a cluster."""


def pieces(
    arrays: Mapping[str, Any], partition: Partition | None, directed: bool, client: Client | None
) -> dict[str, Any]:
    """Arguments of `Graph.from_edges` for an adjacency; see `Graph.from_arrays`.

    Parameters
    ----------
    arrays
        ``indptr``, ``indices``, ``weights`` and ``uid``; the last two may be None.

    Raises
    ------
    InputError
        An array or a chunk is wrong: the message names it.
    """
    given = {name: array for name, array in arrays.items() if array is not None}
    of_dask = [hasattr(array, "dask") for array in given.values()]
    if any(of_dask) != all(of_dask):
        raise InputError(f"{', '.join(given)} must all be Dask arrays, or none of them")
    lazy = all(of_dask)
    if not lazy:
        given = {name: _array(array, name) for name, array in given.items()}
    for name, array in given.items():
        if array.ndim != 1:
            raise InputError(f"{name} must be one-dimensional, got {array.ndim} dimensions")
    columns = [array.to_delayed().tolist() if lazy else [array] for array in given.values()]
    if len({len(column) for column in columns}) > 1:
        text = ", ".join(f"{n} has {len(c)}" for n, c in zip(given, columns, strict=True))
        raise InputError(
            f"a chunk of each array is a cluster, so there must be equally many: {text}"
        )
    chunks = [dict(zip(given, chunk, strict=True)) for chunk in zip(*columns, strict=True)]

    call = delayed if lazy else lambda function: function

    def each(function: Any, *more: Any, of: Sequence[Any] = chunks) -> list[Any]:
        return [call(function)(one, k, *more) for k, one in enumerate(of)]

    def found(made: list[Any]) -> list[Any]:
        return here(made, client) if lazy else made

    cut = _partition(found(each(_length)), partition)
    entries = each(_entries, cut)
    facts = found(each(_facts, cut, directed, of=entries))
    dtypes, asymmetry = zip(*facts, strict=True)
    if sum(asymmetry) % 2**64:
        raise InputError(
            "the arrays are not symmetric: an edge, or its weight, is there in one direction only; pass "
            "directed=True for a directed graph"
        )
    if len(set(dtypes)) > 1:
        raise InputError(f"chunks of weights have different dtypes: {', '.join(map(str, dtypes))}")
    uid = None
    if "uid" in given:
        uid = np.concatenate(found(each(_identifiers, cut)))[cut.position(np.arange(cut.n))]
    edges = Pieces(each(_piece, directed, of=entries))
    return {"src": edges, "n": cut.n, "uid": uid, "partition": cut}


def _array(given: Any, name: str) -> NDArray:
    """An array of a graph in this process."""
    return numpy_column(as_array(given) if isinstance(given, list | tuple) else given, name)


def _length(chunk: Chunk, index: int) -> int:
    return len(chunk["indptr"])


def _partition(lengths: Sequence[int], given: Partition | None) -> Partition:
    """The partition whose clusters have as many nodes as the chunks of ``indptr`` say."""
    if empty := [k for k, length in enumerate(lengths) if not length]:
        raise InputError(
            f"chunk {empty[0]} of indptr is empty: it needs an entry more than its cluster has nodes"
        )
    sizes = np.asarray(lengths, np.int64) - 1
    if not sizes.sum():
        raise InputError("a graph needs at least one node")
    if given is None:
        return Partition(np.concatenate([[0], np.cumsum(sizes)]))
    expected = np.diff(given.offsets)
    if not np.array_equal(expected, sizes):
        raise InputError(
            f"the partition has clusters of {expected.tolist()} nodes, but the chunks of indptr are of "
            f"{sizes.tolist()}"
        )
    return given


def _entries(chunk: Chunk, index: int, partition: Partition) -> Piece:
    """The entries of a chunk, once they are checked: their rows as node ids, neighbours and weights."""
    where, nodes = f"chunk {index}: ", partition.nodes(index)
    indptr, indices = chunk["indptr"], chunk["indices"]
    for name, values in (("indptr", indptr), ("indices", indices)):
        if values.dtype.kind not in "iu" and len(values):
            raise InputError(f"{where}{name} must be integers, got dtype {values.dtype}")
    indptr = indptr.astype(np.int64)
    lengths = np.diff(indptr)
    if indptr[0] or indptr[-1] != len(indices) or (lengths < 0).any():
        raise InputError(
            f"{where}indptr must start from 0, not decrease, and end at {len(indices)}, the number of "
            f"indices in the chunk; it starts from {indptr[0]} and ends at {indptr[-1]}"
        )
    piece = as_piece(np.repeat(nodes, lengths), indices, chunk.get("weights"), where)
    check_edges(piece, partition.n, 0, where)
    return piece


def _piece(entries: Piece, index: int, directed: bool) -> Piece:
    """The edges of a chunk; of an undirected one, which is at both its ends, that at the smaller node."""
    if directed:
        return entries
    some = entries[0] <= entries[1]
    src, dst, weights = (None if column is None else column[some] for column in entries)
    return src, dst, weights


def _identifiers(chunk: Chunk, index: int, partition: Partition) -> NDArray[np.int64]:
    uid, size = chunk["uid"], int(np.diff(partition.offsets)[index])
    if len(uid) != size:
        raise InputError(f"chunk {index}: uid has {len(uid)} entries for {size} nodes")
    return np.asarray(uid)


def _facts(
    entries: Piece, index: int, partition: Partition, directed: bool
) -> tuple[DTypeLike | None, int]:
    """Dtype of the weights, and what the chunk adds to the asymmetry.

    That is the sum of a hash of all entries, less that of the entries with their ends exchanged. The sum over
    all chunks is 0 modulo 2^64 if the adjacency is symmetric; otherwise with a probability of 2^-64.
    """
    rows, columns, weights = entries
    dtype = None if weights is None else weights.dtype
    if directed:
        return dtype, 0
    n, rows, columns = np.uint64(partition.n), rows.astype(np.uint64), columns.astype(np.uint64)
    bits: NDArray[np.uint64] = np.zeros(1, np.uint64)
    if weights is not None:
        # 0 is added, since 0.0 and -0.0 are equal
        bits = (weights.astype(f"{weights.dtype.kind}8") + 0).view(np.uint64)
    there = mix(mix(rows * n + columns + GOLDEN) + bits).sum()
    back = mix(mix(columns * n + rows + GOLDEN) + bits).sum()
    return dtype, int(there) - int(back)
