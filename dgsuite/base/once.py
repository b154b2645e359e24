"""Values that several threads read and one of them makes."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from threading import RLock
from typing import Any


class Once:
    """Values by key. The first thread that asks for one makes it; others that ask meanwhile wait.

    Examples
    --------
    >>> from dgsuite.base.once import Once
    >>> made = Once()
    >>> made.get("squares", lambda: [k * k for k in range(4)])
    [0, 1, 4, 9]
    >>> made.get("squares", lambda: "not called: the value is there")
    [0, 1, 4, 9]
    """

    __slots__ = ("_values", "lock")

    def __init__(self) -> None:
        self._values: dict[Hashable, Any] = {}
        self.lock: AbstractContextManager[object] = RLock()

    def get[T](
        self, key: Hashable, make: Callable[[], T], valid: Callable[[T], bool] | None = None
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
        values = self._values
        if valid is None and key in values:
            return values[key]  # type: ignore[no-any-return]
        with self.lock:
            if key not in values or (valid is not None and not valid(values[key])):
                values[key] = make()
            return values[key]  # type: ignore[no-any-return]
