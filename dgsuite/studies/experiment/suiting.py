"""Whether kernels take the graphs of an experiment, before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from dgsuite.base.errors import InputError
from dgsuite.core.parameters import make_kernel
from dgsuite.core.running.attempt import as_seen
from dgsuite.studies.experiment.model import Point
from dgsuite.studies.experiment.sweep import make_graph

MAX_NODES = 1 << 14
"""Nodes of a graph that is made for it; larger ones take too long."""

DECIDING = {"kernel", "form", "n", "kind", "clusters", "seed", "graph", "params"}
"""What of a point decides it."""


def unsuited(points: Sequence[Point], folder: Path) -> Iterator[str]:
    """Points whose kernels do not take their graphs, and why."""
    looked = {p.model_dump_json(include=DECIDING): p for p in points if (p.n or 0) <= MAX_NODES}
    for point in looked.values():
        try:
            graph = make_graph(point, folder, None)
            as_seen(graph, make_kernel(point.kernel, graph, point.seed, point.params, point.form))
        except InputError as error:
            yield f"{point.describe()}: {error}"
