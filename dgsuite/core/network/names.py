"""Whole numbers and nodes, as users give them."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError

if TYPE_CHECKING:
    from dgsuite.partition.graph.graph import Graph


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number, and no truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def node_ids(
    labels: list[Any], graph: Graph, what: str, several: bool = False
) -> NDArray[np.int64]:
    """Node ids of labels; each must be there once, unless it may be there several times."""
    if graph.labels is not None:
        nodes = graph.labels.nodes(labels)
    else:
        for node in labels:
            if not is_whole(node) or not 0 <= node < graph.n:
                raise InputError(f"{what}: {node!r} is not a node: nodes are 0 to {graph.n - 1}")
        nodes = np.array(labels, np.int64)
    found, times = np.unique(nodes, return_counts=True)
    if (times > 1).any() and not several:
        twice = labels[int(np.flatnonzero(nodes == found[np.argmax(times > 1)])[0])]
        raise InputError(f"{what} names node {twice!r} twice; name it once")
    return np.asarray(nodes, np.int64)


def probability(what: str, value: Any) -> float:
    """A probability that a network is given.

    Raises
    ------
    InputError
        It is none.
    """
    if isinstance(value, bool) or not 0 <= value <= 1:
        raise InputError(f"{what} must be a probability from 0 to 1, got {value!r}")
    return float(value)
