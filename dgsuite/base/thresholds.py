"""Sizes from which work is done in the way that costs more to begin with.

Every module asks here, so that a test can have small graphs take the way of large ones:
``thresholds.compile_from = -1``, in each process.
"""

compile_from = 1 << 15
"""Elements above which loops are compiled. Below, NumPy saves the half second of importing Numba."""

pool_from = 1 << 15
"""Nodes of a site above which its clusters share the worker's threads: handing over costs 0.1 ms."""

pool_seconds_from = 3e-3
"""Seconds of processor time from which the clusters of a phase run side by side, as it took when it last ran.
Threads of shorter phases lose more time to Python's lock than they gain."""


def compiles(elements: int) -> bool:
    """Whether loops over so many elements are compiled."""
    return elements > compile_from


def pools(nodes: int) -> bool:
    """Whether the clusters of a site with so many nodes may run side by side."""
    return nodes > pool_from


def pools_phase(seconds: float) -> bool:
    """Whether clusters run side by side in a phase that took so long when it last ran."""
    return seconds >= pool_seconds_from
