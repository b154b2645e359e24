"""Number nodes by identifiers of any kind: 64-bit integers, text, or objects such as UUIDs.

The distinct identifiers of each piece of the edge list are numbered where the piece is. They are divided by
their order among the workers, each of which merges its part and answers with positions. The nodes are
numbered in ascending order of the identifiers, so their numbers depend neither on pieces nor on workers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partition import build, edges, identifiers
from partition.client.waiting import Watch
from partition.client.workers import pinned, worker_addresses
from partition.errors import InputError
from partition.held_labels import About, HeldLabels
from partition.identifiers import Values
from partition.labels import Labels
from partition.piece import Piece

if TYPE_CHECKING:
    from distributed import Client


@dataclass(eq=False)
class Encoded:
    """A piece of the edge list whose ends are numbers of its own distinct identifiers.

    Attributes
    ----------
    src, dst
        Indices into `values`.
    weights
        As in `partition.piece.Piece`.
    values
        The distinct identifiers, in no particular order.
    """

    src: NDArray
    dst: NDArray
    weights: NDArray | None
    values: Values


def relabel(pieces: Sequence[Any], client: Client | None) -> tuple[edges.Pieces, Labels]:
    """Replace the identifiers in an edge list by node ids.

    Parameters
    ----------
    pieces
        The edge list, from `edges.pieces`. Lazy pieces are computed here, once.

    Returns
    -------
    pieces
        The same edges, with node ids as ends. With a client, lazy pieces are on its workers.
    labels
        The identifier of each node, ascending.

    Raises
    ------
    InputError
        Identifiers are missing, are floats, or are of types without a common order; or there are none.
    """
    if client is not None and any(map(edges.lazy, pieces)):
        return _on_workers(pieces, client)
    encoded = [
        encode(
            piece.compute(scheduler="threads") if edges.lazy(piece) else piece,
            edges.of_partition(i) if edges.lazy(piece) else "",
        )
        for i, piece in enumerate(pieces)
    ]
    values, positions = merged([each.values for each in encoded])
    _check(len(values))
    labels = Labels(identifiers.as_array(values), len(values), ascending=True)
    return edges.Pieces(map(numbered, encoded, positions)), labels


def encode(piece: Piece, where: str = "") -> Encoded:
    """Number the distinct identifiers of a piece.

    Raises
    ------
    InputError
        Identifiers are missing, or of a kind that cannot be identifiers.
    """
    names = [f"{where}edge {name}s" for name in ("source", "target")]
    ends = [identifiers.of(ids, what) for ids, what in zip(piece[:2], names, strict=True)]
    kind = identifiers.common([identifiers.facts(ids) for ids in ends])
    (src, dst), values = identifiers.encode([identifiers.converted(ids, kind) for ids in ends])
    identifiers.check(values, f"{where}edge ends")
    return Encoded(src, dst, piece[2], values)


def merged(found: Sequence[Values]) -> tuple[Values, list[NDArray]]:
    """As `identifiers.merge`, of arrays of any kind."""
    kind = identifiers.common([identifiers.facts(values) for values in found])
    return identifiers.merge([identifiers.converted(values, kind) for values in found])


def numbered(encoded: Encoded, ids: NDArray) -> Piece:
    """A piece whose ends are node ids, given those of its distinct identifiers."""
    return ids[encoded.src], ids[encoded.dst], encoded.weights


def _check(count: int) -> None:
    if not count:
        raise InputError("a graph needs at least one node, but there are no edges that name one")


# ---- on workers


@dataclass(eq=False)
class Divided:
    """The distinct identifiers of a piece, divided among workers: indices, and the identifiers."""

    at: list[NDArray]
    values: list[Values]


def _on_workers(pieces: Sequence[Any], client: Client) -> tuple[edges.Pieces, Labels]:
    from dask import delayed

    workers = worker_addresses(client)
    watch = Watch(client, edges.BUILDING, workers)
    with client.as_current(), watch.explain_errors():
        task = delayed(encode, traverse=False)
        encoded = client.compute(
            [task(piece, edges.of_partition(i)) for i, piece in enumerate(pieces)]
        )
        facts = watch.gather([client.submit(_facts, each, pure=False) for each in encoded])
        kind = identifiers.common(facts)
        _check(sum(each.size for each in facts))
        bounds = identifiers.splitters(facts, len(workers))
        workers = workers[: len(bounds) + 1]
        divided = [client.submit(_divide, each, bounds, kind, pure=False) for each in encoded]
        merging = [
            pinned(
                client, worker, _merge, [client.submit(_part, d, w, pure=False) for d in divided]
            )
            for w, worker in enumerate(workers)
        ]
        parts = [
            pinned(client, worker, _labels, each)
            for worker, each in zip(workers, merging, strict=True)
        ]
        about = watch.gather([client.submit(About.of, part, pure=False) for part in parts])
        offsets = np.cumsum([0, *(each.size for each in about)])
        numbers = [
            client.submit(
                _number,
                each,
                split,
                offsets,
                [client.submit(_positions, m, i, pure=False) for m in merging],
                pure=False,
            )
            for i, (each, split) in enumerate(zip(encoded, divided, strict=True))
        ]
        del encoded, divided, merging
        return edges.Pieces(map(delayed, numbers)), HeldLabels(parts, about).here()


def _facts(encoded: Encoded) -> identifiers.Facts:
    return identifiers.facts(encoded.values, identifiers.SAMPLE)


def _divide(encoded: Encoded, bounds: Values, kind: str) -> Divided:
    values = identifiers.converted(encoded.values, kind)
    at = identifiers.divide(values, bounds)
    return Divided(at, [identifiers.take(values, some) for some in at])


def _part(divided: Divided, worker: int) -> Values:
    return divided.values[worker]


def _merge(found: list[Values]) -> tuple[Values, list[NDArray]]:
    return identifiers.merge(found)


def _labels(merging: tuple[Values, list[NDArray]]) -> Values:
    return merging[0]


def _positions(merging: tuple[Values, list[NDArray]], piece: int) -> NDArray:
    return merging[1][piece]


def _number(
    encoded: Encoded, divided: Divided, offsets: NDArray, positions: list[NDArray]
) -> Piece:
    ids: NDArray = np.empty(len(encoded.values), build.id_dtype(int(offsets[-1])))
    for at, first, found in zip(divided.at, offsets, positions, strict=False):
        ids[at] = first + found
    return numbered(encoded, ids)
