"""Bits that edges carry: what a run with ``congest=`` counts besides totals.

In the CONGEST model (Peleg 2000, section 2.3) a node sends at most c * ceil(log2 n) bits along an edge in a
round. Every exchange, which ends a phase, is a round of this model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dgsuite.kernels.bsp.widths import bits_of

if TYPE_CHECKING:
    from dgsuite.kernels.bsp import Kernel

CARRIED = np.dtype([("bits", "i8"), ("edges", "i8")])
"""How many edges carry so many bits in a direction, in one phase."""


class EdgeBits:
    """How many edges carry how many bits, in one phase."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: dict[int, int] = {}

    def add(self, bits: ArrayLike, edges: ArrayLike = 1) -> None:
        """Count edges.

        Parameters
        ----------
        bits
            By item: the bits that each of its edges carries in a direction.
        edges
            How many edges each item stands for.
        """
        each, of = np.unique(bits, return_inverse=True)
        counts = np.zeros(len(each), np.int64)
        np.add.at(counts, of, edges)
        for size, count in zip(each.tolist(), counts.tolist(), strict=True):
            if count:
                self._found[size] = self._found.get(size, 0) + count

    def merge(self, other: EdgeBits) -> None:
        """Add what another site counted."""
        for size, count in other._found.items():
            self._found[size] = self._found.get(size, 0) + count

    def table(self) -> NDArray[Any]:
        """A row of `CARRIED` for each number of bits, ascending."""
        return np.array(sorted(self._found.items()), CARRIED)


class Widths:
    """Bits of a kernel's messages on a graph of n nodes, and how many an edge may carry.

    Parameters
    ----------
    congest
        How many times ceil(log2 n) bits an edge may carry in a phase.
    """

    def __init__(self, kernel: Kernel, n: int, congest: float) -> None:
        self.bits = bits_of(kernel, n)
        self.congest = congest
        self.most = congest * max(n - 1, 1).bit_length()

    def of(self, fields: Iterable[str]) -> int:
        """Bits of a message, or of an item of a list; what has no fields is one bit."""
        return max(sum(self.bits[name] for name in fields), 1)

    def widest(self, fields: Mapping[str, Any]) -> str:
        """The field of a message that takes most bits, described."""
        if not fields:
            return "without fields"
        name = max(fields, key=self.bits.__getitem__)
        return f"of which {self.bits[name]} bits each are field {name!r}"
