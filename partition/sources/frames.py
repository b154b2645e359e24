"""Dataframes of edges: whether their columns hold integers that were taken as node ids so far."""

from __future__ import annotations

from typing import Any

from dgsuite.base.warning import warn
from dgsuite.partition.sources.edges import Columns


def narrow(frame: Any, columns: Columns) -> bool:
    """Whether both ends of a dataframe's edges are integers of fewer than 64 bits. Nothing is computed.

    Parameters
    ----------
    frame
        A pandas or Dask dataframe.
    columns
        Names that are not defaults: see `dgsuite.partition.sources.edges.settled`.
    """
    ends = [frame.dtypes[column] for column in columns[:2]]
    return all(d.kind in "iu" and getattr(d, "itemsize", 8) < 8 for d in ends)


def identifiers(narrow: bool) -> bool:
    """Whether the ends of a table's edges are identifiers where `relabel` is not given.

    All are, but for narrow integers, which are still taken as node ids, with a warning.
    """
    if narrow:
        warn(
            "the ends of edges are integers of fewer than 64 bits, which are taken as node ids. They will be "
            "identifiers, as integers of 64 bits are: pass relabel=False to keep node ids, or relabel=True "
            "to have identifiers",
            FutureWarning,
        )
    return not narrow
