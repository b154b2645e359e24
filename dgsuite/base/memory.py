"""What the C library and Arrow do with memory that was freed: keep it, or give it back to the system."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from functools import wraps

from dgsuite.base import capabilities

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Parameters of glibc's mallopt (malloc.h)."""

DEFAULT = 1 << 17
"""Bytes that both have unless environment variables give others."""

KEEP = 1 << 28
LARGEST = 1 << 25
"""Bytes of an array that may come from memory that was kept: the most that glibc takes."""

PART = 16
"""Of a worker's memory limit, this part is kept at most."""

LARGE = 1 << 20
"""Bytes from which a process that computes nothing returns an array's memory when it is freed."""


def keep_memory(limit: float = math.inf) -> None:
    """Have the C library keep memory that was freed, up to `KEEP` bytes, where it can be told to.

    Dask has workers return every large array's pages to the system at once; a round then spends more time
    on new pages than on its edges.

    Parameters
    ----------
    limit
        Bytes that the worker may use. What is kept counts against them: it is a small part at most.
    """
    keep = int(min(KEEP, limit / PART))
    _tell("mallopt", M_MMAP_THRESHOLD, min(LARGEST, keep))
    _tell("mallopt", M_TRIM_THRESHOLD, keep)


def keep_as_before() -> None:
    """Undo `keep_memory`, and return to the system what was kept."""
    for name, parameter in (("MMAP", M_MMAP_THRESHOLD), ("TRIM", M_TRIM_THRESHOLD)):
        given = os.environ.get(f"MALLOC_{name}_THRESHOLD_", "")  # Dask's nannies give the latter
        _tell("mallopt", parameter, int(given) if given.isdecimal() else DEFAULT)
    give_back()


def keep_no_memory() -> None:
    """Have the C library return the memory of large arrays, which it would otherwise come to keep: for a
    process of our own that is a client.
    """
    _tell("mallopt", M_MMAP_THRESHOLD, LARGE)


def give_back() -> None:
    """Return to the system what is free now, such as what making a halo took."""
    if (arrow := sys.modules.get("pyarrow")) is not None:
        arrow.default_memory_pool().release_unused()
    _tell("malloc_trim", 0)


def frugal[**P, R](task: Callable[P, R]) -> Callable[P, R]:
    """A task that takes much more memory than its result, and gives it back at its end."""

    @wraps(task)
    def done(*args: P.args, **kwargs: P.kwargs) -> R:
        result = task(*args, **kwargs)
        give_back()
        return result

    return done


def _tell(function: str, *arguments: int) -> None:
    """Call a function of the C library, if it has it."""
    found = capabilities.c_function(function)
    if found is not None and capabilities.has("C library"):
        found(*arguments)
