"""Number nodes by identifiers of any kind: 64-bit integers, text, or objects such as UUIDs.

The distinct identifiers of each piece of the edge list are numbered where the piece is. They are divided by
their order among the workers, each of which merges its part and answers with positions. The nodes are
numbered in ascending order of the identifiers, so their numbers depend neither on pieces nor on workers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial, reduce
from operator import getitem
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.base.memory import frugal
from dgsuite.partition.client.tasks import computed, delayed, pinned, submitted
from dgsuite.partition.client.waiting import Watch, letting_go
from dgsuite.partition.client.workers import worker_addresses
from dgsuite.partition.construction import build
from dgsuite.partition.labels import identifiers
from dgsuite.partition.labels.held_labels import HeldLabels, held
from dgsuite.partition.labels.identifiers import Values
from dgsuite.partition.labels.labels import Labels
from dgsuite.partition.sources import edges
from dgsuite.partition.sources.piece import Piece, losing, lost

if TYPE_CHECKING:
    from distributed import Client, Future


class Encoded(NamedTuple):
    """A piece of the edge list whose ends are numbers of its own distinct identifiers.

    Attributes
    ----------
    codes
        The piece, whose ends are indices into `values`.
    values
        The distinct identifiers, in no particular order.
    """

    codes: Piece
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
        The identifier of each node, ascending. Those of lazy pieces stay on the workers if they take more
        than `dgsuite.partition.client.settings.limit`.

    Raises
    ------
    InputError
        Identifiers are missing, are floats, or are of types without a common order; or there are none.
    """
    if client is not None and any(map(edges.lazy, pieces)):
        return _on_workers(pieces, client)
    import dask

    task = delayed(encode)
    some = [
        task(piece, where) if edges.lazy(piece) else encode(piece, where)
        for piece, where in zip(pieces, edges.origins(pieces), strict=True)
    ]
    encoded = dask.compute(*some, scheduler="threads", traverse=False)
    values, positions = merged([each.values for each in encoded])
    _check(len(values))
    labels = Labels(identifiers.as_array(values), len(values), ascending=True)
    codes = [each.codes for each in encoded]
    return edges.Pieces(map(numbered, codes, positions)), labels


@frugal
def encode(piece: Piece, where: str = "") -> Encoded:
    """Number the distinct identifiers of a piece.

    Raises
    ------
    InputError
        An identifier is a float.
    """
    ends = [identifiers.of(ids) for ids in piece[:2]]
    kind = identifiers.common([identifiers.facts(ids) for ids in ends])
    (src, dst), values = identifiers.encode([identifiers.converted(ids, kind) for ids in ends])
    identifiers.check(values, f"{where}edge ends")
    return Encoded(losing((src, dst, piece[2]), lost(piece)), values)


def merged(found: Sequence[Values]) -> tuple[Values, list[NDArray]]:
    """As `identifiers.merge`, of arrays of any kind."""
    kind = identifiers.common([identifiers.facts(values) for values in found])
    return identifiers.merge([identifiers.converted(values, kind) for values in found])


def numbered(codes: Piece, *ids: NDArray) -> Piece:
    """A piece whose ends are numbers of its distinct identifiers, as one whose ends are node ids.

    Parameters
    ----------
    ids
        Numbers by which those of the ends are replaced; by each array in turn.
    """
    src, dst, weights = codes
    table = reduce(lambda first, second: second[first], ids)
    return losing((table[src], table[dst], weights), lost(codes))


def _check(count: int) -> None:
    if not count:
        raise InputError("a graph needs at least one node, but there are no edges that name one")


