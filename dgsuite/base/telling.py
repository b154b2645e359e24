"""Progress of long operations, reported to a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Tell = Callable[[int, int], None]
"""Called with how many parts are done, and how many there are."""

TOLD: ContextVar[Tell | None] = ContextVar("told", default=None)
"""The function that this thread's work tells, if one does."""


def tell(done: int, parts: int) -> None:
    """Tell who asked for it how far this thread's work is."""
    if (told := TOLD.get()) is not None:
        told(done, parts)


@contextmanager
def telling(told: Tell) -> Iterator[None]:
    """Have a function told while the block is at work."""
    token = TOLD.set(told)
    try:
        yield
    finally:
        TOLD.reset(token)
