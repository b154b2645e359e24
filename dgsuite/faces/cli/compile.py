"""``dgsuite compile``: run kernels on small graphs in the way of large ones. Heavy imports come late."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dgsuite.faces.cli import console, options

if TYPE_CHECKING:
    from dgsuite.partition.graph.graph import Graph

COMMON = ("bfs", "cdlp", "core_number", "lcc", "leiden", "pagerank", "sssp", "wcc")
"""Kernels whose loops are compiled."""

NODES, EDGES = 1 << 11, 1 << 14


@click.command("compile", epilog="Examples: dgsuite compile; dgsuite compile bc similarity")
@click.argument("kernels", nargs=-1)
@options.general
def compile_ahead(kernels: tuple[str, ...]) -> None:
    """Compile the loops of common kernels, or of those given, for this machine, so that no run has to.

    They are kept for this user, version and processor; prints where.
    """
    from dgsuite.base.aliases import kernel_of
    from dgsuite.base.compiling import cache_folder, notice
    from dgsuite.kernels import KERNELS

    notice.told = True
    names = [kernel_of(name, KERNELS) for name in kernels or COMMON]
    for name in console.tracked(names, "compiling"):
        compile_loops(name)
    print(cache_folder())


def compile_loops(name: str) -> None:
    """Compile what a run of a kernel needs, with reading a table, with weights of two types and without.

    Parameters
    ----------
    name
        Of a kernel that runs without parameters.
    """
    from dgsuite.base import thresholds
    from dgsuite.core.running.runner import run
    from dgsuite.kernels import KERNELS

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
    import numpy as np
    import pandas as pd

    from dgsuite.partition.graph.graph import Graph

    ends = (np.random.default_rng(0).random((2, EDGES)) ** 2 * NODES).astype(np.int64)
    weights = {"whole": ends[0] % 100, "real": ends[0] / NODES}
    table = pd.DataFrame({"source": ends[0], "target": ends[1], **weights})
    how: dict[str, Any] = {"duplicates": "min", "directed": True, "client": None}
    return [
        Graph.from_dataframe(table, "source", "target", weight, **how)
        for weight in (None, *weights)
    ]
