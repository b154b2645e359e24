"""Which form of a kernel runs where nobody says: the one that suits the graph's depth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from dgsuite.core.running.options import RunOptions
from dgsuite.kernels import BLOCK
from dgsuite.kernels.bsp import Kernel
from dgsuite.partition.graph.checks import once
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.graph.measures import look, together

EITHER = ("all_pairs", "bfs", "bfs_many", "closeness", "harmonic", "topological", "wcc")
"""Kernels whose outputs are the same bits in iterative and in block form, and that nobody runs for their
rounds alone. The choice depends on the cut, and outputs must not."""

SPANNED = ("wcc",)
"""Kernels whose block form is faster on every graph whose clusters hold together."""

LARGE = 1 << 16
"""Nodes from which a choice is worth a look at the graph."""


def chosen(
    kernel: str | type[Kernel] | Kernel,
    graph: Graph,
    each: Sequence[Mapping[str, Any]],
    options: RunOptions,
) -> tuple[str | None, str | None]:
    """The form of a run, and the reason if it was chosen here.

    It is chosen for kernels of `EITHER` on graphs of `LARGE` nodes or more, if nothing is asked for that goes
    by rounds or by other clusters: a trace, bits of edges, a folder of checkpoints, a number of clusters, a
    parameter that the iterative form alone has.

    Parameters
    ----------
    each
        Parameters of each run.
    """
    asked = "form", "clusters", "congest", "network", "checkpoint", "workload"
    if (
        any(getattr(options, name) is not None for name in asked)
        or options.trace is not False
        or graph.n < LARGE
        or not isinstance(kernel, str)
        or kernel.lower() not in EITHER
    ):
        return options.form, None
    known = {f.name for f in fields(BLOCK[kernel.lower()])}
    if any(own.keys() - known for own in each):
        return None, None
    found = once(graph, f"depth of {graph.name}", look)  # within its clusters
    if not found.yes and kernel.lower() in SPANNED:
        found = once(graph, f"clusters of {graph.name}", together)
    return "block" if found.yes else "iterative", found.reason
