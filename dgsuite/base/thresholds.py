"""Sizes from which work is done in the way that costs more to begin with.

Every module asks here, so that a test can have small graphs take the way of large ones:
``thresholds.compile_from = -1``, in each process. Both ways give the same bits.

A process loads compiled loops once NumPy has taken as long in their place, and compiles them, where none are
kept, once it has taken as long as that. So a process takes at most twice as long as in the better way.
"""

from __future__ import annotations

from dgsuite.base.kept_loops import are_kept

compile_from = 1 << 15
"""Elements above which loops may be compiled. Below, NumPy saves the half second of importing Numba."""

compile_at_once = 1 << 22
"""Elements above which loops are compiled at once."""

ROOM, MORE_ROOM = 1 << 26, 1 << 29
"""Elements that NumPy takes in a process before loops are loaded: half a second, at some 8 ns for each; and
where they must be compiled first, 4 s."""

room: int | None = None
"""What is left of these; None before the first."""

pool_from = 1 << 15
"""Nodes of a site above which its clusters share the worker's threads: handing over costs 0.1 ms."""

pool_seconds_from = 3e-3
"""Seconds of processor time from which the clusters of a phase run side by side, as it took when it last ran.
Threads of shorter phases lose more time to Python's lock than they gain."""


def is_large(elements: int) -> bool:
    """Whether loops over so many elements may be compiled."""
    return elements > compile_from


def compiles(elements: int) -> bool:
    """Whether loops over so many elements are compiled, now."""
    global room
    if not is_large(elements) or compile_from < 0:
        return is_large(elements)
    if elements > compile_at_once:
        room = 0
    elif room is None:
        room = ROOM if are_kept() else MORE_ROOM
    room = max(room - elements, 0)
    return not room


def compile_without_delay() -> None:
    """Compile loops from now on, in a process that measures, which is to measure the same each time."""
    global room
    room = 0


def pools(nodes: int) -> bool:
    """Whether the clusters of a site with so many nodes may run side by side."""
    return nodes > pool_from


def pools_phase(seconds: float) -> bool:
    """Whether clusters run side by side in a phase that took so long when it last ran."""
    return seconds >= pool_seconds_from
