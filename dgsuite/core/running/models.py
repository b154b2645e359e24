"""Which model of distributed computing a kernel obeys: CONGEST or LOCAL, as measured on two graphs; and from
how far away nodes have heard, their radius in LOCAL."""

from __future__ import annotations

from collections.abc import Iterator
from math import isqrt, log2
from typing import Any, NamedTuple

from dgsuite.base.errors import RunError
from dgsuite.core.running.runner import run
from dgsuite.genval import graph as generate
from dgsuite.kernels import KERNELS
from dgsuite.kernels.bsp import Kernel

SIZES = 32, 256
"""Nodes of the graphs."""

KINDS = {"complete": "cplt", "ring": "ring", "tree": "tree"}
"""Graphs for kernels with needs, by need; random ones for all others."""

GROWTH = 1.25
"""By how much bits per log2 n may grow from the smaller graph to the larger in CONGEST. Degrees grow by
three, and n by eight."""

GIVEN: dict[str, dict[str, Any]] = {
    "katz": {"alpha": 0.001, "weighted": False},
    "neighbourhood": {"sources": [0], "hops": 2},
    "sample": {"sources": [0], "fanouts": [2, 2]},
}
"""Parameters that have no defaults, or whose defaults do not fit these graphs."""


class Model(NamedTuple):
    """What edges carry in the runs of a kernel."""

    kernel: str
    model: str
    """"CONGEST", "LOCAL", or "" where its messages go along no edges."""
    bits: tuple[float, ...] = ()
    """By graph, ascending: most bits along an edge in a phase, in units of log2 n."""
    why: str = ""
    radius: tuple[int, ...] = ()
    """By graph: how many hops information has travelled at most, other than by votes."""


def models() -> Iterator[Model]:
    """The model of each kernel, by name.

    A kernel obeys CONGEST if no edge carries more than a constant times log2 n bits in a phase (Peleg 2000,
    section 2.3), as seen on random graphs of 32 and 256 nodes with mean degrees of 5 and 16, or on rings,
    trees or complete graphs for kernels that need these.
    """
    for name, kernel in sorted(KERNELS.items()):
        yield _model(name, kernel)


def _model(name: str, kernel: type[Kernel]) -> Model:
    if kernel.ships:
        return Model(name, "", why="clusters send to clusters")
    found, radius = [], []
    for n in SIZES:
        kind = next((KINDS[need] for need in kernel.needs if need in KINDS), "spmax")
        more: dict[str, Any] = {"m": isqrt(n) * n // 2} if kind == "spmax" else {}
        graph = generate(kind, n, weights=n, directed=name == "topological", **more)
        try:
            ds = run(name, graph, style="serial", congest=float("inf"), **GIVEN.get(name, {}))
        except RunError as error:
            if "along no edge" not in str(error):
                raise
            return Model(name, "", why="nodes announce to all nodes")
        found.append(float(ds.edge_bits.max()) / log2(n))
        radius.append(int(ds.attrs["radius"]))
    grown = found[-1] > GROWTH * found[0]
    return Model(name, "LOCAL" if grown else "CONGEST", tuple(found), radius=tuple(radius))
