"""Dataframes of edges: whether their columns hold node ids or identifiers."""

from __future__ import annotations

from typing import Any

from partition.edges import Columns, chosen


def identifiers(frame: Any, columns: Columns) -> bool:
    """Whether the ends of a dataframe's edges are identifiers, to be numbered, and not node ids.

    Their dtypes decide, so nothing is computed. Integers of up to 32 bits are node ids; integers of 64 bits,
    text and all other types are identifiers.

    Parameters
    ----------
    frame
        A pandas or Dask dataframe.

    Raises
    ------
    InputError
        It is no dataframe, or a column is missing.
    """
    from pandas.api.types import is_integer_dtype

    ends = [frame.dtypes[column] for column in chosen(frame, columns)[:2]]
    return not all(is_integer_dtype(dtype) and dtype.itemsize < 8 for dtype in ends)
