"""Values of networks as users give them: whole numbers, probabilities, nodes, and objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, shown, unknown
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.labels.nodes import listed
from dgsuite.partition.labels.nodes import node_ids as ids_of


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number, and no truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def whole(what: str, value: Any, least: int) -> None:
    """See that a value is a whole number from the least on.

    Raises
    ------
    InputError
        It is not.
    """
    if not is_whole(value) or value < least:
        raise InputError(f"{what} must be a whole number from {least}, got {value!r}")


def node_ids(given: Any, graph: Graph, what: str, several: bool = False) -> NDArray[np.int64]:
    """Node ids of nodes (see `dgsuite.partition.labels.nodes.node_ids`).

    Each must be there once, unless it may be there several times.
    """
    nodes = ids_of(listed(given, what), graph.n, graph.labels, f"{what}:")
    found, times = np.unique(nodes, return_counts=True)
    if (times > 1).any() and not several:
        twice = int(found[np.argmax(times > 1)])
        name = twice if graph.labels is None else graph.labels[twice]
        raise InputError(f"{what} names node {shown(name)} twice; name it once")
    return nodes


def probability(what: str, value: Any) -> float:
    """A probability that a network is given.

    Raises
    ------
    InputError
        It is none.
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise InputError(f"{what} must be a probability from 0 to 1, got {value!r}")
    return float(value)


def made(cls: Any, given: Any, what: str) -> Any:
    """An object of a class, from its parameters; None stays None."""
    if given is None or isinstance(given, cls):
        return given
    names = [f.name for f in fields(cls)]
    if not isinstance(given, Mapping):
        raise InputError(
            f"{what} must be a dgsuite.{cls.__name__} or a mapping of its parameters "
            f"({', '.join(names)}), got {given!r}"
        )
    if wrong := sorted(given.keys() - set(names)):
        raise InputError(unknown(f"parameter of {what}", wrong[0], names))
    try:
        return cls(**given)
    except TypeError as error:
        raise InputError(f"{what}: {error}") from None
