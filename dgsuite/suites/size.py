"""How large a generated graph is, and whether there is room for it."""

from __future__ import annotations

from functools import partial

from dgsuite.base.errors import InputError

EDGE_FACTOR = 16
"""Edge tuples a node, by default."""

LARGEST = 31
"""Scale of the largest graph that there can be; beyond, each scale takes twice as much."""


def need(
    scale: int,
    weighted: bool = False,
    degree: int = EDGE_FACTOR,
    disk: bool = False,
    grid: bool = False,
) -> int:
    """Bytes that building a graph takes in memory, about; arranging it in a grid makes a second one."""
    import numpy as np

    from dgsuite.partition.graph.data import adjacency

    known = min(scale, LARGEST)
    n, ends = 2**known, 2 * degree * 2**known
    rows = adjacency(n, np.array([n]), np.array([ends * (not disk)]), 8 * weighted)
    sorting = ends // 2  # a block of edge ends at a time
    return int(rows.sum() * (1 + grid) + sorting) << (scale - known)


def check_scale(
    scale: int,
    weighted: bool = False,
    degree: int = EDGE_FACTOR,
    disk: bool = False,
    grid: bool = False,
) -> None:
    """Refuse a scale that is not at least 1, or whose graph could not be built in memory.

    Parameters
    ----------
    scale
        The graph has ``2**scale`` nodes.
    weighted
        Whether its edges have weights.
    degree
        Edge tuples a node.
    disk
        Whether its edges are to be on disk.
    grid
        Whether it is to be arranged in a grid.

    Raises
    ------
    InputError
        The message says what would fit.
    """
    import psutil

    if scale < 1:
        raise InputError(f"scale must be at least 1, got {scale}")
    room = psutil.virtual_memory().available
    needed = partial(need, weighted=weighted, degree=degree, disk=disk, grid=grid)
    wanted = needed(scale)
    if wanted > room:
        largest = scale - 1
        while largest > 1 and needed(largest) > room:
            largest -= 1
        raise InputError(
            f"scale {scale} needs about {wanted / 2**30:.1f} GiB, and "
            f"{room / 2**30:.1f} GiB are free; the largest that fits is {largest}"
        )
