"""The compiled forms of operations on arrays, imported when they are first needed."""

from __future__ import annotations

from typing import Any

from dgsuite.base.thresholds import compiles

_ready: Any = None


def loops() -> Any:
    """The compiled forms."""
    global _ready
    if _ready is None:
        from dgsuite.partition.arrays import _compiled

        _ready = _compiled
    return _ready


def fast(elements: int) -> Any:
    """The compiled forms, where they are the same for all types that occur; None to take NumPy's."""
    return loops() if compiles(elements) else _ready
