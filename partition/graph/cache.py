"""What is made once of a graph, when it is first needed, and kept for all threads that need it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from types import MappingProxyType
from typing import Any

from dgsuite.base.once import Lock, Once
from dgsuite.partition.client.session import seceded


class TaskLock(Lock):
    """A `Lock` for tasks: one that has to wait leaves its worker's thread pool meanwhile, since what it waits
    for may need the thread.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            with seceded():
                self._lock.acquire()


class Cache(Once):
    """Values by key, as `Once`, that may take tasks of a Dask cluster to make, and that are pickled.

    Parameters
    ----------
    values
        What is known already.

    Examples
    --------
    >>> from dgsuite.partition.graph.cache import Cache
    >>> cache = Cache()
    >>> cache.get("largest", lambda: max([3, 1, 2]))
    3
    >>> cache.get("largest", lambda: max([4]), valid=lambda value: value > 3)
    4
    """

    __slots__ = ()

    def __init__(self, values: Mapping[Hashable, Any] = MappingProxyType({})) -> None:
        super().__init__()
        self._values = {**values}
        self.lock = TaskLock()

    def __reduce__(self) -> tuple[type[Cache], tuple[dict[Hashable, Any]]]:
        return Cache, ({**self._values},)
