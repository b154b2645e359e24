"""Which form of a kernel runs where nobody says: the one that suits the graph's depth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from dgsuite.core.running.options import RunOptions
from dgsuite.kernels import BLOCK
from dgsuite.kernels.bsp import Kernel
from dgsuite.partition.graph.checks import once
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.graph.measures import Look, look, together

EITHER = (
    "all_pairs",
    "bfs",
    "bfs_many",
    "closeness",
    "harmonic",
    "topological",
    "triangles",
    "wcc",
)
"""Kernels whose outputs are the same bits in iterative and in block form, and that nobody runs for their
rounds alone. The choice depends on the cut, and outputs must not."""

LARGE = 1 << 16
"""Nodes from which a choice is worth a look at the graph."""

GATHERED_FROM = 1 << 10
"""Nodes from which one worker gathers a graph."""

GATHERED, GATHERED_DEEP = 1 << 20, 1 << 26
"""Edge ends up to which one worker gathers any graph, and a deep one. On larger shallow graphs rounds are
faster; a deep one takes memory, for `eccentricity` some 20 bytes for each edge end."""


def gathers(graph: Graph) -> Look:
    """Whether one worker that gathers a graph is faster than rounds, and has the memory."""
    ends = sum(graph.entries)
    if GATHERED < ends <= GATHERED_DEEP:
        return _seen(graph, look)
    return Look(ends <= GATHERED, f"the graph has {ends} edge ends")


def _seen(graph: Graph, see: Callable[[Graph], Look]) -> Look:
    """What a look at a graph found; it is made once for each way in which the graph is cut."""
    return once(graph, f"{see.__name__} at {graph.name}", see)


LOOKS = dict.fromkeys(EITHER, (look,)) | {"eccentricity": (gathers,), "wcc": (look, together)}
"""Of each kernel that has a choice, when its block form is the faster one: if one of these is so."""


def chosen(
    kernel: str | type[Kernel] | Kernel,
    graph: Graph,
    each: Sequence[Mapping[str, Any]],
    options: RunOptions,
) -> tuple[str | None, str | None]:
    """The form of a run, and the reason if it was chosen here.

    It is chosen for kernels of `LOOKS` on large graphs, if nothing is asked for that goes by rounds or by
    other clusters: a trace, bits of edges, a folder of checkpoints, a number of clusters, a parameter that
    the iterative form alone has.

    Parameters
    ----------
    each
        Parameters of each run.
    """
    name = kernel.lower() if isinstance(kernel, str) else ""
    asked = "form", "clusters", "congest", "network", "checkpoint", "workload"
    if (
        any(getattr(options, one) is not None for one in asked)
        or options.trace is not False
        or name not in LOOKS
        or graph.n < (LARGE if name in EITHER else GATHERED_FROM)
        or any(own.keys() - {f.name for f in fields(BLOCK[name])} for own in each)
    ):
        return options.form, None
    for see in LOOKS[name]:
        found = _seen(graph, see)
        if found.yes:
            break
    return "block" if found.yes else "iterative", found.reason
