"""Which kernel of ours each algorithm is, and how its output is compared and written. No heavy imports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

UNREACHED = 2**63 - 1
"""Depth of a vertex that a search does not reach."""

TOLERANCE = 1e-4
"""Relative difference that real values may have."""


@dataclass(frozen=True)
class Algorithm:
    """One of the benchmark's algorithms.

    Attributes
    ----------
    kernel, output
        Names of ours.
    rule
        How outputs are compared: value by value, by the sets of vertices of one value, or up to `TOLERANCE`.
    parameters
        The kernel's, each with the key that a .properties file has for it.
    weighted
        Whether edges need weights; others leave them alone.
    """

    kernel: str
    output: str
    rule: Literal["equal", "parts", "close"]
    parameters: Mapping[str, str] = field(default_factory=dict)
    weighted: bool = False


ALGORITHMS = {
    "bfs": Algorithm("bfs", "level", "equal", {"root": "source-vertex"}),
    "pr": Algorithm(
        "pagerank",
        "rank",
        "close",
        {"damping": "damping-factor", "iterations": "num-iterations"},
    ),
    "wcc": Algorithm("wcc", "component", "parts"),
    "cdlp": Algorithm("cdlp", "label", "equal", {"iterations": "max-iterations"}),
    "lcc": Algorithm("lcc", "coefficient", "close"),
    "sssp": Algorithm("sssp", "distance", "close", {"root": "source-vertex"}, weighted=True),
}
"""By the benchmark's names."""

SIZES = ("2XS", "XS", "S", "M", "L", "XL")
"""T-shirt sizes from scale 6.5 on, each half a unit wide; the last has no end."""


def size(vertices: int, edges: int) -> tuple[float, str]:
    """Scale of a graph, floor(10 log10(n + m)) / 10, and its T-shirt size; "-" below the smallest."""
    from math import floor, log10

    tenths = floor(10 * log10(vertices + edges))
    step = (tenths - 65) // 5
    return tenths / 10, "-" if step < 0 else SIZES[min(step, len(SIZES) - 1)]
