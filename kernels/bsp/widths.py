"""Bits of message fields: by how many values a field can have, and not by its dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dgsuite.kernels.bsp.state import dtype_of

if TYPE_CHECKING:
    from dgsuite.kernels.bsp.kernel import Kernel

Range = Callable[[int], int]
"""How many values a field can have, from the number of nodes."""


Bounds = Callable[[int], tuple[int, int]]
"""Least and greatest value of a field, from the number of nodes."""


def nodes(n: int) -> int:
    """Values of a field that names a node, or counts nodes or hops.

    Parameters
    ----------
    n
        Number of nodes of the graph.

    Examples
    --------
    >>> from dgsuite.kernels import bsp
    >>> bsp.nodes(1000)
    1000
    """
    return n


def values(count: int) -> Range:
    """Values of a field that has so many, whatever the graph.

    Parameters
    ----------
    count
        How many.

    Examples
    --------
    >>> from dgsuite.kernels import bsp
    >>> bsp.values(3)(1000)
    3
    """
    return lambda n: count


def between(least: int, most: int | Range) -> Bounds:
    """Least and greatest value of a field.

    Parameters
    ----------
    least, most
        Both included; `most` may be a function of the number of nodes.

    Examples
    --------
    >>> from dgsuite.kernels import bsp
    >>> bsp.between(-1, 1)(1000), bsp.between(-1, bsp.nodes)(1000)
    ((-1, 1), (-1, 1000))
    """
    return lambda n: (least, most if isinstance(most, int) else most(n))


def bounds_of(kernel: Kernel, name: str, n: int) -> tuple[int, int] | None:
    """Least and greatest value of a field of a kernel on a graph of n nodes; None for all of its dtype."""
    if name in kernel.bounds:
        bounds = kernel.bounds[name]
        return None if bounds is None else bounds(n)
    return (0, kernel.ranges[name](n) - 1) if name in kernel.ranges else None


def bits_of(kernel: Kernel, n: int) -> dict[str, int]:
    """Bits of each field of a message of a kernel on a graph of n nodes.

    A field without a declared range (`Kernel.ranges`) has the bits of its dtype, for each item of a vector.
    """
    found, widths = {}, kernel.widths(n)
    for name, kind in kernel.fields.items():
        if name in kernel.ranges:
            found[name] = (kernel.ranges[name](n) - 1).bit_length()
        else:
            dtype = dtype_of(kind, n)
            each = 1 if dtype.kind == "b" else 8 * dtype.itemsize
            found[name] = each * widths.get(name, 1)
    return found
