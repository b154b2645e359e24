"""How large a problem is, and whether there is room for it."""

from __future__ import annotations

from partition.errors import InputError

EDGE_FACTOR = 16
"""Edge tuples a node."""


def need(scale: int, kernel: str = "bfs") -> int:
    """Bytes that building a graph takes, about: three times its final size."""
    entry = 4 if kernel == "bfs" else 12
    return 3 * 2**scale * (2 * EDGE_FACTOR * entry + 8)


def check_scale(scale: int, kernel: str = "bfs") -> None:
    """Refuse a scale that is not at least 1, or whose graph would not fit into memory."""
    import psutil

    if scale < 1:
        raise InputError(f"scale must be at least 1, got {scale}")
    room = psutil.virtual_memory().available
    if need(scale, kernel) > room:
        largest = 1
        while need(largest + 1, kernel) <= room:
            largest += 1
        raise InputError(
            f"scale {scale} needs about {need(scale, kernel) / 2**30:.1f} GiB, and "
            f"{room / 2**30:.1f} GiB are free; the largest that fits is {largest}"
        )
