"""Read-only arrays of clusters: a kernel that wrote to one would change the graph for all later runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from dgsuite.partition.arrays.segments import lent


class shared(cached_property[Any]):  # noqa: N801 (it is used as a property)
    """A cached property that is an array of a cluster, which nobody may write to."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__(lambda cluster: read_only(function(cluster)))
        self.__doc__ = function.__doc__


def read_only(value: Any) -> Any:
    """A read-only view of an array; other values stay as they are."""
    return lent(value) if isinstance(value, np.ndarray) else value
