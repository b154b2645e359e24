"""Compile the loops of common kernels, by running these on small graphs in the way of large ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dgsuite.base import thresholds
from dgsuite.core.running.runner import run
from dgsuite.kernels import KERNELS
from dgsuite.partition.graph.graph import Graph

COMMON = ("bfs", "cdlp", "core_number", "lcc", "leiden", "pagerank", "sssp", "wcc")
"""Kernels whose loops are compiled."""

NODES, EDGES = 1 << 11, 1 << 14


def compile_loops(name: str) -> None:
    """Compile what a run of a kernel needs, with reading a table, with weights of two types and without.

    Parameters
    ----------
    name
        Of a kernel that runs without parameters.
    """
    before, thresholds.compile_from = thresholds.compile_from, -1
    try:
        for graph in _graphs():
            run(name, graph.to_undirected(), style="serial")
            if not KERNELS[name].undirected or KERNELS[name].both_ways:
                run(name, graph, style="serial")
    finally:
        thresholds.compile_from = before


def _graphs() -> list[Graph]:
    """Directed graphs, of tables of edges; some nodes have many."""
    ends = (np.random.default_rng(0).random((2, EDGES)) ** 2 * NODES).astype(np.int64)
    weights = {"whole": ends[0] % 100, "real": ends[0] / NODES}
    table = pd.DataFrame({"source": ends[0], "target": ends[1], **weights})
    how: dict[str, Any] = {"duplicates": "min", "directed": True, "client": None}
    return [
        Graph.from_dataframe(table, "source", "target", weight, **how)
        for weight in (None, *weights)
    ]
