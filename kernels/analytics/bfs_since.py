"""Breadth-first search of a graph that has grown: on from the ends of new edges, as far as levels fall."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.bfs_block import BlockSearch, State


@dataclass(frozen=True)
class SearchSince(BlockSearch):
    """Breadth-first search, from that of the graph before it grew; see `BreadthFirst` for the outputs.

    With more edges no level rises, and a parent's level falls no further than its children's do. So a node
    whose level stays keeps its parent, unless it gets a smaller neighbour on the level before.

    Parameters
    ----------
    root
        Node that the earlier run started from.

    Notes
    -----
    Rounds: two more than the times that a change crosses the border, and a few more where a cluster first
    takes a longer way for the shortest.

    Messages: at most ``rounds * arcs``; none from a node whose level stays, but along its new edges.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> before = dgsuite.run("bfs", graph)
    >>> ds = dgsuite.run("bfs", graph.with_edges([0], [3]), since=before)
    >>> ds.level.values, ds.parent.values
    (array([0, 1, 2, 1], dtype=int32), array([0, 0, 1, 0], dtype=int32))
    """

    broadcasts = False
    same = ("root", "cutoff")

    def wake(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> tuple[bsp.Unicast, bsp.Vote]:
        assert c.earlier is not None
        reached = s.level[c.earlier.rows] >= 0
        rows, ends = c.earlier.rows[reached], c.earlier.ends[reached]
        offer = (s.level[rows] + 1) * np.int64(c.n) + c.ids[rows]
        return bsp.unicast(ends, rows, combine="min", offer=offer), bsp.vote(any=len(ends) > 0)
