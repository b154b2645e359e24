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
from dgsuite.partition.graph.measures import Look, look, together

EITHER = ("all_pairs", "bfs", "bfs_many", "closeness", "harmonic", "topological", "wcc")
"""Kernels whose outputs are the same bits in iterative and in block form, and that nobody runs for their
rounds alone. The choice depends on the cut, and outputs must not."""

FEW, LARGE = 1 << 10, 1 << 16
"""Nodes from which a choice pays off: where it takes no look at the graph, and where it does."""

LIGHT, MOST = 1 << 20, 1 << 26
"""Edge ends that one worker gathers of any graph, since searches of it are over sooner than rounds; and of
deep ones: `eccentricity` takes some 20 bytes for each."""


def gathers(graph: Graph) -> Look:
    """Whether one worker searches a graph sooner than all do by rounds, and can hold it."""
    ends = sum(graph.entries)
    if LIGHT < ends <= MOST:
        return look(graph)
    return Look(ends <= LIGHT, f"the graph has {ends} edge ends")


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
        or graph.n < (LARGE if name in EITHER else FEW)
        or any(own.keys() - {f.name for f in fields(BLOCK[name])} for own in each)
    ):
        return options.form, None
    for see in LOOKS[name]:
        found = once(graph, f"{see.__name__} at {graph.name}", see)  # within its clusters
        if found.yes:
            break
    return "block" if found.yes else "iterative", found.reason
