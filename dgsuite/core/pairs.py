"""Pairs of nodes that a user names, as node ids."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.base.masked import unmasked
from dgsuite.partition.labels.labels import Labels, exact_array


def pairs_of(value: Any, labels: Labels | None) -> NDArray[np.int64]:
    """Node ids of pairs, shape (p, 2).

    Parameters
    ----------
    value
        A dataframe of pandas or Dask with columns ``source`` and ``target``, an array of shape (p, 2), or a
        sequence of pairs.
    labels
        Labels of the graph's nodes, or None.

    Raises
    ------
    InputError
        It is none of them, or a value is not a node's.
    """
    columns = _table(value) if hasattr(value, "columns") else _columns(value)
    if labels is not None:
        return np.stack([labels.nodes(column) for column in columns], axis=1)
    for column in columns:
        if len(column) and column.dtype.kind not in "iu":
            raise InputError(f"must be node ids, integers, but there are values of {column.dtype}")
    return np.stack([column.astype(np.int64) for column in columns], axis=1)


def _table(frame: Any) -> list[NDArray]:
    """Both columns of a dataframe, in this process."""
    import dask

    from dgsuite.partition.sources.edges import pieces

    (found,) = dask.compute(pieces(frame, None, None, ("source", "target", None)))
    return [exact_array(np.concatenate(ends)) for ends in list(zip(*found, strict=True))[:2]]


def _columns(value: Any) -> list[NDArray]:
    if hasattr(value, "__array__"):
        array = np.asarray(unmasked(value, "pairs"))
        if array.ndim != 2 or array.shape[1] != 2:
            raise InputError(f"must have shape (p, 2), got {array.shape}")
        return [exact_array(column) for column in array.T]
    try:
        rows = [(source, target) for source, target in value]
    except (TypeError, ValueError):
        raise InputError(
            "must be a dataframe with columns 'source' and 'target', an array of shape (p, 2), or a "
            f"sequence of pairs, got {type(value).__name__}"
        ) from None
    return [exact_array([row[end] for row in rows]) for end in (0, 1)]
