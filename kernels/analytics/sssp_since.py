"""Shortest paths of a graph that has grown: on from the ends of new edges, as far as nodes come nearer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.sssp_block import BlockPaths, State


@dataclass(frozen=True)
class PathsSince(BlockPaths):
    """Shortest paths, from those of the graph before it grew; see `ShortestPaths` for the outputs.

    Edges may be new, or shorter than before. A node that comes no nearer keeps its path; `parent` may be
    another than that of a run from the start where there are several shortest paths.

    Parameters
    ----------
    root
        Node that the earlier run started from.

    Notes
    -----
    Rounds: two more than the times that a change crosses the border, and a few more where a cluster first
    takes a longer way for the shortest.

    Messages: at most ``rounds * arcs``; none from a node that comes no nearer, but along its new edges.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 0], [1, 2, 2], weights=[1, 1, 5])
    >>> before = dgsuite.run("sssp", graph)
    >>> ds = dgsuite.run("sssp", graph.with_edges([0], [2], weights=[1]), since=before)
    >>> ds.distance.values, ds.parent.values
    (array([0., 1., 1.]), array([0, 0, 0], dtype=int32))
    """

    broadcasts = False
    same = ("root",)

    def spoils(self, before: NDArray, after: NDArray) -> NDArray[np.bool_]:
        """Paths over edges that weigh more are longer."""
        return after > before

    def wake(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> tuple[bsp.Unicast, bsp.Vote]:
        assert c.earlier is not None
        reached = s.distance[c.earlier.rows] < float("inf")
        rows, ends = c.earlier.rows[reached], c.earlier.ends[reached]
        length = 1 if c.weights is None else c.weights[c.entries(rows, ends)]
        told = s.distance[rows] + length
        # of equally long ways an earlier one stays, since it has no hops
        return bsp.unicast(ends, rows, distance=told, hops=s.hop[rows] + 1), bsp.vote(
            any=len(ends) > 0
        )
