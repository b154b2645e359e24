"""Edge lists made from Dask bags, or other collections of Python objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from functools import partial
from typing import Any

import numpy as np

from dgsuite.base.errors import InputError, one_of
from dgsuite.partition.client.tasks import delayed
from dgsuite.partition.sources.edges import NODES, Pieces, of_partition
from dgsuite.partition.sources.piece import ENDS, Piece, as_piece


def pieces(bag: Any, items: str, drop: bool = False) -> Pieces:
    """The edge list of a bag, a piece for each of its partitions; of adjacency, also pieces that name nodes.

    Parameters
    ----------
    bag
        A Dask bag, or an iterable, which makes one piece.
    items
        "edges" or "adjacency": see `dgsuite.partition.graph.graph.Graph.from_bag`.
    drop
        Whether edges without a value are left out, and counted.

    Raises
    ------
    InputError
        `items` is something else, or the bag is neither a bag nor iterable.
    """
    one_of("items", items, READERS)
    read = partial(READERS[items], drop=drop)
    if hasattr(bag, "to_delayed"):
        task = delayed(read)
        made = [task(part, of_partition(i)) for i, part in enumerate(bag.to_delayed())]
    elif not isinstance(bag, Iterable):
        raise InputError(f"bag must be a Dask bag, or an iterable, got {type(bag).__name__}")
    else:
        made = [read(bag, "")]
    found = Pieces(each[0] for each in made)
    if items == "adjacency":
        found.naming = [each[1] for each in made]
    return found


def _edges(bag: Iterable[Any], where: str, drop: bool) -> tuple[Piece]:
    """A piece made from pairs (source, target) or triples (source, target, weight)."""
    items = list(bag)
    width = len(items[0]) if items and isinstance(items[0], Sized) else 2
    expected = "a pair (source, target) or a triple (source, target, weight), as all the others"
    _check(items, lambda item: len(item) == width and width in (2, 3), expected, where)
    src, dst, *weights = zip(*items, strict=True) if items else ((), ())
    return (as_piece(src, dst, list(weights[0]) if weights else None, where, ENDS, drop),)


def _adjacency(bag: Iterable[Any], where: str, drop: bool) -> tuple[Piece, Piece]:
    """A piece made from pairs (node, neighbours), and one that names all nodes, also those without any."""
    items = list(bag)
    expected = "a pair of a node and a list of its neighbours, or a mapping from these to weights"
    _check(items, lambda item: len(item) == 2 and _listed(item[1]), expected, where)
    mapped = [isinstance(near, Mapping) for _, near in items]
    if any(mapped) != all(mapped):
        raise InputError(f"{where}some neighbours are mappings to weights, others are lists")
    src = [node for node, near in items for _ in near]
    dst = [other for _, near in items for other in near]
    weights: Any = None
    if any(mapped):
        weights = [w for _, near in items for w in near.values()] or np.empty(0, np.int64)
    nodes = [node for node, _ in items]
    edges = as_piece(src, dst, weights, where, ENDS, drop)
    return edges, as_piece(nodes, nodes, None, where, NODES, drop)


READERS: dict[str, Callable[..., tuple[Piece, ...]]] = {"edges": _edges, "adjacency": _adjacency}


def _listed(near: Any) -> bool:
    return isinstance(near, Iterable) and isinstance(near, Sized) and not isinstance(near, str)


def _check(items: Sequence[Any], right: Callable[[Any], bool], expected: str, where: str) -> None:
    """Check that all items are tuples or lists that are right.

    Raises
    ------
    InputError
        The message names the first that is not.
    """
    for at, item in enumerate(items):
        if not isinstance(item, tuple | list) or not right(item):
            raise InputError(f"{where}item {at}, {item!r}, is not {expected}")
