"""What IMSuite's dijkstraRouting does otherwise: it settles the entry found last of several equal ones.

The recursive form also starts a task at each neighbour, and tells each child of the tree separately.
"""

from __future__ import annotations

import numpy as np

from dgsuite.kernels import bsp
from dgsuite.kernels.imsuite.dijkstra_routing.recursive import RecursiveDijkstraRouting, State
from dgsuite.kernels.imsuite.dijkstra_routing.textbook import DijkstraRouting


class FaithfulDijkstraRouting(DijkstraRouting, faithful_to=DijkstraRouting):
    """Routing tables of all nodes; see `DijkstraRouting`."""

    last_first = True


class FaithfulRecursiveDijkstraRouting(
    RecursiveDijkstraRouting, FaithfulDijkstraRouting, faithful_to=RecursiveDijkstraRouting
):
    """Routing tables of all nodes; see `RecursiveDijkstraRouting`."""

    def branch(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> tuple[bsp.Spawn, bsp.Extra]:
        return super().branch(c, s, inbox), bsp.extra(asyncs=len(c.indices))

    def settle(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> tuple[bsp.Spawn, bsp.Extra]:
        told = np.count_nonzero(self.children(s, inbox))
        return super().settle(c, s, inbox), bsp.extra(comm=told)
