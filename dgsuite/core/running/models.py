"""The model of distributed computing that each kernel declares."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from dgsuite.kernels import KERNELS

SIZES = 1 << 10, 1 << 20
"""Nodes of the graphs for which bits of messages are given."""

GIVEN: dict[str, dict[str, Any]] = {
    "neighbourhood": {"sources": [0]},
    "sample": {"sources": [0], "fanouts": [2]},
}
"""Parameters that have no defaults."""


class Declared(NamedTuple):
    """What a kernel declares that its phases do: see `dgsuite.kernels.bsp.Model`."""

    kernel: str
    model: str
    """"CONGEST", "LOCAL", or "" where the field has no name for it."""
    sends: str
    """Where messages go: along "edges", to any "nodes", or between "clusters"."""
    messages: int | None
    """Messages along an edge in a direction in a phase, at most; None for any number."""
    reduces: str
    """What global reductions are for: "nothing", "control" or "data"."""
    bits: tuple[int, ...]
    """Of a message with all fields, on graphs of `SIZES` nodes."""


def models() -> Iterator[Declared]:
    """The model of each kernel, by name."""
    for name, cls in sorted(KERNELS.items()):
        kernel = cls(**GIVEN.get(name, {}))
        bits = tuple(max(sum(kernel.bits(n).values()), 1) for n in SIZES)
        yield Declared(name, kernel.field_model, *kernel.obeys, bits)
