"""Sizes from which work is done in the way that costs more to begin with.

Every module asks here, so that a test can have small graphs take the way of large ones:
``thresholds.compile_from = -1``, in each process. Both ways give the same bits.

A process begins with NumPy. When NumPy has taken as long as it takes to load compiled loops, it loads them.
Where none are kept, it compiles them when NumPy has taken as long as that takes. So a process takes at most
twice as long as in the better way.
"""

from __future__ import annotations

from dgsuite.base.kept_loops import are_kept

compile_from = 1 << 15
"""Elements above which loops may be compiled. Below, NumPy saves the half second of importing Numba."""

compile_at_once = 1 << 22
"""Elements above which loops are compiled at once."""

LOAD_AFTER, COMPILE_AFTER = 1 << 26, 1 << 29
"""Elements that a process leaves to NumPy before it loads loops: half a second, at some 8 ns for each; and
before it compiles them, where none are kept: 4 s."""

left_to_numpy: int | None = None
"""How many elements NumPy may still take; None before the first."""


def compiles(elements: int) -> bool:
    """Whether loops over so many elements are compiled, now."""
    global left_to_numpy
    if compile_from < 0:
        return True
    if elements <= compile_from:
        return False
    if elements > compile_at_once:
        left_to_numpy = 0
    elif left_to_numpy is None:
        left_to_numpy = LOAD_AFTER if are_kept() else COMPILE_AFTER
    left_to_numpy = max(left_to_numpy - elements, 0)
    return not left_to_numpy


def compile_without_delay() -> None:
    """Compile loops from now on, in a process that measures, which is to measure the same each time."""
    global left_to_numpy
    left_to_numpy = 0