@letting_go()
def _on_workers(pieces: Sequence[Any], client: Client) -> tuple[edges.Pieces, Labels]:
    watch = Watch(client, edges.BUILDING, worker_addresses(client))
    submit = partial(submitted, client)
    with client.as_current(), watch.explain_errors():
        encoded = computed(client, [*map(delayed(encode), pieces, edges.origins(pieces))])
        codes = [submit(getattr, each, "codes") for each in encoded]
        values = [submit(getattr, each, "values") for each in encoded]
        del encoded  # so that identifiers of a piece are let go once its worker has merged them
        facts = watch.gather([submit(identifiers.facts, each) for each in values])
        _check(sum(each.size for each in facts))
        kind = identifiers.common(facts)
        places = _places(values, watch)
        together = [
            pinned(client, place, _together, kind, [values[i] for i in some])
            for place, some in places.items()
        ]
        del values
        homes = list(places)
        distinct = [
            pinned(client, home, getattr, each, "values")
            for home, each in zip(homes, together, strict=True)
        ]
        ids, labels = _in_order(distinct, homes, watch)
        number = delayed(numbered)
        found = {
            i: number(codes[i], pinned(client, home, _codes_of, merged, k), own)
            for home, merged, own, some in zip(homes, together, ids, places.values(), strict=True)
            for k, i in enumerate(some)
        }
        return edges.Pieces(found[i] for i in sorted(found)), labels.settled()


def _places(futures: Sequence[Future], watch: Watch) -> dict[str, list[int]]:
    """By worker, which of some results it holds."""
    places: dict[str, list[int]] = defaultdict(list)
    for i, workers in enumerate(watch.holders(futures)):
        places[workers[0]].append(i)
    return dict(sorted(places.items()))


def _in_order(
    values: Sequence[Future], homes: Sequence[str], watch: Watch
) -> tuple[list[Future], HeldLabels]:
    """Number the nodes in the order of their identifiers.

    Parameters
    ----------
    values
        Distinct identifiers of one kind: those that each worker has found.
    homes
        These workers. What takes a part of a large result runs where that is, so that the part alone travels.

    Returns
    -------
    ids
        For each of `values`, the node ids.
    labels
        Divided among the workers.
    """
    client, workers = watch.client, list(watch.workers)
    at = partial(pinned, client)
    found = list(zip(homes, values, strict=True))
    sampled = [at(home, identifiers.facts, each, identifiers.SAMPLE) for home, each in found]
    bounds = identifiers.splitters(watch.gather(sampled), len(workers))
    divided = [(home, at(home, _divide, each, bounds)) for home, each in found]
    ordered = [
        (worker, at(worker, _merge, [at(home, _part, each, w) for home, each in divided]))
        for w, worker in enumerate(workers[: len(bounds) + 1])
    ]
    labels = held([at(worker, getitem, each, 0) for worker, each in ordered], watch)
    ids = []
    for i, (home, each) in enumerate(divided):
        positions = [at(w, _positions, merged, i) for w, merged in ordered]
        ids.append(at(home, _ids, each, labels.offsets, positions))
    return ids, labels


class Together(NamedTuple):
    """The distinct identifiers of some pieces.

    Attributes
    ----------
    codes
        For each piece, the indices of its identifiers.
    values
        The identifiers, in no particular order.
    """

    codes: list[NDArray]
    values: Values


@frugal
def _together(kind: str, values: list[Values]) -> Together:
    return Together(*identifiers.encode([identifiers.converted(each, kind) for each in values]))


def _codes_of(together: Together, piece: int) -> NDArray:
    return together.codes[piece]


class Divided(NamedTuple):
    """Distinct identifiers, divided among workers: for each its indices, and the identifiers."""

    at: list[NDArray]
    values: list[Values]


@frugal
def _divide(values: Values, bounds: Values) -> Divided:
    at = identifiers.divide(values, bounds)
    return Divided(at, [identifiers.take(values, some) for some in at])


def _part(divided: Divided, worker: int) -> Values:
    return divided.values[worker]


@frugal
def _merge(found: list[Values]) -> tuple[Values, list[NDArray]]:
    return identifiers.merge(found)


def _positions(ordered: tuple[Values, list[NDArray]], number: int) -> NDArray:
    return ordered[1][number]


def _ids(divided: Divided, offsets: NDArray, positions: list[NDArray]) -> NDArray:
    """Node ids of identifiers that were divided, given their positions among those of each part."""
    ids: NDArray = np.empty(sum(map(len, divided.at)), build.id_dtype(int(offsets[-1])))
    for at, first, found in zip(divided.at, offsets, positions, strict=False):
        ids[at] = first + found
    return ids
