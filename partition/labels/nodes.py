"""Nodes that users name, in whatever collection, as node ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, shown
from dgsuite.partition.labels.columns import is_array, numpy_column
from dgsuite.partition.labels.labels import Labels, exact_array

Listed = tuple[Any, ...] | list[Any] | NDArray
"""Nodes in an order, which can be read more than once; or, in an array, a truth value for each node."""


def listed(values: Any, what: str) -> Listed:
    """Nodes that a user names, as a list, a tuple or an array; those of a set ascend.

    Parameters
    ----------
    values
        A column (see `dgsuite.partition.labels.columns.column`), a list, a set, a range or another iterable;
        one node, which is no tuple; or an array of truth values, one for each node.
    what
        What the nodes are, as the subject of errors.

    Raises
    ------
    InputError
        It is none of them, or a row of a column has no value.
    """
    if isinstance(values, list | tuple):
        return values
    if is_array(values):
        array = numpy_column(values, what) if getattr(values, "ndim", 1) else np.asarray(values)
        if array.ndim > 1:
            raise InputError(f"{what} must be one-dimensional, got shape {array.shape}")
        return array if array.ndim else [array.item()]
    if isinstance(values, Set):
        try:
            return tuple(sorted(values))
        except TypeError:  # labels of several types
            return tuple(sorted(values, key=repr))
    if isinstance(values, Mapping) or values is None:
        raise InputError(f"{what} must be a list of nodes, got {shown(values)}")
    single = isinstance(values, str | bytes) or not isinstance(values, Iterable)
    return (values,) if single else tuple(values)


def node_ids(values: Any, n: int | None, labels: Labels | None, what: str) -> NDArray[np.int64]:
    """Node ids of nodes that are named by their labels, where the graph has labels, else by their ids.

    Parameters
    ----------
    values, what
        As for `listed`.
    n
        Number of nodes; None where it is not known. Then any integers are ids.
    labels
        Labels of the nodes, or None.

    Raises
    ------
    InputError
        As `listed`; one of them is not a node, or the truth values are not one for each node.
    """
    given = listed(values, what)
    if isinstance(given, np.ndarray) and given.dtype == np.bool_:
        if n is not None and given.shape != (n,):
            raise InputError(f"{what}: a mask of nodes must have shape ({n},), got {given.shape}")
        return np.flatnonzero(given)
    wanted = exact_array(given, what)
    if labels is not None:
        try:
            return labels.nodes(wanted)
        except InputError as error:
            raise InputError(f"{what} {error}") from None
    if not len(wanted):
        return np.empty(0, np.int64)
    valid = f"nodes are {f'0 to {n - 1}' if n else 'integers from 0'}"
    if wanted.dtype.kind not in "iu":
        wrong = next((v for v in wanted.tolist() if type(v) is not int), wanted[0])
        raise InputError(f"{what} {shown(wrong)} is not a node: {valid}")
    outside = (wanted < 0) | (wanted >= n) if n is not None else wanted > 2**63 - 1
    if outside.any():
        raise InputError(f"{what} {wanted[np.argmax(outside)]} is not a node: {valid}")
    return wanted.astype(np.int64)
