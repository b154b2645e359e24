"""What is made once, when it is first needed, and kept for all threads that need it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from threading import RLock
from types import MappingProxyType
from typing import Any, TypeVar

from partition.client.queries import seceded

T = TypeVar("T")


class Cache:
    """Values by key. Of several threads that need a value at once, one makes it and the others wait.

    Parameters
    ----------
    values
        What is known already.

    Examples
    --------
    >>> from partition.cache import Cache
    >>> cache = Cache()
    >>> cache.once("largest", lambda: max([3, 1, 2]))
    3
    >>> cache.once("largest", lambda: max([4]))
    3
    >>> cache.once("largest", lambda: max([4]), valid=lambda value: value > 3)
    4
    """

    def __init__(self, values: Mapping[Hashable, Any] = MappingProxyType({})) -> None:
        self._values = {**values}
        self._lock = RLock()

    def __reduce__(self) -> tuple[type[Cache], tuple[dict[Hashable, Any]]]:
        return Cache, ({**self._values},)

    def once(
        self,
        key: Hashable,
        make: Callable[[], T],
        valid: Callable[[T], bool] = lambda value: True,
    ) -> T:
        """The value of a key.

        Parameters
        ----------
        key
            What the value is.
        make
            Makes the value if there is none. If it raises an error, none is kept.
        valid
            Whether a value that was kept may be used; if not, it is made again.
        """
        with self.alone():
            if key not in self._values or not valid(self._values[key]):
                self._values[key] = make()
            found: T = self._values[key]
            return found

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other threads out of this cache.

        A task that has to wait leaves its worker's thread pool, since what it waits for may need the thread.
        """
        if not self._lock.acquire(blocking=False):
            with seceded():
                self._lock.acquire()
        try:
            yield
        finally:
            self._lock.release()
