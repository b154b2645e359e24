"""Kernel 1: a Kronecker graph on the workers, and roots to search it from."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed import Client
from numpy.typing import NDArray

from dgsuite import genval
from dgsuite.genval.families import plan
from dgsuite.genval.plan import Plan
from dgsuite.partition.client.tasks import pinned, submitted
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.client.workers import worker_addresses
from dgsuite.partition.clusters.grid import arrange
from dgsuite.partition.construction.build import id_dtype
from dgsuite.partition.graph.graph import Graph
from dgsuite.suites import sources
from dgsuite.suites.options import EDGE_FACTOR, check_scale

WEIGHTS = 2**24
"""Largest weight: kernel 3's uniform numbers from 0 to 1, in steps of one over this."""


@dataclass
class Problem:
    """A Graph500 problem: the graph, and how many tuples leave each node.

    Attributes
    ----------
    graph
        The graph, on the workers.
    tuples
        Integers, shape (n,): edge tuples that begin at each node.
    able
        Whether each node has a neighbour.
    generation, construction
        Seconds: of the tuples alone, and of all of kernel 1 (which makes them once more).
    grid
        Rows and columns of a two-dimensional partition.
    """

    scale: int
    graph: Graph
    tuples: NDArray
    able: NDArray[np.bool_]
    generation: float
    construction: float
    grid: tuple[int, int] | None = None


def build(
    scale: int,
    client: Client,
    seed: int = 101,
    grid: tuple[int, int] | None = None,
    weighted: bool = False,
) -> Problem:
    """Kernel 1: generate the tuples and build the graph on the workers, in a grid if one is given.

    Raises
    ------
    InputError
        The scale is not at least 1, or the graph would not fit into memory.
    """
    check_scale(scale, weighted=weighted, grid=grid is not None)
    n, m = 2**scale, EDGE_FACTOR * 2**scale
    weights = WEIGHTS if weighted else False
    blocks = None if grid is None else grid[0] * grid[1]
    drawn: dict[str, Any] = {"m": m, "seed": seed}
    begin = time.perf_counter()
    tuples = plan("rmat", n, **drawn)
    bounds = tuples.bounds()
    places = worker_addresses(client)
    shares = [
        pinned(client, place, _count, tuples, bounds, w, len(places))
        for w, place in enumerate(places)
    ]
    (counts,) = Watch(client, "counting edges", places).gather([submitted(client, sum, shares)])
    del shares  # what workers counted would stay there while they build
    generation = time.perf_counter() - begin
    begin = time.perf_counter()
    graph = genval.graph("rmat", n, **drawn, client=client, weights=weights, clusters=blocks)
    if grid is not None:
        graph = arrange(graph, *grid)
        if not graph.local:
            Watch(client, "arranging the grid", places).wait(graph.parts)
    construction = time.perf_counter() - begin
    return Problem(scale, graph, counts, sources.able(graph), generation, construction, grid)


def _count(tuples: Plan, bounds: Sequence[int], mine: int, workers: int) -> NDArray:
    """Tuples that begin at each node, of a worker's share."""
    total: NDArray = np.zeros(tuples.n, id_dtype(EDGE_FACTOR * tuples.n))
    for k in range(mine, len(bounds) - 1, workers):
        np.add.at(total, tuples.edges(bounds[k], bounds[k + 1])[0], 1)
    return total
