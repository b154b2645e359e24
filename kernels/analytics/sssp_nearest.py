"""Shortest paths from the nearest of several sources, and which one that is (Erwig 2000, "The graph Voronoi
diagram with applications").

All sources begin at distance 0, and the nearest one is the root of the tree that a node is in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.bellman_ford import Climbing
from dgsuite.kernels.analytics.searches_block import BlockPaths
from dgsuite.kernels.analytics.searches_block import PathsState as BlockSearched
from dgsuite.kernels.analytics.sssp import ShortestPaths
from dgsuite.kernels.analytics.sssp import State as Searched

if TYPE_CHECKING:
    from dgsuite.partition.graph.graph import Graph

OUTPUTS = {
    **ShortestPaths.outputs,
    "source": bsp.Output("nearest of the sources, {none} where unreached", nodes=True),
}


@dataclass(frozen=True)
class Nearest(Climbing):
    """Looks for the sources, after paths have been found."""

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from super().program(net)
        yield from self.climb(net.n)
        yield bsp.Round(self.name_source, closing=True)

    def name_source(self, c: bsp.Cluster, s: Searched | BlockSearched, inbox: bsp.Inbox) -> None:
        s.source = np.where(s.parent < 0, -1, -1 - s.top).astype(s.parent.dtype)


@dataclass(frozen=True)
class NearestSource(Nearest, ShortestPaths):
    """Shortest paths from several sources; see `ShortestPaths`."""

    obeys = bsp.Model("nodes", reduces="data")
    outputs = OUTPUTS
    fields = {**ShortestPaths.fields, "top": np.int64}

    def suited(self, graph: Graph) -> Self:
        return self.with_delta(graph)


@dataclass(frozen=True)
class BlockNearest(Nearest, BlockPaths):
    """The same by blocks; see `BlockPaths`."""

    obeys = bsp.Model("nodes", reduces="control")
    outputs = OUTPUTS
    fields = {**BlockPaths.fields, "top": np.int64}

    def suited(self, graph: Graph) -> Self:
        return self
