"""How large a generated graph is, and whether there is room for it."""

from __future__ import annotations

from dgsuite.base.errors import InputError

EDGE_FACTOR = 16
"""Edge tuples a node, by default."""


def need(scale: int, weighted: bool = False, degree: int = EDGE_FACTOR) -> int:
    """Bytes that building a graph takes, about: three times its final size."""
    entry = 12 if weighted else 4
    return int(3 * 2**scale * (2 * degree * entry + 8))


def check_scale(scale: int, weighted: bool = False, degree: int = EDGE_FACTOR) -> None:
    """Refuse a scale that is not at least 1, or whose graph would not fit into memory.

    Raises
    ------
    InputError
        The message says what would fit.
    """
    import psutil

    if scale < 1:
        raise InputError(f"scale must be at least 1, got {scale}")
    room = psutil.virtual_memory().available
    if need(scale, weighted, degree) > room:
        largest = 1
        while need(largest + 1, weighted, degree) <= room:
            largest += 1
        raise InputError(
            f"scale {scale} needs about {need(scale, weighted, degree) / 2**30:.1f} GiB, and "
            f"{room / 2**30:.1f} GiB are free; the largest that fits is {largest}"
        )
